// The forest and the leaves of its trees.
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bindings.hpp"

namespace suffice {
namespace {

// One tree, with the arrays that it refers to.
struct PyTree {
    Vector<std::int64_t> left, right, column;
    Vector<double> threshold;
    Vector<std::uint8_t> missing_go_to_left;
    Vector<double> n_rows;
    DoubleMatrix value;
    Vector<std::int32_t> rows;

    TreeArrays get() const {
        return {.left = span_of(left),
                .right = span_of(right),
                .column = span_of(column),
                .threshold = span_of(threshold),
                .missing_go_to_left = span_of(missing_go_to_left),
                .n_rows = span_of(n_rows),
                .rows = span_of(rows)};
    }
};

void add_trees(PyForest& forest, const std::vector<const PyTree*>& trees) {
    std::vector<TreeArrays> arrays;
    std::vector<DoubleMatrix> values;
    for (const PyTree* tree : trees) {
        require(tree != nullptr, "A tree is None.");
        arrays.push_back(tree->get());
        values.push_back(tree->value);
    }
    forest.add_trees(arrays, values);
}

// By row and tree: the number of the leaf in the arrays that the tree was built from.
nb::ndarray<nb::numpy, std::int32_t> leaves(const PyForest& forest, const FloatMatrix& X, std::size_t n_threads) {
    const std::vector<Tree>& trees = forest.get().trees;
    const Matrix rows = matrix_of(X);
    check_columns(rows, forest.get().X.n_columns);
    std::vector<std::int32_t> out(rows.n_rows * trees.size());
    const auto make_worker = [&] {
        return [&](std::size_t i) {
            for (std::size_t t = 0; t < trees.size(); ++t)
                out[i * trees.size() + t] = trees[t].number[trees[t].leaf_at(rows.row(i))];
        };
    };
    for_each_row_without_gil(rows.n_rows, n_threads, nullptr, make_worker, 8, kFewWalks);
    return to_numpy<std::int32_t>(std::move(out), {rows.n_rows, trees.size()});
}

// The mean over the trees of what their leaves predict: summed up in the order of the trees, as scikit-learn does with
// one thread.
nb::ndarray<nb::numpy, double> predict(const PyForest& forest, const FloatMatrix& X, std::size_t n_threads) {
    const std::vector<Tree>& trees = forest.get().trees;
    const std::vector<DoubleMatrix>& values = forest.values();
    const Matrix rows = matrix_of(X);
    check_columns(rows, forest.get().X.n_columns);
    require(!trees.empty(), "The forest has no trees.");
    const std::size_t width = values[0].shape(1);
    std::vector<double> out(rows.n_rows * width, 0.0);
    const auto make_worker = [&] {
        return [&](std::size_t i) {
            double* total = out.data() + i * width;
            for (std::size_t t = 0; t < trees.size(); ++t) {
                const auto node = static_cast<std::size_t>(trees[t].number[trees[t].leaf_at(rows.row(i))]);
                const double* value = values[t].data() + node * width;
                for (std::size_t k = 0; k < width; ++k) total[k] += value[k];
            }
            for (std::size_t k = 0; k < width; ++k) total[k] /= static_cast<double>(trees.size());
        };
    };
    for_each_row_without_gil(rows.n_rows, n_threads, nullptr, make_worker, 8, kFewWalks);
    return to_numpy<double>(std::move(out), {rows.n_rows, width});
}

// By variable: what its splits gain, each in proportion to its rows, and the standard error of that.
nb::ndarray<nb::numpy, double> gains(const PyForest& forest, const Vector<std::int32_t>& variable_of,
                                     std::size_t n_variables, std::size_t n_threads) {
    const Forest& f = forest.get();
    require(variable_of.shape(0) == f.X.n_columns, "`variable_of` must have one entry for each column.");
    std::vector<double> out(n_variables * 2, 0.0);
    const auto make_worker = [&] {
        return [&, of_rows = std::vector<double>(f.X.n_rows)](std::size_t v) mutable {
            std::fill(of_rows.begin(), of_rows.end(), 0.0);
            for (std::size_t t = 0; t < f.trees.size(); ++t)
                for (std::size_t i = 0; i < f.trees[t].nodes.size(); ++i)
                    if (const Node& node = f.trees[t].nodes[i];
                        !node.is_leaf() &&
                        variable_of.data()[static_cast<std::size_t>(node.column)] == static_cast<std::int32_t>(v))
                        add_gain(f.trees[t], i, forest.values()[t].data(), forest.values()[t].shape(1), f.y_values,
                                 of_rows);
            double squares = 0.0;
            for (const double gain : of_rows) {
                out[2 * v] += gain;
                squares += gain * gain;
            }
            out[2 * v + 1] = std::sqrt(2 * squares);
        };
    };
    for_each_row_without_gil(n_variables, n_threads, nullptr, make_worker, 1);
    return to_numpy<double>(std::move(out), {n_variables, 2});
}

}  // namespace

void bind_forest(nb::module_& m) {
    nb::class_<PyForest>(m, "Forest")
        .def(nb::init<FloatMatrix, Vector<std::uint32_t>, const Vector<double>&, std::vector<std::uint32_t>>(),
             nb::kw_only(), "X"_a, "y_rank"_a, "y_values"_a, "n_levels"_a = std::vector<std::uint32_t>{})
        .def("add_trees", &add_trees, nb::kw_only(), "trees"_a);
    nb::class_<PyTree>(m, "Tree").def(
        nb::init<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int64_t>, Vector<double>, Vector<std::uint8_t>,
                 Vector<double>, DoubleMatrix, Vector<std::int32_t>>(),
        nb::kw_only(), "left"_a, "right"_a, "column"_a, "threshold"_a, "missing_go_to_left"_a, "n_rows"_a, "value"_a,
        "rows"_a);
    nb::exception<OtherTable>(m, "OtherTableError", PyExc_ValueError);
    m.def("leaves", &leaves, nb::kw_only(), "forest"_a, "X"_a, "n_threads"_a);
    m.def("gains", &gains, nb::kw_only(), "forest"_a, "variable_of"_a, "n_variables"_a, "n_threads"_a);
    m.def("predict", &predict, nb::kw_only(), "forest"_a, "X"_a, "n_threads"_a);
}

}  // namespace suffice
