// A forest reduced to some variables: the splits on them, and the training rows that pass each split.
//
// Each split of a tree has one bit for each of the tree's rows: on if the row goes left. Splits that send the same
// rows left share their bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
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
    std::uint32_t code;    // the number of thresholds of the tree in this column that are smaller
    std::uint16_t column;  // position in CodedTree::columns
    std::uint8_t variable;
    bool missing_left;

    // Without branches, since the side that a row takes is hard to predict.
    bool goes_left(float value) const { return (value <= threshold) | (missing_left & (value != value)); }
};

struct CodedTree {
    std::vector<CodedNode> nodes;                // breadth-first: the order in which a walk visits them
    std::vector<std::int32_t> columns;           // of the table, on which it splits
    std::vector<std::vector<float>> thresholds;  // by column of `columns`, ascending
    std::vector<std::uint64_t> left_rows;        // sets of rows that go left at some nodes
    std::vector<std::uint32_t> left_set;         // by node: its set in left_rows
    std::vector<std::uint64_t> own;              // by variable: the set of nodes that split on it
    std::vector<std::uint64_t> looser;           // the sets of nodes that `looser_than` returns
    std::vector<std::uint32_t> first_looser;     // by column: where its sets begin
    std::vector<std::uint8_t> has_missing;       // by column: whether values are missing in its rows
    std::size_t n_words = 0;                     // of a set of nodes
    std::size_t n_row_words = 0;                 // of a set of rows
    WideSet variables = 0;                       // the variables that it splits on
    std::size_t n_rows = 0;
    const std::uint32_t* rank = nullptr;  // Tree::rank

    // The nodes on a column that leave at least the values that a node with some code leaves: on the left those with
    // its code or a larger one, on the right those with its code or a smaller one.
    const std::uint64_t* looser_than(const CodedNode& node, bool goes_left) const {
        const std::size_t n = thresholds[node.column].size();
        return looser.data() + n_words * (first_looser[node.column] + (goes_left ? 0 : n) + node.code);
    }
    const std::uint64_t* rows_left_of(std::size_t node) const {
        return left_rows.data() + n_row_words * left_set[node];
    }
    std::size_t n_bytes() const {
        std::size_t n = nodes.size() * (sizeof(CodedNode) + sizeof(std::uint32_t)) +
                        (left_rows.size() + own.size() + looser.size()) * sizeof(std::uint64_t);
        for (const std::vector<float>& t : thresholds) n += t.size() * sizeof(float);
        return n;
    }
};

// The words of a set, with padding.
inline std::size_t padded(std::size_t n_words) {
    return (n_words + kWordsTogether - 1) / kWordsTogether * kWordsTogether;
}

// Lists the splits on the variables, breadth-first, and the columns that they are on.
inline void list_splits(CodedTree& coded, const Tree& tree, std::span<const std::int32_t> variable_of) {
    std::vector<std::int32_t> position(variable_of.size(), -1);  // by column of the table: in coded.columns
    const auto add_split = [&](const Node& node, std::uint32_t slot) {
        const auto column = static_cast<std::size_t>(node.column);
        if (variable_of[column] == kNoVariable) return;
        if (position[column] < 0) {
            if (coded.columns.size() == std::numeric_limits<std::uint16_t>::max())
                throw std::invalid_argument("A set may span at most 65535 columns.");
            position[column] = static_cast<std::int32_t>(coded.columns.size());
            coded.columns.push_back(node.column);
            coded.thresholds.emplace_back();
        }
        const auto c = static_cast<std::uint16_t>(position[column]);
        const float threshold = largest_float_up_to(node.threshold);
        coded.thresholds[c].push_back(threshold);
        coded.nodes.push_back(
            {threshold, slot, 0, c, static_cast<std::uint8_t>(variable_of[column]), node.missing_left});
    };
    // x goes both ways at a split on any other column, so that such a split removes no rows. Its children are attached
    // to the nearest split above that is on a variable.
    std::vector<std::uint32_t> slot(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const Node& node = tree.nodes[i];
        if (node.is_leaf()) continue;
        const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
        if (variable_of[static_cast<std::size_t>(node.column)] == kNoVariable) {
            slot[left] = slot[right] = slot[i];
            continue;
        }
        const auto parent = static_cast<std::uint32_t>(coded.nodes.size());
        slot[left] = 1 + 2 * parent;
        slot[right] = 2 + 2 * parent;
        add_split(node, slot[i]);
    }
    for (const Node& split : tree.completing) add_split(split, 0);
    for (std::vector<float>& t : coded.thresholds) sort_and_unite(t);
    for (CodedNode& node : coded.nodes) node.code = code_of(coded.thresholds[node.column], node.threshold);
}

