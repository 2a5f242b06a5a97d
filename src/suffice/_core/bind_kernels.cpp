// The choice among the builds of the hot loops.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "kernels.hpp"

namespace suffice {

void bind_kernels(nb::module_& m) {
    m.def("kernel_names", &kernel_names);
    m.def("use_kernels", &use_kernels, nb::kw_only(), "name"_a);
}

}  // namespace suffice
