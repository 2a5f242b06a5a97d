// Proofs about all points of a box.
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "prover.hpp"

namespace suffice {
namespace {

template <class T>
std::vector<T> copy_of(const Vector<T>& a) {
    return {a.data(), a.data() + a.shape(0)};
}

void check_forest(const PieceTrees& trees) {
    const auto n_nodes = static_cast<std::int64_t>(trees.split.size());
    std::vector<std::uint8_t> is_child(trees.split.size(), 0);
    for (std::size_t i = 0; i < trees.split.size(); ++i) {
        require(trees.split[i] < static_cast<std::int32_t>(trees.splits.size()), "A node asks for an unknown split.");
        if (trees.split[i] < 0) continue;
        for (const std::int32_t child : {trees.left[i], trees.right[i]}) {
            require(child >= 0 && child < n_nodes && !is_child[static_cast<std::size_t>(child)],
                    "The trees are no forest.");
            is_child[static_cast<std::size_t>(child)] = 1;
        }
    }
    for (const std::int32_t root : trees.roots)
        require(root >= 0 && root < n_nodes && !is_child[static_cast<std::size_t>(root)], "A root is no root.");
}

// goes_left: by split, the pieces of its column that go left, all in one line.
void init_trees(PieceTrees* self, const Vector<std::int32_t>& n_pieces, const Vector<std::int32_t>& column_of_split,
                const Vector<std::uint8_t>& goes_left, const Vector<std::int32_t>& roots,
                const Vector<std::int32_t>& split, const Vector<std::int32_t>& left, const Vector<std::int32_t>& right,
                const DoubleMatrix& value) {
    PieceTrees trees;
    trees.piece_begin.push_back(0);
    for (const std::int32_t n : span_of(n_pieces)) {
        require(n > 0, "A column has no pieces.");
        trees.piece_begin.push_back(trees.piece_begin.back() + static_cast<std::size_t>(n));
    }
    std::size_t next = 0;
    for (const std::int32_t column : span_of(column_of_split)) {
        require(column >= 0 && static_cast<std::size_t>(column) < trees.n_columns(), "A split has an unknown column.");
        const auto n = static_cast<std::size_t>(n_pieces.data()[column]);
        require(next + n <= goes_left.shape(0), "`goes_left` is too short.");
        PieceSplit made{column, {goes_left.data() + next, goes_left.data() + next + n}, {}};
        for (std::size_t p = 0; p + 1 < n; ++p)
            if (made.goes_left[p] != made.goes_left[p + 1]) made.changes.push_back(static_cast<std::int32_t>(p));
        trees.splits.push_back(std::move(made));
        next += n;
    }
    const std::size_t n_nodes = split.shape(0);
    require(left.shape(0) == n_nodes && right.shape(0) == n_nodes && value.shape(0) == n_nodes,
            "There must be one entry for each node.");
    trees.roots = copy_of(roots);
    trees.split = copy_of(split);
    trees.left = copy_of(left);
    trees.right = copy_of(right);
    trees.n_outputs = value.shape(1);
    trees.value.assign(value.data(), value.data() + n_nodes * value.shape(1));
    check_forest(trees);
    new (self) PieceTrees(std::move(trees));
}

// Does the margin with these weights reach the level in a box? `cost` is by piece, or empty.
nb::tuple search_box(const PieceTrees& trees, const ProofOptions& options, const Vector<std::uint8_t>& allowed,
                     const Vector<double>& weights, double level, bool is_strict, const Vector<std::int64_t>& cost,
                     std::int64_t most_cost) {
    require(allowed.shape(0) == trees.n_pieces() && weights.shape(0) == trees.n_outputs,
            "A box must have all pieces, and a margin a weight for each output.");
    require(cost.shape(0) == 0 || cost.shape(0) == trees.n_pieces(), "There must be a cost by piece.");
    require(options.starts.size() % trees.n_columns() == 0, "A start must have a piece for each column.");
    ProofResult r;
    {
        const nb::gil_scoped_release release;
        r = BoxSearch(trees, options, [] {
                watcher()(0);
            }).run(span_of(allowed), span_of(weights), level, is_strict, span_of(cost), most_cost);
    }
    const std::size_t n_columns = r.point.size();
    return nb::make_tuple(r.is_complete, r.is_reached, to_array<std::int32_t>(std::move(r.point), {n_columns}), r.value,
                          r.bound, r.least_cost, r.n_nodes);
}

// By point: the outputs, added tree by tree.
nb::ndarray<nb::numpy, double> sum_leaves(
    const PieceTrees& trees,
    const nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& points) {
    const std::size_t n = points.shape(0), width = trees.n_columns();
    require(points.shape(1) == width, "A point must have a piece for each column.");
    for (std::size_t i = 0; i < n * width; ++i) {
        const std::size_t c = i % width;
        const auto n_pieces = static_cast<std::int64_t>(trees.piece_begin[c + 1] - trees.piece_begin[c]);
        require(points.data()[i] >= 0 && points.data()[i] < n_pieces, "A point has an unknown piece.");
    }
    std::vector<double> sums(n * trees.n_outputs, 0.0);
    {
        const nb::gil_scoped_release release;
        for (const std::int32_t root : trees.roots)
            for (std::size_t i = 0; i < n; ++i) {
                const auto leaf = static_cast<std::size_t>(trees.leaf(root, {points.data() + i * width, width}));
                for (std::size_t o = 0; o < trees.n_outputs; ++o)
                    sums[i * trees.n_outputs + o] += trees.value[leaf * trees.n_outputs + o];
            }
    }
    return to_numpy<double>(std::move(sums), {n, trees.n_outputs});
}

}  // namespace

void bind_prover(nb::module_& m) {
    nb::class_<PieceTrees>(m, "PieceTrees")
        .def("__init__", &init_trees, nb::kw_only(), "n_pieces"_a, "column_of_split"_a, "goes_left"_a, "roots"_a,
             "split"_a, "left"_a, "right"_a, "value"_a);
    nb::class_<ProofOptions>(m, "ProofOptions")
        .def(
            "__init__",
            [](ProofOptions* self, int wanted, std::size_t max_nodes, double max_seconds,
               std::vector<std::int32_t> starts) {
                require(wanted >= 0 && wanted <= 2, "`wanted` must be 0, 1 or 2.");
                new (self) ProofOptions{static_cast<Wanted>(wanted), max_nodes, max_seconds, std::move(starts)};
            },
            nb::kw_only(), "wanted"_a, "max_nodes"_a, "max_seconds"_a, "starts"_a);
    m.def("sum_leaves", &sum_leaves, nb::kw_only(), "trees"_a, "points"_a);
    m.def("search_box", &search_box, nb::kw_only(), "trees"_a, "options"_a, "allowed"_a, "weights"_a, "level"_a,
          "is_strict"_a, "cost"_a, "most_cost"_a);
}

}  // namespace suffice
