// Projections, rows with outcomes, and the SDP of one set per row.
#include "bindings.hpp"
#include "parallel.hpp"
#include "row_view.hpp"

namespace suffice {
namespace {

nb::ndarray<nb::numpy, double> sdp(const PyProjection& projection, const PyRows& rows,
                                   const Vector<std::uint64_t>& sets, std::size_t min_node_size, std::size_t n_threads,
                                   const nb::object& progress) {
    const Projection& p = projection.get();
    const Rows r = rows.get();
    check_columns(r.X, p.n_columns);
    check_sets(sets, r.size(), p.n_variables);
    std::vector<double> out(r.size());
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto make_worker = [&] {
            return [&, view = RowView<std::uint64_t>(p, min_node_size)](std::size_t i) mutable {
                view.set_row(r.row(i), r.outcome(i));
                out[i] = view.sdp(sets.data()[i]);
            };
        };
        for_each_row(r.size(), n_threads, stop, make_worker, watcher(&progress));
    }
    return to_numpy<double>(std::move(out), {r.size()});
}

// The sum of the squared weights of the training rows, for one set per row.
nb::ndarray<nb::numpy, double> squared_weights(const PyProjection& projection, const FloatMatrix& X,
                                               const Vector<std::uint64_t>& sets, std::size_t min_node_size,
                                               std::size_t n_threads) {
    const Projection& p = projection.get();
    const Matrix rows = matrix_of(X);
    check_columns(rows, p.n_columns);
    check_sets(sets, rows.n_rows, p.n_variables);
    std::vector<double> out(rows.n_rows);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto make_worker = [&] {
            return [&, view = RowView<std::uint64_t>(p, min_node_size)](std::size_t i) mutable {
                view.set_row(rows.row(i), {});
                out[i] = view.squared_weights(sets.data()[i]);
            };
        };
        for_each_row(rows.n_rows, n_threads, stop, make_worker, watcher());
    }
    return to_numpy<double>(std::move(out), {rows.n_rows});
}

}  // namespace

void bind_projection(nb::module_& m) {
    nb::class_<PyProjection>(m, "Projection")
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t, std::size_t>(), nb::kw_only(),
             "forest"_a, "variable_of"_a, "n_variables"_a, "few_rows"_a = kFewRows, nb::keep_alive<1, 2>())
        .def_prop_ro("n_bytes", [](const PyProjection& projection) { return projection.get().n_bytes(); });
    nb::class_<PyRows>(m, "Rows").def(nb::init<FloatMatrix, Vector<std::uint32_t>, Vector<std::uint32_t>>(),
                                      nb::kw_only(), "X"_a, "lo"_a, "hi"_a);
    m.def("squared_weights", &squared_weights, nb::kw_only(), "projection"_a, "X"_a, "sets"_a, "min_node_size"_a,
          "n_threads"_a);
    m.def("sdp", &sdp, nb::kw_only(), "projection"_a, "rows"_a, "sets"_a, "min_node_size"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
}

}  // namespace suffice
