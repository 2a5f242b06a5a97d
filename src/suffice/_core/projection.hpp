// A forest reduced to some variables: the splits on them, and the training rows that pass each split.
//
// In a tree of few rows, each split has one bit per row: on if the row goes left. Larger trees would need too many
// bits, so there the values of the rows are codes, by the thresholds that this tree has on a column. A box over columns
// is then an interval of codes for each. Missing values have a code above all others.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
// Trees of at most this many rows store bits. On breast cancer (569 rows) bits are twice as fast as codes; the limit
// bounds their memory (512 bytes for each split), and was not tuned.
inline constexpr std::size_t kFewRows = 4096;

// One column in one tree, coded by the thresholds of this tree. (ForestColumn is coded by those of the whole forest.)
// A tree that stores bits fills in `column` only.
struct TreeColumn {
    std::int32_t column = 0;  // in the table
    int width = 0;            // bytes per code
    std::uint32_t missing_code = 0;
    std::uint32_t n_missing = 0;
    std::vector<std::uint32_t> below;  // below[c]: rows with a code less than c, without missing values
    std::vector<std::byte> codes, block_lo, block_hi;

    CodeView view() const { return {codes.data(), block_lo.data(), block_hi.data(), width, missing_code}; }
    std::uint32_t count(const CodeInterval& interval) const {
        const std::uint32_t n_values = interval.has_values() ? below[interval.hi + 1] - below[interval.lo] : 0;
        return n_values + (interval.missing ? n_missing : 0);
    }
    CodeInterval everything() const { return {0, missing_code - 1, n_missing > 0}; }
    std::size_t n_bytes() const { return codes.size() + 2 * block_lo.size() + 4 * below.size(); }
};

// A split on one of the variables.
struct CodedNode {
    float threshold;       // the largest float32 up to scikit-learn's float64 threshold: the comparison is the same
    std::uint32_t slot;    // index of this node's departure mask (see cell.hpp): 1 + 2 parent + side, 0 without parent
    std::uint32_t code;    // values with at most this code go left
    std::uint16_t column;  // position in CodedTree::columns
    std::uint8_t variable;
    bool missing_left;

    // Without branches, since the side that a row takes is hard to predict.
    bool goes_left(float value) const { return (value <= threshold) | (missing_left & (value != value)); }
};

struct CodedTree {
    std::vector<CodedNode> nodes;  // breadth-first
    std::vector<TreeColumn> columns;
    std::vector<std::uint64_t> left_rows;  // trees of few rows: for each node the blocks of rows that go left
    std::vector<SplitCode> codes;          // by node
    std::size_t n_words = 0;               // of a set of nodes
    std::vector<std::uint64_t> own;        // by variable: the set of nodes that split on it
    WideSet variables = 0;                 // the variables that it splits on
    std::vector<std::uint8_t> in_order;    // these variables, by their first split in breadth-first order
    std::size_t n_rows = 0;
    double share_of_a_row = 0.0;          // 1 / n_rows
    const std::uint32_t* rank = nullptr;  // Tree::rank

    bool has_bits() const { return !left_rows.empty(); }
    std::size_t n_bytes() const {
        std::size_t n = nodes.size() * (sizeof(CodedNode) + sizeof(SplitCode)) +
                        (left_rows.size() + own.size()) * sizeof(std::uint64_t);
        for (const TreeColumn& column : columns) n += column.n_bytes();
        return n;
    }
};

// The words of a set, or the blocks of a tree of few rows, with padding.
inline std::size_t padded(std::size_t n_words) {
    return (n_words + kWordsTogether - 1) / kWordsTogether * kWordsTogether;
}

// Up to this many thresholds, comparing a block of values with all of them is quicker than a binary search for each.
// The value was not tuned.
inline constexpr std::size_t kFewThresholds = 24;

// Makes room for the codes of `n_rows` rows, of a width that holds them all.
inline void reserve_codes(TreeColumn& out, std::size_t n_thresholds, std::size_t n_rows) {
    out.missing_code = static_cast<std::uint32_t>(n_thresholds) + 1;
    out.below.assign(n_thresholds + 2, 0);
    out.width = out.missing_code < 0xFF ? 1 : out.missing_code < 0xFFFF ? 2 : 4;
    const std::size_t blocks = n_blocks(n_rows), width = static_cast<std::size_t>(out.width);
    const std::size_t padded_blocks = n_blocks(blocks) * kBlock;
    out.codes.assign(blocks * kBlock * width, std::byte{0});
    // A padding block has lo > hi, so it overlaps no interval.
    out.block_lo.assign(padded_blocks * width, std::byte{0xFF});
    out.block_hi.assign(padded_blocks * width, std::byte{0});
}

