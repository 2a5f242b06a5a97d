// A fitted forest as flat arrays, with the training rows of each tree sorted by leaf.
// Sets of variables and the search for them are the business of projection.hpp and search.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "rows.hpp"
#include "thresholds.hpp"

namespace suffice {

inline std::size_t n_blocks(std::size_t n_rows) { return (n_rows + kBlock - 1) / kBlock; }

// Sets the first n bits of some words, and clears the others.
inline void set_first_bits(std::size_t n, std::uint64_t* words, std::size_t n_words) {
    std::fill_n(words, n / 64, ~std::uint64_t{0});
    std::fill_n(words + n / 64, n_words - n / 64, std::uint64_t{0});
    if (n % 64) words[n / 64] = (std::uint64_t{1} << (n % 64)) - 1;
}

// One tree as scikit-learn stores it.
struct TreeArrays {
    std::span<const std::int64_t> left;
    std::span<const std::int64_t> right;
    std::span<const std::int64_t> column;
    std::span<const double> threshold;
    std::span<const std::uint8_t> missing_go_to_left;
    std::span<const double> n_rows;  // of each leaf: how many rows were drawn, or are counted if those are unknown
    std::span<const double> value;   // of each node: what it predicts, `width` numbers
    std::size_t width;
    std::span<const std::int32_t> rows;        // that the tree counts; a row that counts twice occurs twice
    std::span<const std::int32_t> drawn = {};  // that grew the tree; empty if they are unknown
};

struct Node {
    double threshold;
    std::int32_t left;  // -1 at a leaf
    std::int32_t right;
    std::int32_t column;
    std::uint32_t begin;  // its rows are Tree::rows[begin, end)
    std::uint32_t end;
    bool missing_left;

    bool is_leaf() const { return left < 0; }
    // scikit-learn's comparison: float32 value against float64 threshold.
    bool goes_left(float value) const {
        return std::isnan(value) ? missing_left : static_cast<double>(value) <= threshold;
    }
};

struct Tree {
    std::vector<Node> nodes;           // breadth-first, the order in which the projection visits them
    std::vector<std::uint32_t> rows;   // training rows with multiplicity, leaf after leaf
    std::vector<std::uint32_t> rank;   // by position in `rows`: the rank of the outcome; padded to full blocks of 64
    std::vector<std::int32_t> number;  // by node: its index in the arrays that the tree was built from
    std::vector<Node> completing;      // splits between categories, visited after all nodes (docs/method.md, 1.1)
    std::vector<float> gain;           // by node: see find_gains

