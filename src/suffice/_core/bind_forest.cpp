// The forest and the leaves of its trees.
#include "bindings.hpp"
#include "parallel.hpp"

namespace suffice {
namespace {

void add_tree(PyForest& forest, const Vector<std::int64_t>& left, const Vector<std::int64_t>& right,
              const Vector<std::int64_t>& column, const Vector<double>& threshold,
              const Vector<std::uint8_t>& missing_go_to_left, const Vector<double>& n_rows,
              const Vector<std::int32_t>& rows) {
    forest.add_tree({.left = span_of(left),
                     .right = span_of(right),
                     .column = span_of(column),
                     .threshold = span_of(threshold),
                     .missing_go_to_left = span_of(missing_go_to_left),
                     .n_rows = span_of(n_rows),
                     .rows = span_of(rows)});
}

// By row and tree: the number of the leaf in the arrays that the tree was built from.
nb::ndarray<nb::numpy, std::int32_t> leaves(const PyForest& forest, const FloatMatrix& X, std::size_t n_threads) {
    const std::vector<Tree>& trees = forest.get().trees;
    const Matrix rows = matrix_of(X);
    check_columns(rows, forest.get().X.n_columns);
    std::vector<std::int32_t> out(rows.n_rows * trees.size());
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto make_worker = [&] {
            return [&](std::size_t i) {
                for (std::size_t t = 0; t < trees.size(); ++t)
                    out[i * trees.size() + t] = trees[t].number[trees[t].leaf_at(rows.row(i))];
            };
        };
        for_each_row(rows.n_rows, n_threads, stop, make_worker, watcher());
    }
    return to_numpy<std::int32_t>(std::move(out), {rows.n_rows, trees.size()});
}

}  // namespace

void bind_forest(nb::module_& m) {
    nb::class_<PyForest>(m, "Forest")
        .def(nb::init<FloatMatrix, Vector<std::uint32_t>, const Vector<double>&>(), nb::kw_only(), "X"_a, "y_rank"_a,
             "y_values"_a)
        .def("add_tree", &add_tree, nb::kw_only(), "left"_a, "right"_a, "column"_a, "threshold"_a,
             "missing_go_to_left"_a, "n_rows"_a, "rows"_a);
    nb::exception<OtherTable>(m, "OtherTableError", PyExc_ValueError);
    m.def("leaves", &leaves, nb::kw_only(), "forest"_a, "X"_a, "n_threads"_a);
}

}  // namespace suffice
