// A fitted forest as flat arrays, with the training rows of each tree sorted by leaf.
// Sets of variables and the search for them are the business of projection.hpp and search.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "kernels.hpp"
#include "rows.hpp"

namespace suffice {

inline std::size_t n_blocks(std::size_t n_rows) { return (n_rows + kBlock - 1) / kBlock; }

// One tree as scikit-learn stores it.
struct TreeArrays {
    std::span<const std::int64_t> left;
    std::span<const std::int64_t> right;
    std::span<const std::int64_t> column;
    std::span<const double> threshold;
    std::span<const std::uint8_t> missing_go_to_left;
    std::span<const double> n_rows;      // the number of training rows of each node when the forest was fitted
    std::span<const std::int32_t> rows;  // bootstrap rows; a row that was drawn twice occurs twice
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

    std::size_t leaf_at(const float* x) const {
        std::size_t i = 0;
        while (!nodes[i].is_leaf())
            i = static_cast<std::size_t>(nodes[i].goes_left(x[nodes[i].column]) ? nodes[i].left : nodes[i].right);
        return i;
    }
    // The last node on the path of x that has rows. This is the leaf, unless some training rows were left out after the
    // forest was fitted.
    const Node& last_with_rows(const float* x) const {
        std::size_t i = 0;
        while (!nodes[i].is_leaf()) {
            const auto next =
                static_cast<std::size_t>(nodes[i].goes_left(x[nodes[i].column]) ? nodes[i].left : nodes[i].right);
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
    if (a.rows.empty()) throw std::invalid_argument("A tree has no training rows.");
    for (std::size_t i = 0; i < n; ++i) {
        if (a.left[i] < 0) continue;
        const bool children =
            a.left[i] < static_cast<std::int64_t>(n) && a.right[i] >= 0 && a.right[i] < static_cast<std::int64_t>(n);
        if (std::isnan(a.threshold[i])) throw std::invalid_argument("A tree node has no threshold.");
        if (!children || a.column[i] < 0 || a.column[i] >= static_cast<std::int64_t>(X.n_columns))
            throw std::invalid_argument("A tree node points outside its tree or its table.");
    }
    for (const std::int32_t row : a.rows)
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

// Fills Tree::rows by a counting sort over the leaves, and sets the range of rows of every node.
inline void sort_rows(const TreeArrays& a, const Matrix& X, Tree& tree) {
    std::vector<std::uint32_t> leaf_of(a.rows.size());
    std::vector<std::uint32_t> n_rows_of_leaf(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        leaf_of[i] = static_cast<std::uint32_t>(tree.leaf_at(X.row(static_cast<std::size_t>(a.rows[i]))));
        ++n_rows_of_leaf[leaf_of[i]];
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const double n_fitted = a.n_rows[static_cast<std::size_t>(tree.number[i])];
        if (tree.nodes[i].is_leaf() && !(std::abs(n_fitted - n_rows_of_leaf[i]) <= 1e-6)) throw OtherTable();
    }
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

inline Tree build_tree(const TreeArrays& a, const Matrix& X, std::span<const std::uint32_t> y_rank) {
    check_tree(a, X);
    Tree tree;
    copy_nodes(a, tree);
    sort_rows(a, X, tree);
    tree.rank.assign(n_blocks(tree.rows.size()) * kBlock, 0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i) tree.rank[i] = y_rank[tree.rows[i]];
    return tree;
}

struct Forest {
    Matrix X;                      // the training table
    std::vector<double> y_values;  // the distinct outcomes, ascending; a rank is an index into them
    std::vector<Tree> trees;
};

}  // namespace suffice
