// A forest reduced to some variables: the splits on them, and the training rows that pass each split.
//
// Each split of a tree has one bit for each of the tree's rows: on if the row goes left.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"
#include "thresholds.hpp"
#include "wide_set.hpp"

namespace suffice {

inline constexpr std::int32_t kNoVariable = -1;
// A set of variables is a number with one bit per variable: a word in most places, WideSet where sets are searched.
inline constexpr std::size_t kMaxVariables = 128;
inline constexpr std::size_t kWordVariables = 64;

// A split on one of the variables.
struct CodedNode {
    float threshold;       // the largest float32 up to scikit-learn's float64 threshold: the comparison is the same
    std::uint32_t slot;    // index of this node's departure mask (see cell.hpp): 1 + 2 parent + side, 0 without parent
    std::uint16_t column;  // position in CodedTree::columns
    std::uint8_t variable;
    bool missing_left;

    // Without branches, since the side that a row takes is hard to predict.
    bool goes_left(float value) const { return (value <= threshold) | (missing_left & (value != value)); }
};

struct CodedTree {
    std::vector<CodedNode> nodes;          // breadth-first
    std::vector<std::int32_t> columns;     // of the table, on which it splits
    std::vector<std::uint64_t> left_rows;  // for each node the blocks of rows that go left
    std::vector<SplitCode> codes;          // by node
    std::size_t n_words = 0;               // of a set of nodes
    std::vector<std::uint64_t> own;        // by variable: the set of nodes that split on it
    WideSet variables = 0;                 // the variables that it splits on
    std::vector<std::uint8_t> in_order;    // these variables, by their first split in breadth-first order
    std::size_t n_rows = 0;
    const std::uint32_t* rank = nullptr;  // Tree::rank

    std::size_t n_bytes() const {
        return nodes.size() * (sizeof(CodedNode) + sizeof(SplitCode)) +
               (left_rows.size() + own.size()) * sizeof(std::uint64_t);
    }
};

// The words of a set, or the blocks of a tree, with padding.
inline std::size_t padded(std::size_t n_words) {
    return (n_words + kWordsTogether - 1) / kWordsTogether * kWordsTogether;
}

// Fills CodedTree::left_rows, column by column: `thresholds` are those of the tree, by column of the table.
inline void fill_left_rows(CodedTree& coded, const Tree& tree, const Matrix& X,
                           const std::vector<std::vector<float>>& thresholds) {
    const std::size_t blocks = n_blocks(tree.rows.size()), n_words = padded(blocks);
    coded.left_rows.assign(coded.nodes.size() * n_words, 0);
    std::vector<std::uint32_t> code(blocks * kBlock);
    std::vector<std::uint64_t> is_missing(blocks);
    for (std::size_t c = 0; c < coded.columns.size(); ++c) {
        const auto column = static_cast<std::size_t>(coded.columns[c]);
        const auto missing_code = static_cast<std::uint32_t>(thresholds[column].size()) + 1;
        for (std::size_t i = 0; i < tree.rows.size(); ++i) {
            const float value = X.row(tree.rows[i])[column];
            code[i] = value == value ? code_of(thresholds[column], value) : missing_code;
        }
        kernels().outcome(code.data(), tree.rows.size(), missing_code, missing_code, is_missing.data());
        for (std::size_t node = 0; node < coded.nodes.size(); ++node) {
            const SplitCode& split = coded.codes[node];
            if (split.column != c) continue;
            std::uint64_t* const left = coded.left_rows.data() + n_words * node;
            kernels().outcome(code.data(), tree.rows.size(), 0, split.code, left);
            if (split.missing_left)
                for (std::size_t b = 0; b < blocks; ++b) left[b] |= is_missing[b];
        }
    }
}

// By column of the table: the thresholds of the tree on it, ascending; empty unless the column belongs to a variable.
inline std::vector<std::vector<float>> find_thresholds(const Tree& tree, std::span<const std::int32_t> variable_of) {
    std::vector<std::vector<float>> thresholds(variable_of.size());
    for (const auto* splits : {&tree.nodes, &tree.completing})
        for (const Node& node : *splits)
            if (node.column >= 0 && variable_of[static_cast<std::size_t>(node.column)] != kNoVariable)
                thresholds[static_cast<std::size_t>(node.column)].push_back(largest_float_up_to(node.threshold));
    for (std::vector<float>& t : thresholds) {
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
    }
    return thresholds;
}

// variable_of[column] is the variable that a column belongs to, or kNoVariable.
inline CodedTree code_tree(const Tree& tree, const Matrix& X, std::span<const std::int32_t> variable_of,
                           std::size_t n_variables) {
    CodedTree coded;
    coded.n_rows = tree.rows.size();
    coded.rank = tree.rank.data();

    const std::vector<std::vector<float>> thresholds = find_thresholds(tree, variable_of);
    std::vector<std::uint16_t> position(X.n_columns, 0);
    for (std::size_t column = 0; column < X.n_columns; ++column) {
        if (thresholds[column].empty()) continue;
        if (coded.columns.size() == std::numeric_limits<std::uint16_t>::max())
            throw std::invalid_argument("A set may span at most 65535 columns.");
        position[column] = static_cast<std::uint16_t>(coded.columns.size());
        coded.columns.push_back(static_cast<std::int32_t>(column));
    }

    const auto add_split = [&](const Node& node, std::uint32_t slot) {
        const auto column = static_cast<std::size_t>(node.column);
        if (variable_of[column] == kNoVariable) return;
        const float threshold = largest_float_up_to(node.threshold);
        coded.codes.push_back({code_of(thresholds[column], threshold), position[column], node.missing_left});
        coded.nodes.push_back(
            {threshold, slot, position[column], static_cast<std::uint8_t>(variable_of[column]), node.missing_left});
    };
    // x goes both ways at a split on any other column, so that such a split removes no rows. Its children are attached
    // to the nearest split above that is on a variable.
    std::vector<std::uint32_t> slot(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const Node& node = tree.nodes[i];
        if (node.is_leaf()) continue;
        const auto column = static_cast<std::size_t>(node.column);
        const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
        if (variable_of[column] == kNoVariable) {
            slot[left] = slot[right] = slot[i];
            continue;
        }
        const auto parent = static_cast<std::uint32_t>(coded.nodes.size());
        slot[left] = 1 + 2 * parent;
        slot[right] = 2 + 2 * parent;
        add_split(node, slot[i]);
    }
    for (const Node& split : tree.completing) add_split(split, 0);
    fill_left_rows(coded, tree, X, thresholds);
    coded.n_words = padded(n_blocks(coded.nodes.size()));
    coded.own.assign(n_variables * coded.n_words, 0);
    for (std::size_t i = 0; i < coded.nodes.size(); ++i) {
        coded.own[coded.n_words * coded.nodes[i].variable + i / 64] |= std::uint64_t{1} << (i % 64);
        if (!(coded.variables >> coded.nodes[i].variable & 1)) coded.in_order.push_back(coded.nodes[i].variable);
        coded.variables |= WideSet{1} << coded.nodes[i].variable;
    }
    return coded;
}

struct Projection {
    std::size_t n_variables = 0;
    bool all_vote = true;  // whether trees vote on sets that they do not split on
    const Forest* forest = nullptr;
    std::vector<CodedTree> trees;
    std::vector<std::vector<std::uint64_t>> informed;  // by variable: the trees that split on it, one bit each
    std::vector<std::vector<float>> thresholds;        // by column of the table: those of all trees, ascending
    std::vector<std::int32_t> variable_of;             // by column of the table, or kNoVariable
    std::vector<std::vector<std::int32_t>> columns;    // by variable