    // The child of a node to which x goes.
    std::size_t child_at(std::size_t i, const float* x) const {
        return static_cast<std::size_t>(nodes[i].goes_left(x[nodes[i].column]) ? nodes[i].left : nodes[i].right);
    }
    std::size_t leaf_at(const float* x) const {
        std::size_t i = 0;
        while (!nodes[i].is_leaf()) i = child_at(i, x);
        return i;
    }
    // The last node on the path of x that has rows. This is the leaf, unless some training rows were left out after the
    // forest was fitted.
    const Node& last_with_rows(const float* x) const {
        std::size_t i = 0;
        while (!nodes[i].is_leaf()) {
            const std::size_t next = child_at(i, x);
            if (nodes[next].begin == nodes[next].end) break;
            i = next;
        }
        return nodes[i];
    }
};

// Thrown if the rows do not fall into the leaves as they did when the forest was fitted.
struct OtherTable : std::invalid_argument {
    OtherTable() : std::invalid_argument("The forest was not trained on these rows, or with weights.") {}
};

inline void check_tree(const TreeArrays& a, const Matrix& X) {
    const std::size_t n = a.left.size();
    if (n == 0 || a.right.size() != n || a.column.size() != n || a.threshold.size() != n ||
        a.missing_go_to_left.size() != n || a.n_rows.size() != n)
        throw std::invalid_argument("The node arrays of a tree must have one length, at least 1.");
    if (a.value.size() != n * a.width) throw std::invalid_argument("A tree must have one prediction for each node.");
    if (a.rows.empty()) throw std::invalid_argument("A tree has no training rows.");
    for (std::size_t i = 0; i < n; ++i) {
        if (a.left[i] < 0) continue;
        const bool children =
            a.left[i] < static_cast<std::int64_t>(n) && a.right[i] >= 0 && a.right[i] < static_cast<std::int64_t>(n);
        if (std::isnan(a.threshold[i])) throw std::invalid_argument("A tree node has no threshold.");
        if (!children || a.column[i] < 0 || a.column[i] >= static_cast<std::int64_t>(X.n_columns))
            throw std::invalid_argument("A tree node points outside its tree or its table.");
    }
    for (const std::span<const std::int32_t> rows : {a.rows, a.drawn})
        for (const std::int32_t row : rows)
            if (row < 0 || static_cast<std::size_t>(row) >= X.n_rows)
                throw std::invalid_argument("A bootstrap row lies outside the training table.");
}

// Copies the nodes in breadth-first order, so that children come after their parents.
inline void copy_nodes(const TreeArrays& a, Tree& tree) {
    std::vector<std::int64_t> queue{0};  // node numbers in `a`
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (queue.size() > a.left.size()) throw std::invalid_argument("The nodes of a tree form a cycle.");
        const auto v = static_cast<std::size_t>(queue[i]);
        Node node{a.threshold[v], -1, -1, -1, 0, 0, a.missing_go_to_left[v] != 0};
        if (a.left[v] >= 0) {
            node.left = static_cast<std::int32_t>(queue.size());
            node.right = node.left + 1;
            node.column = static_cast<std::int32_t>(a.column[v]);
            queue.push_back(a.left[v]);
            queue.push_back(a.right[v]);
        }
        tree.nodes.push_back(node);
        tree.number.push_back(static_cast<std::int32_t>(v));
    }
}

// Sets `begin` of every leaf, and `end` to the same value. Leaves are placed in depth-first order, so that neighbours
// in Tree::rows are neighbours in the table and a block of 64 rows spans a small box (cell.hpp skips blocks by box).
inline void place_leaves(const std::vector<std::uint32_t>& n_rows_of_leaf, Tree& tree) {
    std::uint32_t begin = 0;
    std::vector<std::int32_t> stack{0};
    while (!stack.empty()) {
        const auto i = static_cast<std::size_t>(stack.back());
        Node& node = tree.nodes[i];
        stack.pop_back();
        if (node.is_leaf()) {
            node.begin = begin;
            node.end = begin;
            begin += n_rows_of_leaf[i];
        } else {
            stack.push_back(node.right);
            stack.push_back(node.left);
        }
    }
}

// A node for walks of many rows. A leaf has itself as its left child, to which every value goes.
struct Step {
    float threshold;
    std::uint32_t left;  // the right child comes after it
    std::uint32_t column;
    std::uint32_t missing_left;
};

inline std::vector<Step> make_steps(const Tree& tree) {
    std::vector<Step> steps;
    steps.reserve(tree.nodes.size());
    for (const Node& node : tree.nodes) {
        if (node.is_leaf())
            steps.push_back({kInfinity, static_cast<std::uint32_t>(steps.size()), 0, 1});
        else
            steps.push_back({largest_float_up_to(node.threshold), static_cast<std::uint32_t>(node.left),
                             static_cast<std::uint32_t>(node.column), node.missing_left});
    }
    return steps;
}

// Writes the leaves of n rows of X. Many rows go down together, without a branch that depends on their values: a row
// alone would wait for every node on its path.
template <class RowAt>
void find_leaves(const std::vector<Step>& steps, const Matrix& X, std::size_t n_rows, const RowAt& row_at,
                 std::uint32_t* leaf_of) {
    constexpr std::size_t kTogether = 16;  // not tuned
    std::array<const float*, kTogether> x{};
    for (std::size_t begin = 0; begin < n_rows; begin += kTogether) {
        const std::size_t n = std::min(kTogether, n_rows - begin);
        for (std::size_t k = 0; k < kTogether; ++k)  // the last one stands in for those that are not there
            x[k] = X.row(static_cast<std::size_t>(row_at(begin + std::min(k, n - 1))));
        std::array<std::uint32_t, kTogether> at{};
        for (std::uint32_t moved = 1; moved != 0;) {
            moved = 0;
            for (std::size_t k = 0; k < kTogether; ++k) {
                const Step& step = steps[at[k]];
                const float value = x[k][step.column];
                const auto is_left = static_cast<std::uint32_t>(value <= step.threshold) |
                                     (step.missing_left & static_cast<std::uint32_t>(value != value));
                const std::uint32_t next = step.left + (1 - is_left);
                moved |= next ^ at[k];
                at[k] = next;
            }
        }
        std::copy_n(at.begin(), n, leaf_of + begin);
    }
}