// Writes the codes of the first `n` values of a block. below[c + 1] counts those of code c, until they are summed up.
template <class Code>
void write_block(TreeColumn& out, const std::vector<float>& thresholds, const std::array<float, kBlock>& value,
                 std::size_t block, std::size_t n) {
    std::array<Code, kBlock> code{};
    if (thresholds.size() <= kFewThresholds) {
        for (const float threshold : thresholds)
            for (std::size_t i = 0; i < kBlock; ++i) code[i] = static_cast<Code>(code[i] + (value[i] > threshold));
    } else {
        for (std::size_t i = 0; i < n; ++i) code[i] = static_cast<Code>(code_of(thresholds, value[i]));
    }
    const auto missing_code = static_cast<Code>(out.missing_code);
    for (std::size_t i = 0; i < kBlock; ++i) code[i] = value[i] == value[i] ? code[i] : missing_code;
    Code lo = std::numeric_limits<Code>::max(), hi = 0;
    for (std::size_t i = 0; i < n; ++i) {
        lo = std::min(lo, code[i]);
        hi = std::max(hi, code[i]);
    }
    std::memcpy(out.codes.data() + block * kBlock * sizeof(Code), code.data(), n * sizeof(Code));
    std::memcpy(out.block_lo.data() + block * sizeof(Code), &lo, sizeof(Code));
    std::memcpy(out.block_hi.data() + block * sizeof(Code), &hi, sizeof(Code));
    if (lo == hi) {  // a leaf often lies on one side of all thresholds
        (lo == missing_code ? out.n_missing : out.below[std::size_t{lo} + 1]) += static_cast<std::uint32_t>(n);
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        ++(code[i] == missing_code ? out.n_missing : out.below[std::size_t{code[i]} + 1]);
}

// Codes the columns of a tree, a block of rows after the other, since the rows of a leaf lie far apart in the table:
// column after column, every value would be fetched from memory alone.
inline void code_tree_columns(std::vector<TreeColumn>& columns, const std::vector<std::vector<float>>& thresholds,
                              const Tree& tree, const Matrix& X) {
    const std::size_t n_rows = tree.rows.size();
    for (TreeColumn& out : columns) reserve_codes(out, thresholds[static_cast<std::size_t>(out.column)].size(), n_rows);
    std::array<const float*, kBlock> x{};
    std::array<float, kBlock> value{};
    for (std::size_t block = 0; block < n_blocks(n_rows); ++block) {
        const std::size_t begin = block * kBlock, n = std::min<std::size_t>(kBlock, n_rows - begin);
        for (std::size_t i = 0; i < n; ++i) x[i] = X.row(tree.rows[begin + i]);
        for (TreeColumn& out : columns) {
            for (std::size_t i = 0; i < n; ++i) value[i] = x[i][out.column];
            const std::vector<float>& of_column = thresholds[static_cast<std::size_t>(out.column)];
            if (out.width == 1) write_block<std::uint8_t>(out, of_column, value, block, n);
            if (out.width == 2) write_block<std::uint16_t>(out, of_column, value, block, n);
            if (out.width == 4) write_block<std::uint32_t>(out, of_column, value, block, n);
        }
    }
    for (TreeColumn& out : columns)
        for (std::size_t c = 1; c < out.below.size(); ++c) out.below[c] += out.below[c - 1];
}

inline void append_left_rows(std::vector<std::uint64_t>& left_rows, const Node& node, const Tree& tree,
                             const Matrix& X) {
    const std::size_t begin = left_rows.size();
    left_rows.resize(begin + padded(n_blocks(tree.rows.size())), 0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i)
        if (node.goes_left(X.row(tree.rows[i])[node.column]))
            left_rows[begin + i / kBlock] |= std::uint64_t{1} << (i % kBlock);
}

// By column of the table: the thresholds of the tree on it, ascending; empty unless the column belongs to a variable.
inline std::vector<std::vector<float>> find_thresholds(const Tree& tree, std::span<const std::int32_t> variable_of) {
    std::vector<std::vector<float>> thresholds(variable_of.size());
    for (const Node& node : tree.nodes)
        if (!node.is_leaf() && variable_of[static_cast<std::size_t>(node.column)] != kNoVariable)
            thresholds[static_cast<std::size_t>(node.column)].push_back(largest_float_up_to(node.threshold));
    for (std::vector<float>& t : thresholds) {
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
    }
    return thresholds;
}

// variable_of[column] is the variable that a column belongs to, or kNoVariable. Trees of at most `few_rows` rows store
// bits.
inline CodedTree code_tree(const Tree& tree, const Matrix& X, std::span<const std::int32_t> variable_of,
                           std::size_t n_variables, std::size_t few_rows) {
    const bool has_bits = tree.rows.size() <= few_rows;
    CodedTree coded;
    coded.n_rows = tree.rows.size();
    coded.share_of_a_row = 1.0 / static_cast<double>(coded.n_rows);
    coded.rank = tree.rank.data();

    const std::vector<std::vector<float>> thresholds = find_thresholds(tree, variable_of);
    std::vector<std::uint16_t> position(X.n_columns, 0);
    for (std::size_t column = 0; column < X.n_columns; ++column) {
        if (thresholds[column].empty()) continue;
        if (coded.columns.size() == std::numeric_limits<std::uint16_t>::max())
            throw std::invalid_argument("A set may span at most 65535 columns.");
        position[column] = static_cast<std::uint16_t>(coded.columns.size());
        coded.columns.emplace_back();
        coded.columns.back().column = static_cast<std::int32_t>(column);
    }
    if (!has_bits) code_tree_columns(coded.columns, thresholds, tree, X);

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
        if (has_bits) append_left_rows(coded.left_rows, node, tree, X);
        const float threshold = largest_float_up_to(node.threshold);
        coded.codes.push_back({code_of(thresholds[column], threshold), position[column], node.missing_left});
        coded.nodes.push_back({threshold, slot[i], code_of(thresholds[column], threshold), position[column],
                               static_cast<std::uint8_t>(variable_of[column]), node.missing_left});
    }
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
    std::size_t n_columns = 0;  // of the table
    const Forest* forest = nullptr;
    std::vector<CodedTree> trees;
    std::vector<std::vector<float>> thresholds;      // by column of the table: those of all trees, ascending
    std::vector<std::vector<std::int32_t>> columns;  // by variable

    std::size_t n_bytes() const {
        std::size_t n = 0;
        for (const CodedTree& tree : trees) n += tree.n_bytes();
        for (const std::vector<float>& t : thresholds) n += t.size() * sizeof(float);
        return n;
    }

    // Values of a column with the same code are on the same side of every split. Missing values have the largest code.
    std::uint32_t code(std::int32_t column, float value) const {
        const std::vector<float>& t = thresholds[static_cast<std::size_t>(column)];
        return value == value ? code_of(t, value) : static_cast<std::uint32_t>(t.size()) + 1;
    }
};

