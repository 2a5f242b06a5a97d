// A forest seen through some variables: the splits on them, and which training rows pass them.
//
// In a tree of few rows each split holds a bit for every row: does it go left? That takes a bit for each split and row,
// so in larger trees the rows are integer codes instead.
// For one tree and column, the code of a value is the number of the tree's thresholds below it, so that
// "value <= j-th threshold" is "code <= j" and a box over columns is a range of codes for each. Missing values have a
// code above all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"

namespace suffice {

inline constexpr std::int32_t kNoVariable = -1;
// A set of variables is a number with a bit for each: a word in most places, wider where sets are searched.
inline constexpr std::size_t kMaxVariables = 128;
inline constexpr std::size_t kWordVariables = 64;
__extension__ typedef unsigned __int128 WideSet;
// Trees of at most this many rows hold bits. Measured on breast cancer (569 rows): twice as fast as codes.
inline constexpr std::size_t kFewRows = 1024;

struct CodedColumn {
    std::int32_t column = 0;  // in the table; all that follows is empty in a tree that holds bits
    int width = 0;            // bytes a code
    std::uint32_t missing_code = 0;
    std::uint32_t n_missing = 0;
    std::vector<std::uint32_t> below;  // below[c]: rows with a code less than c, missing ones left out
    std::vector<std::byte> codes, block_lo, block_hi;

    CodeView view() const { return {codes.data(), block_lo.data(), block_hi.data(), width}; }
    bool has_missing() const { return n_missing > 0; }
    std::uint32_t count(const CodeRange& range) const {
        const std::uint32_t inside = range.lo <= range.hi ? below[range.hi + 1] - below[range.lo] : 0;
        return inside + (range.also == kNoCode ? 0 : n_missing);
    }
    CodeRange everything() const { return {0, missing_code - 1, has_missing() ? missing_code : kNoCode}; }
};

// A split on one of the variables.
struct CodedNode {
    float threshold;       // the largest float32 not above scikit-learn's float64 threshold: the same comparison
    std::uint32_t slot;    // where departure masks hold this node's (see cell.hpp): 1 + 2 parent + side, 0 for none
    std::uint32_t code;    // values with at most this code go left
    std::uint16_t column;  // position in CodedTree::columns
    std::uint8_t variable;
    bool missing_left;
};

struct CodedTree {
    std::vector<CodedNode> nodes;  // breadth-first
    std::vector<CodedColumn> columns;
    std::vector<std::uint64_t> left_rows;  // a tree of few rows: for each node the blocks of rows that go left
    std::size_t n_rows = 0;
    double share_of_a_row = 0.0;          // 1 / n_rows
    const std::uint32_t* rank = nullptr;  // of the forest's tree

    bool has_bits() const { return !left_rows.empty(); }
};

inline float largest_float_up_to(double value) {
    const float nearest = static_cast<float>(value);
    return static_cast<double>(nearest) <= value ? nearest
                                                 : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

template <class Code>
void write_codes(CodedColumn& out, std::span<const std::uint32_t> code) {
    const std::size_t blocks = n_blocks(code.size());
    const std::size_t padded_blocks = n_blocks(blocks) * kBlock;
    out.codes.assign(blocks * kBlock * sizeof(Code), std::byte{0});
    // A padding block has lo > hi: it overlaps no range.
    out.block_lo.assign(padded_blocks * sizeof(Code), std::byte{0xFF});
    out.block_hi.assign(padded_blocks * sizeof(Code), std::byte{0});
    auto* codes = reinterpret_cast<Code*>(out.codes.data());
    auto* lo = reinterpret_cast<Code*>(out.block_lo.data());
    auto* hi = reinterpret_cast<Code*>(out.block_hi.data());
    for (std::size_t i = 0; i < code.size(); ++i) {
        codes[i] = static_cast<Code>(code[i]);
        lo[i / kBlock] = std::min(lo[i / kBlock], codes[i]);
        hi[i / kBlock] = std::max(hi[i / kBlock], codes[i]);
    }
}

inline void code_column(CodedColumn& out, const std::vector<float>& thresholds, const Tree& tree, const Matrix& X) {
    out.missing_code = static_cast<std::uint32_t>(thresholds.size()) + 1;
    out.below.assign(thresholds.size() + 2, 0);
    std::vector<std::uint32_t> code(tree.rows.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
        const float value = X.row(tree.rows[i])[out.column];
        if (std::isnan(value)) {
            code[i] = out.missing_code;
            ++out.n_missing;
        } else {
            code[i] = static_cast<std::uint32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), value) -
                                                 thresholds.begin());
            ++out.below[code[i] + 1];
        }
    }
    for (std::size_t c = 1; c < out.below.size(); ++c) out.below[c] += out.below[c - 1];
    out.width = out.missing_code < 0xFF ? 1 : out.missing_code < 0xFFFF ? 2 : 4;
    if (out.width == 1) write_codes<std::uint8_t>(out, code);
    if (out.width == 2) write_codes<std::uint16_t>(out, code);
    if (out.width == 4) write_codes<std::uint32_t>(out, code);
}