inline std::vector<std::uint32_t> count_leaves(const Tree& tree, std::span<const std::uint32_t> leaf_of) {
    std::vector<std::uint32_t> n_rows(tree.nodes.size(), 0);
    for (const std::uint32_t leaf : leaf_of) ++n_rows[leaf];
    return n_rows;
}

inline void check_leaves(const TreeArrays& a, const Tree& tree, const std::vector<std::uint32_t>& n_rows_of_leaf) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const double n_fitted = a.n_rows[static_cast<std::size_t>(tree.number[i])];
        if (tree.nodes[i].is_leaf() && !(std::abs(n_fitted - n_rows_of_leaf[i]) <= 1e-6)) throw OtherTable();
    }
}

// Fills Tree::rows by a counting sort over the leaves, and sets the range of rows of every node.
inline void sort_rows(const TreeArrays& a, std::span<const std::uint32_t> leaf_of,
                      const std::vector<std::uint32_t>& n_rows_of_leaf, Tree& tree) {
    place_leaves(n_rows_of_leaf, tree);
    tree.rows.resize(a.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i)
        tree.rows[tree.nodes[leaf_of[i]].end++] = static_cast<std::uint32_t>(a.rows[i]);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
        Node& node = tree.nodes[i];
        if (node.is_leaf()) continue;
        node.begin = tree.nodes[static_cast<std::size_t>(node.left)].begin;
        node.end = tree.nodes[static_cast<std::size_t>(node.right)].end;
    }
}

// Separates the categories of each column: missing values first, then the others by bisection.
// `n_levels` has the number of categories by column, 0 for numbers.
inline void separate_categories(const Matrix& X, std::span<const std::uint32_t> n_levels, Tree& tree) {
    constexpr std::size_t kLeastRows = 10;  // a boundary between two categories of fewer rows is left out
    for (std::size_t column = 0; column < n_levels.size(); ++column) {
        if (n_levels[column] == 0) continue;
        const auto separate = [&](double threshold) {
            tree.completing.push_back({threshold, -1, -1, static_cast<std::int32_t>(column), 0, 0, false});
        };
        std::vector<std::size_t> n_rows(n_levels[column], 0);
        for (const std::uint32_t row : tree.rows)
            if (const float code = X.row(row)[column]; code >= 0 && code < static_cast<float>(n_rows.size()))
                ++n_rows[static_cast<std::size_t>(code)];
        std::vector<double> boundaries;
        for (std::size_t k = 0; k + 1 < n_rows.size(); ++k)
            if (std::max(n_rows[k], n_rows[k + 1]) >= kLeastRows) boundaries.push_back(static_cast<double>(k) + 0.5);
        separate(std::numeric_limits<double>::infinity());
        std::vector<std::pair<std::size_t, std::size_t>> parts{{0, boundaries.size()}};
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [begin, end] = parts[i];
            if (begin == end) continue;
            const std::size_t middle = (begin + end) / 2;
            separate(boundaries[middle]);
            parts.emplace_back(begin, middle);
            parts.emplace_back(middle + 1, end);
        }
    }
}