// Fills in the columns of the variables and the thresholds on them.
inline void find_columns(Projection& projection, std::span<const std::int32_t> variable_of) {
    projection.columns.resize(projection.n_variables);
    projection.thresholds.resize(variable_of.size());
    for (std::size_t column = 0; column < variable_of.size(); ++column)
        if (variable_of[column] != kNoVariable)
            projection.columns[static_cast<std::size_t>(variable_of[column])].push_back(
                static_cast<std::int32_t>(column));
    for (const CodedTree& tree : projection.trees)
        for (const CodedNode& node : tree.nodes)
            projection.thresholds[static_cast<std::size_t>(tree.columns[node.column].column)].push_back(node.threshold);
    for (std::vector<float>& t : projection.thresholds) {
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
        t.shrink_to_fit();
    }
}

inline void check_variables(std::span<const std::int32_t> variable_of, std::size_t n_variables, std::size_t n_columns) {
    if (variable_of.size() != n_columns)
        throw std::invalid_argument("There must be one variable number for each column of the table.");
    if (n_variables > kMaxVariables) throw std::invalid_argument("A projection holds at most 128 variables.");
    for (const std::int32_t v : variable_of)
        if (v < kNoVariable || v >= static_cast<std::int32_t>(n_variables))
            throw std::invalid_argument("A variable number is out of range.");
}

}  // namespace suffice
