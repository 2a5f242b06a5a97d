// The compiled module: a table of contents.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "kernels.hpp"

NB_MODULE(_native, m) {
    using namespace suffice;
    m.doc() = "The compiled core of suffice: arrays in, arrays out.";

    bind_forest(m);  // Tree, Forest, OtherTableError, leaves, predict
    bind_projection(
        m);           // Projection, Rows, KnownRows; sdp, squared_weights, leaf_sdp, mean, cumulative_shares, quantiles
    bind_search(m);   // SearchOptions, SearchArrays, search
    bind_rules(m);    // SetCells, RuleOptions, RuleArrays, find_rules
    bind_changes(m);  // ValueBoxes, ChangeOptions, find_changes
    bind_prover(m);   // PieceTrees, ProofOptions, search_boxes, sum_leaves
    m.def("kernel_names", &kernel_names);  // the builds of the hot loops
    m.def("use_kernels", &use_kernels, nb::kw_only(), "name"_a);

    // What is compiled in, for the list of components of a release (release/sbom.py).
    m.attr("nanobind_version") = nb::make_tuple(NB_VERSION_MAJOR, NB_VERSION_MINOR, NB_VERSION_PATCH);

    // Off by default. If another library keeps an exception alive, it also keeps all frames of the traceback and what
    // they refer to. nanobind would then report leaks at exit, and people would look for a fault in these bindings.
    // The tests switch the warnings on.
    nb::set_leak_warnings(false);
    m.def("set_leak_warnings", nb::set_leak_warnings, nb::kw_only(), "is_on"_a);
}