// What each split gains: the difference between its children in what they predict, times that in the outcomes of the
// rows that they count, for rows spread over them as the counted ones are. If these are out of bag, a split on noise
// gains nothing on average (Li et al., NeurIPS 2019); if they are those that grew the tree, it is the decrease of
// impurity. `value` has `width` numbers for each node of the arrays that the tree was built from: shares of classes, or
// one mean. If the tree was grown without some of the classes, no split gains.
inline void find_gains(Tree& tree, const double* value, std::size_t width, std::span<const double> y_values) {
    std::vector<double> total(tree.nodes.size() * width, 0.0);  // over the rows of a node
    tree.gain.assign(tree.nodes.size(), 0.0f);
    if (width > 1 && width != y_values.size()) return;
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
        const Node& node = tree.nodes[i];
        double* const own = total.data() + i * width;
        for (std::uint32_t j = node.begin; j < node.end && node.is_leaf(); ++j)
            own[width > 1 ? tree.rank[j] : 0] += width > 1 ? 1.0 : y_values[tree.rank[j]];
        if (node.is_leaf()) continue;
        const auto l = static_cast<std::size_t>(node.left), r = static_cast<std::size_t>(node.right);
        const double n_l = tree.nodes[l].end - tree.nodes[l].begin, n_r = tree.nodes[r].end - tree.nodes[r].begin;
        double gain = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double left = total[l * width + k], right = total[r * width + k];
            own[k] = left + right;
            gain += (value[static_cast<std::size_t>(tree.number[l]) * width + k] -
                     value[static_cast<std::size_t>(tree.number[r]) * width + k]) *
                    (left * n_r - right * n_l);
        }
        if (n_l > 0 && n_r > 0) tree.gain[i] = static_cast<float>(gain / ((n_l + n_r) * (n_l + n_r)));
    }
}

// By row of the table: what the trees that did not draw it predict, added up in the order of the trees.
struct Votes {
    std::vector<double> total;
    std::vector<std::uint32_t> n_trees;
};

// A tree while it is built. If it is known which rows it drew, all rows of the table go down, in parts that all trees
// share, so that the table is read from memory once for many trees.
struct Sapling {
    TreeArrays arrays;
    Tree tree = {};
    std::vector<Step> steps = {};
    std::vector<std::uint32_t> leaf_of = {};  // by row of the table
    std::vector<std::uint8_t> is_out = {};    // by row of the table
    std::vector<double> n_rows = {};          // by node of the arrays: at a leaf, the number of counted rows

    void begin(const Matrix& X) {
        check_tree(arrays, X);
        copy_nodes(arrays, tree);
        steps = make_steps(tree);
        if (arrays.drawn.empty()) return;
        leaf_of.resize(X.n_rows);
        is_out.assign(X.n_rows, 1);
        for (const std::int32_t row : arrays.drawn) is_out[static_cast<std::size_t>(row)] = 0;
    }

    void walk(const Matrix& X, std::size_t begin, std::size_t end, Votes& votes) {
        if (leaf_of.empty()) return;
        find_leaves(steps, X, end - begin, [&](std::size_t i) { return begin + i; }, leaf_of.data() + begin);
        for (std::size_t row = begin; row < end; ++row) {
            if (!is_out[row]) continue;
            const double* const value =
                arrays.value.data() + static_cast<std::size_t>(tree.number[leaf_of[row]]) * arrays.width;
            for (std::size_t k = 0; k < arrays.width; ++k) votes.total[row * arrays.width + k] += value[k];
            ++votes.n_trees[row];
        }
    }

    void finish(const Matrix& X, std::span<const std::uint32_t> y_rank, std::span<const std::uint32_t> n_levels,
                std::span<const double> y_values) {
        const auto leaves_of = [&](std::span<const std::int32_t> rows) {
            std::vector<std::uint32_t> leaves(rows.size());
            if (leaf_of.empty())
                find_leaves(steps, X, rows.size(), [&](std::size_t i) { return rows[i]; }, leaves.data());
            for (std::size_t i = 0; i < rows.size() && !leaf_of.empty(); ++i)
                leaves[i] = leaf_of[static_cast<std::size_t>(rows[i])];
            return leaves;
        };
        const std::vector<std::uint32_t> leaves = leaves_of(arrays.rows);
        const std::vector<std::uint32_t> n_counted = count_leaves(tree, leaves);
        check_leaves(arrays, tree, leaf_of.empty() ? n_counted : count_leaves(tree, leaves_of(arrays.drawn)));
        sort_rows(arrays, leaves, n_counted, tree);
        separate_categories(X, n_levels, tree);
        tree.rank.assign(n_blocks(tree.rows.size()) * kBlock, 0);
        for (std::size_t i = 0; i < tree.rows.size(); ++i) tree.rank[i] = y_rank[tree.rows[i]];
        find_gains(tree, arrays.value.data(), arrays.width, y_values);
        n_rows.assign(arrays.left.size(), 0.0);  // some of these nodes may be out of reach
        for (std::size_t i = 0; i < tree.nodes.size(); ++i)
            n_rows[static_cast<std::size_t>(tree.number[i])] = n_counted[i];
    }
};