    std::size_t n_bytes() const {
        std::size_t n = 0;
        for (const CodedTree& tree : trees) n += tree.n_bytes();
        for (const std::vector<float>& t : thresholds) n += t.size() * sizeof(float);
        return n;
    }

    // How many trees vote on a set (docs/method.md, 1.2): those that split on one of its variables, given by
    // `members`; all trees if there are none. If all of them vote, `votes` need not be asked.
    template <class Members>
    std::size_t count_votes(const Members& members) const {
        if (all_vote) return trees.size();
        std::size_t n_votes = 0;
        for (std::size_t w = 0; w < (trees.size() + 63) / 64; ++w) {
            std::uint64_t trees_of_word = 0;
            for (const std::uint8_t v : members) trees_of_word |= informed[v][w];
            n_votes += static_cast<std::size_t>(std::popcount(trees_of_word));
        }
        return n_votes > 0 ? n_votes : trees.size();
    }

    // Values of a column with the same code are on the same side of every split. Missing values have the largest code.
    std::uint32_t code(std::int32_t column, float value) const {
        const std::vector<float>& t = thresholds[static_cast<std::size_t>(column)];
        return value == value ? code_of(t, value) : static_cast<std::uint32_t>(t.size()) + 1;
    }
};

inline void check_variables(std::span<const std::int32_t> variable_of, std::size_t n_variables, std::size_t n_columns) {
    if (variable_of.size() != n_columns)
        throw std::invalid_argument("There must be one variable number for each column of the table.");
    if (n_variables > kMaxVariables) throw std::invalid_argument("A projection holds at most 128 variables.");
    for (const std::int32_t v : variable_of)
        if (v < kNoVariable || v >= static_cast<std::int32_t>(n_variables))
            throw std::invalid_argument("A variable number is out of range.");
}

inline Projection project(const Forest& forest, std::span<const std::int32_t> variable_of, std::size_t n_variables,
                          bool all_vote) {
    check_variables(variable_of, n_variables, forest.X.n_columns);
    Projection projection;
    projection.n_variables = n_variables;
    projection.all_vote = all_vote;
    projection.forest = &forest;
    for (const Tree& tree : forest.trees)
        projection.trees.push_back(code_tree(tree, forest.X, variable_of, n_variables));
    projection.informed.assign(projection.n_variables, std::vector<std::uint64_t>((projection.trees.size() + 63) / 64));
    for (std::size_t t = 0; t < projection.trees.size(); ++t)
        for (const std::uint8_t v : projection.trees[t].in_order)
            projection.informed[v][t / 64] |= std::uint64_t{1} << (t % 64);
    projection.variable_of.assign(variable_of.begin(), variable_of.end());
    projection.columns.resize(projection.n_variables);
    projection.thresholds.resize(variable_of.size());
    for (std::size_t column = 0; column < variable_of.size(); ++column)
        if (variable_of[column] != kNoVariable)
            projection.columns[static_cast<std::size_t>(variable_of[column])].push_back(
                static_cast<std::int32_t>(column));
    for (const CodedTree& tree : projection.trees)
        for (const CodedNode& node : tree.nodes)
            projection.thresholds[static_cast<std::size_t>(tree.columns[node.column])].push_back(node.threshold);
    for (std::vector<float>& t : projection.thresholds) {
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
        t.shrink_to_fit();
    }
    return projection;
}

}  // namespace suffice