// Numbers the sets of CodedTree::left_rows by column, code and where missing values go, which matters only in a column
// that has some. Returns one node of each set, in this order.
inline std::vector<std::uint32_t> number_left_sets(CodedTree& coded) {
    std::vector<std::uint32_t> nodes(coded.nodes.size()), first_of_set;
    std::iota(nodes.begin(), nodes.end(), 0u);
    const auto key = [&](std::uint32_t i) {
        const CodedNode& node = coded.nodes[i];
        return std::uint64_t{node.column} << 33 | std::uint64_t{node.code} << 1 |
               (node.missing_left & coded.has_missing[node.column]);
    };
    std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t i, std::uint32_t j) { return key(i) < key(j); });
    coded.left_set.resize(nodes.size());
    for (const std::uint32_t i : nodes) {
        if (first_of_set.empty() || key(first_of_set.back()) != key(i)) first_of_set.push_back(i);
        coded.left_set[i] = static_cast<std::uint32_t>(first_of_set.size() - 1);
    }
    return first_of_set;
}

// A number that is larger if the value is; the largest one stands for missing values. Without branches, so that
// compilers use vectors.
inline constexpr std::uint32_t kMissingBits = ~std::uint32_t{0};
inline std::uint32_t ordered_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);  // -0 becomes 0
    const std::uint32_t is_negative = 0 - (bits >> 31), is_missing = 0 - static_cast<std::uint32_t>(value != value);
    return (bits ^ (is_negative | std::uint32_t{1} << 31)) | is_missing;
}

// Fills CodedTree::left_rows and has_missing. `values` is memory that the trees of a thread share.
inline void fill_left_rows(CodedTree& coded, const Tree& tree, const Matrix& X, std::vector<std::uint32_t>& values) {
    const std::size_t n_columns = coded.columns.size(), n_rows = coded.n_rows;
    // By column, since the table has its rows side by side. Without the padding, the same row of all columns would
    // often be in one set of the cache.
    const std::size_t n_padded = n_blocks(n_rows) * kBlock + 16;
    values.resize(n_columns * n_padded);
    constexpr std::size_t kTogether = 16;  // rows: one alone would wait for the memory of the table; not tuned
    std::array<const float*, kTogether> row{};
    for (std::size_t begin = 0; begin < n_rows; begin += kTogether) {
        for (std::size_t k = 0; k < kTogether; ++k)  // the last one stands in for those that are not there
            row[k] = X.row(tree.rows[std::min(begin + k, n_rows - 1)]);
        for (std::size_t c = 0; c < n_columns; ++c) {
            const auto column = static_cast<std::size_t>(coded.columns[c]);
            for (std::size_t k = 0; k < kTogether; ++k)
                values[n_padded * c + begin + k] = std::bit_cast<std::uint32_t>(row[k][column]);
        }
    }
    for (std::size_t c = 0; c < n_columns; ++c) {
        std::uint32_t largest = 0;
        for (std::uint32_t& value : std::span(values).subspan(n_padded * c, n_rows)) {
            value = ordered_bits(std::bit_cast<float>(value));
            largest = std::max(largest, value);
        }
        coded.has_missing.push_back(largest == kMissingBits);
    }
    const std::vector<std::uint32_t> node_of_set = number_left_sets(coded);
    coded.n_row_words = padded(n_blocks(n_rows));
    coded.left_rows.reserve(node_of_set.size() * coded.n_row_words);
    std::vector<std::uint64_t> missing(coded.n_row_words);
    for (const std::uint32_t i : node_of_set) {
        const CodedNode& node = coded.nodes[i];
        const std::uint32_t* const column = values.data() + n_padded * node.column;
        const auto find = [&](std::uint32_t least, std::uint32_t most, std::uint64_t* rows) {
            kernels().outcome(column, n_rows, least, most, rows);
        };
        coded.left_rows.resize(coded.left_rows.size() + coded.n_row_words);
        std::uint64_t* const left = coded.left_rows.data() + coded.left_rows.size() - coded.n_row_words;
        find(0, ordered_bits(node.threshold), left);
        if (!node.missing_left || !coded.has_missing[node.column]) continue;
        find(kMissingBits, kMissingBits, missing.data());
        for (std::size_t w = 0; w < coded.n_row_words; ++w) left[w] |= missing[w];
    }
}