// Adds to each row's part what a split gains by it, as a share of the tree's rows. The parts add up to the gain of the
// split times its share of the rows.
inline void add_gain(const Tree& tree, std::size_t split, const double* value, std::size_t width,
                     std::span<const double> y_values, std::span<double> of_rows) {
    const Node& node = tree.nodes[split];
    const Node &left = tree.nodes[static_cast<std::size_t>(node.left)],
               &right = tree.nodes[static_cast<std::size_t>(node.right)];
    if (left.begin == left.end || right.begin == right.end || (width > 1 && width != y_values.size())) return;
    const double* const of_left = value + static_cast<std::size_t>(tree.number[node.left]) * width;
    const double* const of_right = value + static_cast<std::size_t>(tree.number[node.right]) * width;
    const auto predicted = [&](std::uint32_t j) {  // by the difference between the children, up to a constant
        const std::uint32_t rank = tree.rank[j];
        return width > 1 ? of_left[rank] - of_right[rank] : (of_left[0] - of_right[0]) * y_values[rank];
    };
    double mean = 0.0;
    for (std::uint32_t j = node.begin; j < node.end; ++j) mean += predicted(j);
    const double n = node.end - node.begin, n_rows = static_cast<double>(tree.rows.size());
    mean /= n;
    for (std::uint32_t j = node.begin; j < node.end; ++j) {
        const double share = j < left.end ? (right.end - right.begin) / n : -((left.end - left.begin) / n);
        of_rows[tree.rows[j]] += share * (predicted(j) - mean) / n_rows;
    }
}

struct Forest {
    Matrix X;                      // the training table
    std::vector<double> y_values;  // the distinct outcomes, ascending; a rank is an index into them
    std::vector<Tree> trees;
};

// What some trees expect of rows, by the other counted rows in their leaves.
struct Expected {
    std::vector<std::uint32_t> rank;  // those of row i are [begin[i], begin[i + 1])
    std::vector<float> weight;
    std::vector<std::int64_t> begin{0};
};

// `is_asked` says by row and tree which trees are asked about a row: those that did not draw it.
inline Expected expect_ranks(const Forest& forest, std::span<const std::int64_t> rows, const std::uint8_t* is_asked) {
    const std::size_t n_trees = forest.trees.size();
    std::vector<std::uint32_t> leaf_of(n_trees * rows.size());  // by tree and row
    for (std::size_t t = 0; t < n_trees; ++t)
        find_leaves(
            make_steps(forest.trees[t]), forest.X, rows.size(), [&](std::size_t i) { return rows[i]; },
            leaf_of.data() + t * rows.size());
    Expected out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double n_expecting = 0.0;
        for (std::size_t t = 0; t < n_trees; ++t) {
            if (!is_asked[i * n_trees + t]) continue;
            const Tree& tree = forest.trees[t];
            const Node& leaf = tree.nodes[leaf_of[t * rows.size() + i]];
            const std::size_t n_before = out.rank.size();
            for (std::uint32_t j = leaf.begin; j < leaf.end; ++j)
                if (tree.rows[j] != static_cast<std::uint64_t>(rows[i])) out.rank.push_back(tree.rank[j]);
            const std::size_t n_others = out.rank.size() - n_before;
            n_expecting += n_others > 0;
            out.weight.resize(out.rank.size(), static_cast<float>(1.0 / static_cast<double>(n_others)));
        }
        for (auto k = static_cast<std::size_t>(out.begin.back()); k < out.weight.size(); ++k)
            out.weight[k] = static_cast<float>(out.weight[k] / n_expecting);
        out.begin.push_back(static_cast<std::int64_t>(out.rank.size()));
    }
    return out;
}

}  // namespace suffice
