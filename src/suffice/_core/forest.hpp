// A fitted forest as flat arrays, and the training rows of each tree in the order of its leaves.
// Knows nothing of candidates, sets or outcomes: those belong to projection.hpp and search.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "kernels.hpp"

namespace suffice {

// A row-major matrix of float32 that somebody else owns.
struct Matrix {
    const float* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    const float* row(std::size_t i) const { return data + i * n_columns; }
};

inline std::size_t n_blocks(std::size_t n_rows) { return (n_rows + kBlock - 1) / kBlock; }

// One tree as scikit-learn stores it.
struct TreeArrays {
    std::span<const std::int64_t> left;
    std::span<const std::int64_t> right;
    std::span<const std::int64_t> column;
    std::span<const double> threshold;
    std::span<const std::uint8_t> missing_go_to_left;
    std::span<const double> n_rows;      // training rows of each node, as the forest remembers them
    std::span<const std::int32_t> rows;  // bootstrap rows, a row drawn twice stands twice
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
    std::vector<std::uint32_t> rank;   // of their outcomes, padded to full blocks of 64
    std::vector<std::int32_t> number;  // of each node in the arrays that the tree was built from

    std::size_t leaf_at(const float* x) const {
        std::size_t i = 0;
        while (!nodes[i].is_leaf())
            i = static_cast<std::size_t>(nodes[i].goes_left(x[nodes[i].column]) ? nodes[i].left : nodes[i].right);
        return i;
    }
    // The last node on the way of x that has rows. It is a leaf unless rows were left out after the training.
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

// The rows do not fall into the leaves as they did when the forest was trained.
struct OtherTable : std::invalid_argument {
    OtherTable() : std::invalid_argument("The forest was not trained on these rows, or with weights.") {}
};

inline void check_sizes(const TreeArrays& a, const Matrix& X) {
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

inline Tree build_tree(const TreeArrays& a, const Matrix& X, std::span<const std::uint32_t> y_rank) {
    check_sizes(a, X);
    Tree tree;
    std::vector<std::int64_t> order{0};  // breadth-first queue of scikit-learn's node numbers
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order.size() > a.left.size()) throw std::invalid_argument("The nodes of a tree form a cycle.");
        const auto v = static_cast<std::size_t>(order[i]);
        Node node{a.threshold[v], -1, -1, -1, 0, 0, a.missing_go_to_left[v] != 0};
        if (a.left[v] >= 0) {
            node.left = static_cast<std::int32_t>(order.size());
            node.right = node.left + 1;
            node.column = static_cast<std::int32_t>(a.column[v]);
            order.push_back(a.left[v]);
            order.push_back(a.right[v]);
        }
        tree.nodes.push_back(node);
        tree.number.push_back(static_cast<std::int32_t>(v));
    }

    // Counting sort of the rows by leaf. Leaves in depth-first order, so that neighbours in `rows` are neighbours
    // in the table and a block of 64 rows spans a small box (cell.hpp skips blocks by their box).
    std::vector<std::uint32_t> leaf_of(a.rows.size());
    std::vector<std::uint32_t> count(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        leaf_of[i] = static_cast<std::uint32_t>(tree.leaf_at(X.row(static_cast<std::size_t>(a.rows[i]))));
        ++count[leaf_of[i]];
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.nodes[i].is_leaf() && !(std::abs(a.n_rows[static_cast<std::size_t>(order[i])] - count[i]) <= 1e-6))
            throw OtherTable();
    std::uint32_t begin = 0;
    std::vector<std::int32_t> stack{0};
    while (!stack.empty()) {
        Node& node = tree.nodes[static_cast<std::size_t>(stack.back())];
        const auto id = static_cast<std::size_t>(stack.back());
        stack.pop_back();
        if (node.is_leaf()) {
            node.begin = begin;
            node.end = begin;
            begin += count[id];
        } else {
            stack.push_back(node.right);
            stack.push_back(node.left);
        }
    }
    tree.rows.resize(a.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i)
        tree.rows[tree.nodes[leaf_of[i]].end++] = static_cast<std::uint32_t>(a.rows[i]);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children come after their parents
        Node& node = tree.nodes[i];
        if (node.is_leaf()) continue;
        node.begin = tree.nodes[static_cast<std::size_t>(node.left)].begin;
        node.end = tree.nodes[static_cast<std::size_t>(node.right)].end;
    }
    tree.rank.assign(n_blocks(tree.rows.size()) * kBlock, 0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i) tree.rank[i] = y_rank[tree.rows[i]];
    return tree;
}

struct Forest {
    Matrix X;                      // the training table
    std::vector<double> y_values;  // the distinct outcomes, ascending: Tree::rank points here
    std::vector<Tree> trees;
};

}  // namespace suffice
