// The compiled module: a table of contents.
#include "bindings.hpp"

NB_MODULE(_native, m) {
    using namespace suffice;
    m.doc() = "The compiled core of suffice: arrays in, arrays out.";

    bind_forest(m);         // Forest, OtherTableError, leaves
    bind_projection(m);     // Projection, Rows, sdp
    bind_distributions(m);  // mean, cumulative_shares, quantiles
    bind_search(m);         // SearchOptions, search
    bind_rules(m);          // SetCells, row_sdps, RuleOptions, find_rules
    bind_changes(m);        // ValueBoxes, ChangeOptions, find_changes
    bind_kernels(m);        // kernel_names, use_kernels

    // What is compiled in, for the list of components of a release (release/sbom.py).
    m.attr("nanobind_version") = nb::make_tuple(NB_VERSION_MAJOR, NB_VERSION_MINOR, NB_VERSION_PATCH);

    // Off by default. If another library keeps an exception alive, it also keeps all frames of the traceback and what
    // they refer to. nanobind would then report leaks at exit, and people would look for a fault in these bindings.
    // The tests switch the warnings on.
    nb::set_leak_warnings(false);
    m.def("set_leak_warnings", nb::set_leak_warnings, nb::kw_only(), "is_on"_a);
}