// Fills CodedTree::looser.
inline void compare_splits(CodedTree& coded) {
    std::size_t n_sets = 0;
    for (const std::vector<float>& thresholds : coded.thresholds) {
        coded.first_looser.push_back(static_cast<std::uint32_t>(n_sets));
        n_sets += 2 * thresholds.size();
    }
    const std::size_t n_words = coded.n_words;
    coded.looser.assign(n_sets * n_words, 0);
    const auto set_of = [&](std::size_t c, std::size_t i) {
        return coded.looser.data() + n_words * (coded.first_looser[c] + i);
    };
    for (std::size_t i = 0; i < coded.nodes.size(); ++i) {
        const CodedNode& node = coded.nodes[i];
        for (const std::size_t side : {std::size_t{0}, coded.thresholds[node.column].size()})
            set_of(node.column, side + node.code)[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    for (std::size_t c = 0; c < coded.columns.size(); ++c) {
        const std::size_t n = coded.thresholds[c].size();
        for (std::size_t k = 1; k < n; ++k)
            for (std::size_t w = 0; w < n_words; ++w) {
                set_of(c, n - 1 - k)[w] |= set_of(c, n - k)[w];
                set_of(c, n + k)[w] |= set_of(c, n + k - 1)[w];
            }
    }
}

// variable_of[column] is the variable that a column belongs to, or kNoVariable.
inline CodedTree code_tree(const Tree& tree, const Matrix& X, std::span<const std::int32_t> variable_of,
                           std::size_t n_variables, std::vector<std::uint32_t>& values) {
    CodedTree coded;
    coded.n_rows = tree.rows.size();
    coded.rank = tree.rank.data();
    list_splits(coded, tree, variable_of);
    fill_left_rows(coded, tree, X, values);
    coded.n_words = padded(n_blocks(coded.nodes.size()));
    coded.own.assign(n_variables * coded.n_words, 0);
    for (std::size_t i = 0; i < coded.nodes.size(); ++i) {
        coded.own[coded.n_words * coded.nodes[i].variable + i / 64] |= std::uint64_t{1} << (i % 64);
        coded.variables |= WideSet{1} << coded.nodes[i].variable;
    }
    compare_splits(coded);
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
                          bool all_vote, std::size_t n_threads) {
    check_variables(variable_of, n_variables, forest.X.n_columns);
    Projection projection;
    projection.n_variables = n_variables;
    projection.all_vote = all_vote;
    projection.forest = &forest;
    projection.trees.resize(forest.trees.size());
    const auto make_worker = [&] {
        return [&, values = std::vector<std::uint32_t>()](std::size_t t) mutable {
            projection.trees[t] = code_tree(forest.trees[t], forest.X, variable_of, n_variables, values);
        };
    };
    StopFlag stop{false};
    for_each_row(forest.trees.size(), n_threads, stop, make_worker, [](std::size_t) {}, 1);
    projection.informed.assign(projection.n_variables, std::vector<std::uint64_t>((projection.trees.size() + 63) / 64));
    for (std::size_t t = 0; t < projection.trees.size(); ++t)
        for (std::size_t v = 0; v < projection.n_variables; ++v)
            projection.informed[v][t / 64] |= static_cast<std::uint64_t>(projection.trees[t].variables >> v & 1)
                                              << t % 64;
    projection.variable_of.assign(variable_of.begin(), variable_of.end());
    projection.columns.resize(projection.n_variables);
    projection.thresholds.resize(variable_of.size());
    for (std::size_t column = 0; column < variable_of.size(); ++column)
        if (variable_of[column] != kNoVariable)
            projection.columns[static_cast<std::size_t>(variable_of[column])].push_back(
                static_cast<std::int32_t>(column));
    for (const CodedTree& tree : projection.trees)
        for (std::size_t c = 0; c < tree.columns.size(); ++c) {
            std::vector<float>& all = projection.thresholds[static_cast<std::size_t>(tree.columns[c])];
            all.insert(all.end(), tree.thresholds[c].begin(), tree.thresholds[c].end());
        }
    for (std::vector<float>& t : projection.thresholds) {
        sort_and_unite(t);
        t.shrink_to_fit();
    }
    return projection;
}

}  // namespace suffice
