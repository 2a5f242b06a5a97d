// A forest seen through some variables: the splits on them, and the training rows as integer codes.
//
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
inline constexpr std::size_t kMaxVariables = 64;

struct CodedColumn {
    std::int32_t column;  // in the table
    int width;            // bytes a code
    std::uint32_t missing_code;
    std::uint32_t n_missing;
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
    std::size_t n_rows = 0;
    const std::uint32_t* rank = nullptr;  // of the forest's tree
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

inline CodedColumn code_column(std::int32_t column, const std::vector<float>& thresholds, const Tree& tree,
                               const Matrix& X) {
    CodedColumn out{};
    out.column = column;
    out.missing_code = static_cast<std::uint32_t>(thresholds.size()) + 1;
    out.below.assign(thresholds.size() + 2, 0);
    std::vector<std::uint32_t> code(tree.rows.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
        const float value = X.row(tree.rows[i])[column];
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
    return out;
}

// variable_of[column] is the variable that a column belongs to, or kNoVariable.
inline CodedTree code_tree(const Tree& tree, const Matrix& X, std::span<const std::int32_t> variable_of) {
    CodedTree coded;
    coded.n_rows = tree.rows.size();
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
        coded.columns.push_back(code_column(static_cast<std::int32_t>(column), t, tree, X));
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
    if (n_variables > kMaxVariables) throw std::invalid_argument("A projection holds at most 64 variables.");
    for (const std::int32_t v : variable_of)
        if (v < kNoVariable || v >= static_cast<std::int32_t>(n_variables))
            throw std::invalid_argument("A variable number is out of range.");
}

}  // namespace suffice
