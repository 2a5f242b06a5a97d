// The forest and the leaves of its trees.
#include <nanobind/stl/vector.h>

#include <exception>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace suffice {

std::vector<std::vector<double>> PyForest::add_trees(std::vector<Sapling>& saplings,
                                                     const std::vector<DoubleMatrix>& values, std::size_t n_threads) {
    if (saplings.empty()) return {};
    const std::size_t width = (values_.empty() ? values : values_)[0].shape(1);
    for (const DoubleMatrix& value : values)
        require(value.shape(1) == width, "All trees must predict as many numbers.");
    const Matrix& X = forest_.X;
    if (!saplings[0].arrays.drawn.empty()) {
        votes_.total.resize(X.n_rows * width, 0.0);
        votes_.n_trees.resize(X.n_rows, 0);
    }
    std::vector<std::exception_ptr> failures(saplings.size());
    const auto for_each_tree = [&](const auto& job) {
        const auto make_worker = [&] {
            return [&](std::size_t t) {
                try {
                    if (!failures[t]) job(saplings[t]);
                } catch (...) {
                    failures[t] = std::current_exception();
                }
            };
        };
        for_each_row_without_gil(saplings.size(), n_threads, nullptr, make_worker, 1);
    };
    for_each_tree([&](Sapling& sapling) { sapling.begin(X); });
    constexpr std::size_t kPartBytes = std::size_t{1} << 17;  // half of a small L2 cache; not tuned
    const std::size_t n_part = std::max<std::size_t>(64, kPartBytes / (sizeof(float) * (X.n_columns + 1)));
    const auto make_walker = [&] {
        return [&](std::size_t part) {
            for (std::size_t t = 0; t < saplings.size(); ++t)
                if (!failures[t]) saplings[t].walk(X, part * n_part, std::min(X.n_rows, (part + 1) * n_part), votes_);
        };
    };
    for_each_row_without_gil((X.n_rows + n_part - 1) / n_part, n_threads, nullptr, make_walker, 1);
    for_each_tree([&](Sapling& sapling) { sapling.finish(X, span_of(y_rank_), n_levels_, forest_.y_values); });
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    std::vector<std::vector<double>> n_rows;
    for (Sapling& sapling : saplings) {
        forest_.trees.push_back(std::move(sapling.tree));
        n_rows.push_back(std::move(sapling.n_rows));
    }
    values_.insert(values_.end(), values.begin(), values.end());
    return n_rows;
}

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
                .value = {value.data(), value.size()},
                .width = value.shape(1),
                .rows = span_of(rows)};
    }
};

// `drawn` are the rows that grew each tree, if they are known.
std::vector<nb::ndarray<nb::numpy, double>> add_trees(PyForest& forest, const std::vector<const PyTree*>& trees,
                                                      const std::vector<Vector<std::int32_t>>& drawn,
                                                      std::size_t n_threads) {
    require(drawn.empty() || drawn.size() == trees.size(), "There must be drawn rows for each tree, or for none.");
    std::vector<Sapling> saplings;
    std::vector<DoubleMatrix> values;
    for (const PyTree* tree : trees) {
        require(tree != nullptr, "A tree is None.");
        saplings.push_back({.arrays = tree->get()});
        if (!drawn.empty()) saplings.back().arrays.drawn = span_of(drawn[saplings.size() - 1]);
        require(drawn.empty() || !saplings.back().arrays.drawn.empty(), "A tree drew no rows.");
        values.push_back(tree->value);
    }
    std::vector<nb::ndarray<nb::numpy, double>> n_rows;
    for (std::vector<double>& of_tree : forest.add_trees(saplings, values, n_threads)) {
        const std::size_t n = of_tree.size();
        n_rows.push_back(to_numpy<double>(std::move(of_tree), {n}));
    }
    return n_rows;
}

// By row of the table: the sum of what the trees that did not draw it predict, and how many these are. They are given
// away, since only fitting needs them.
nb::tuple take_votes(PyForest& forest) {
    Votes votes = forest.take_votes();
    const std::size_t n = votes.n_trees.size(), width = n == 0 ? 0 : votes.total.size() / n;
    return nb::make_tuple(to_numpy<double>(std::move(votes.total), {n, width}),
                          to_numpy<std::uint32_t>(std::move(votes.n_trees), {n}));
}

// See Expected: ranks, weights and begins.
nb::tuple expected_ranks(const PyForest& forest, const Vector<std::int64_t>& rows,
                         const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& is_asked) {
    const std::size_t n_rows = forest.get().X.n_rows, n = rows.shape(0);
    require(is_asked.shape(0) == n && is_asked.shape(1) == forest.get().trees.size(),
            "`is_asked` must have a line for each row, with an entry for each tree.");
    for (const std::int64_t row : span_of(rows))
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows, "`rows` points outside the table.");
    Expected expected;
    {
        const nb::gil_scoped_release release;
        expected = expect_ranks(forest.get(), span_of(rows), is_asked.data());
    }
    const std::size_t n_ranks = expected.rank.size();
    return nb::make_tuple(to_numpy<std::uint32_t>(std::move(expected.rank), {n_ranks}),
                          to_numpy<float>(std::move(expected.weight), {n_ranks}),
                          to_numpy<std::int64_t>(std::move(expected.begin), {n + 1}));
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
        .def("add_trees", &add_trees, nb::kw_only(), "trees"_a, "drawn"_a = std::vector<Vector<std::int32_t>>{},
             "n_threads"_a = 1);
    nb::class_<PyTree>(m, "Tree").def(
        nb::init<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int64_t>, Vector<double>, Vector<std::uint8_t>,
                 Vector<double>, DoubleMatrix, Vector<std::int32_t>>(),
        nb::kw_only(), "left"_a, "right"_a, "column"_a, "threshold"_a, "missing_go_to_left"_a, "n_rows"_a, "value"_a,
        "rows"_a);
    nb::exception<OtherTable>(m, "OtherTableError", PyExc_ValueError);
    m.def("leaves", &leaves, nb::kw_only(), "forest"_a, "X"_a, "n_threads"_a);
    m.def("expected_ranks", &expected_ranks, nb::kw_only(), "forest"_a, "rows"_a, "is_asked"_a);
    m.def("gains", &gains, nb::kw_only(), "forest"_a, "variable_of"_a, "n_variables"_a, "n_threads"_a);
    m.def("take_votes", &take_votes, nb::kw_only(), "forest"_a);
    m.def("predict", &predict, nb::kw_only(), "forest"_a, "X"_a, "n_threads"_a);
}

}  // namespace suffice