inline void append_left_rows(std::vector<std::uint64_t>& left_rows, const Node& node, const Tree& tree,
                             const Matrix& X) {
    const std::size_t begin = left_rows.size();
    left_rows.resize(begin + n_blocks(tree.rows.size()), 0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i)
        if (node.goes_left(X.row(tree.rows[i])[node.column]))
            left_rows[begin + i / kBlock] |= std::uint64_t{1} << (i % kBlock);
}

// variable_of[column] is the variable that a column belongs to, or kNoVariable. Trees of at most `few_rows` rows hold
// bits.
inline CodedTree code_tree(const Tree& tree, const Matrix& X, std::span<const std::int32_t> variable_of,
                           std::size_t few_rows) {
    const bool has_bits = tree.rows.size() <= few_rows;
    CodedTree coded;
    coded.n_rows = tree.rows.size();
    coded.share_of_a_row = 1.0 / static_cast<double>(coded.n_rows);
    coded.rank = tree.rank.data();

    std::vector<std::vector<float>> thresholds(X.n_columns);
    for (const Node& node : tree.nodes)
        if (!node.is_leaf() && variable_of[static_cast<std::size_t>(node.column)] != kNoVariable)
            thresholds[static_cast<std::size_t>(node.column)].push_back(largest_float_up_to(node.threshold));
    std::vector<std::uint16_t> position(X.n_columns, 0);
    for (std::size_t column = 0; column < X.n_columns; ++column) {
        std::vector<float>& t = thresholds[column];
        if (t.empty()) continue;
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
        if (coded.columns.size() == std::numeric_limits<std::uint16_t>::max())
            throw std::invalid_argument("A set may span at most 65535 columns.");
        position[column] = static_cast<std::uint16_t>(coded.columns.size());
        coded.columns.emplace_back();
        coded.columns.back().column = static_cast<std::int32_t>(column);
        if (!has_bits) code_column(coded.columns.back(), t, tree, X);
    }

    // Splits on other columns send x both ways and cut nothing off: their children hang on the nearest split on a
    // variable instead.
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
        const std::vector<float>& t = thresholds[column];
        coded.nodes.push_back({threshold, slot[i],
                               static_cast<std::uint32_t>(std::lower_bound(t.begin(), t.end(), threshold) - t.begin()),
                               position[column], static_cast<std::uint8_t>(variable_of[column]), node.missing_left});
    }
    return coded;
}

struct Projection {
    std::size_t n_variables = 0;
    std::size_t n_columns = 0;  // of the table
    const Forest* forest = nullptr;
    std::vector<CodedTree> trees;
};

inline void check_variables(std::span<const std::int32_t> variable_of, std::size_t n_variables, std::size_t n_columns) {
    if (variable_of.size() != n_columns)
        throw std::invalid_argument("There must be one variable number for each column of the table.");
    if (n_variables > kMaxVariables) throw std::invalid_argument("A projection holds at most 128 variables.");
    for (const std::int32_t v : variable_of)
        if (v < kNoVariable || v >= static_cast<std::int32_t>(n_variables))
            throw std::invalid_argument("A variable number is out of range.");
}

}  // namespace suffice
