// The training table, coded by all thresholds of the forest: its columns, which all sets share, and the points of a
// set. Rows that no split of the forest on S separates are one point: a table of categories, whole numbers or repeated
// measurements has far fewer points than rows. (TreeColumn in projection.hpp is coded by the thresholds of one tree.)
#pragma once

#include <bit>
#include <map>
#include <memory>

#include "box.hpp"
#include "forest.hpp"
#include "kernels.hpp"
#include "thresholds.hpp"

namespace suffice {

inline std::uint64_t add_to_hash(std::uint64_t hash, std::uint32_t code) {
    hash = (hash ^ code) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

struct ForestColumn {
    std::vector<float> thresholds;      // ascending
    std::vector<std::uint64_t> weight;  // by threshold: the number of rows that the forest splits there
    std::vector<std::uint32_t> codes;   // by training row; kMissing if the value is missing
    // By tree: the codes of the thresholds that it splits the column at, breadth-first. Values up to the code go left.
    std::vector<std::vector<std::uint32_t>> codes_of_splits;
    float smallest = kInfinity;
    float largest = -kInfinity;
    bool has_missing = false;

    std::uint32_t largest_code() const { return static_cast<std::uint32_t>(thresholds.size()); }
    std::uint32_t code(float value) const { return std::isnan(value) ? kMissing : code_of(thresholds, value); }
    // All codes, and missing values. No value lies beyond a threshold at infinity.
    CodeInterval all_codes() const {
        const std::vector<float>& t = thresholds;
        const std::uint32_t lo = !t.empty() && t.front() == -kInfinity ? 1 : 0;
        const std::uint32_t n_beyond = !t.empty() && t.back() == kInfinity ? 1 : 0;
        return {lo, largest_code() - n_beyond, true};
    }
    // The interval of a single code.
    static CodeInterval interval(std::uint32_t code) {
        return code == kMissing ? kOnlyMissing : CodeInterval{code, code, false};
    }
};

using ForestColumns = std::vector<std::shared_ptr<const ForestColumn>>;

inline ForestColumn code_forest_column(const Forest& forest, std::int32_t column) {
    std::map<float, std::uint64_t> weight;
    std::vector<std::uint64_t> n_rows;
    for (const Tree& tree : forest.trees) {
        n_rows.resize(tree.nodes.size());
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
            const Node& node = tree.nodes[i];
            if (node.is_leaf()) {
                n_rows[i] = node.end - node.begin;
                continue;
            }
            n_rows[i] = n_rows[static_cast<std::size_t>(node.left)] + n_rows[static_cast<std::size_t>(node.right)];
            if (node.column == column) weight[largest_float_up_to(node.threshold)] += n_rows[i];
        }
        for (const Node& split : tree.completing)
            if (split.column == column) weight.try_emplace(largest_float_up_to(split.threshold), 0);
    }
    ForestColumn out;
    for (const auto& [threshold, n_split_rows] : weight) {
        out.thresholds.push_back(threshold);
        out.weight.push_back(n_split_rows);
    }
    out.codes_of_splits.resize(forest.trees.size());
    for (std::size_t t = 0; t < forest.trees.size(); ++t)
        for (const auto* splits : {&forest.trees[t].nodes, &forest.trees[t].completing})
            for (const Node& node : *splits)
                if (node.column == column)  // -1 at a leaf
                    out.codes_of_splits[t].push_back(code_of(out.thresholds, largest_float_up_to(node.threshold)));
    out.codes.resize(forest.X.n_rows);
    for (std::size_t i = 0; i < forest.X.n_rows; ++i) {
        const float value = forest.X.row(i)[column];
        out.codes[i] = out.code(value);
        if (std::isnan(value)) {
            out.has_missing = true;
            continue;
        }
        out.smallest = std::min(out.smallest, value);
        out.largest = std::max(out.largest, value);
    }
    return out;
}

struct Points {
    std::size_t size = 0;
    std::vector<std::uint32_t> of_row;              // by row of the table: its point
    std::vector<std::vector<std::uint32_t>> codes;  // by column of S and point; kMissing if the value is missing
    CodeBoxes coordinates;                          // by point: its codes, and the number of training rows

    std::size_t n_bytes() const {
        return of_row.size() * sizeof(std::uint32_t) + codes.size() * size * sizeof(std::uint32_t) +
               coordinates.n_bytes();
    }
};

// Numbers the points by their first row, and returns the first row of each.
inline std::vector<std::uint32_t> number_points(std::size_t n_rows, const ForestColumns& forest_columns,
                                                std::vector<std::uint32_t>& of_row) {
    constexpr std::uint32_t kFree = 0xffffffff;
    const auto bits = static_cast<int>(std::bit_width(2 * n_rows));
    std::vector<std::uint32_t> slots(std::size_t{1} << bits, kFree);  // points by the hash of their codes
    std::vector<std::uint64_t> hash(n_rows, 0);
    for (const auto& column : forest_columns)  // column by column, so that each is read from its beginning to its end
        for (std::size_t i = 0; i < n_rows; ++i) hash[i] = add_to_hash(hash[i], column->codes[i]);
    std::vector<std::uint32_t> first_row;
    const auto is_at = [&](std::size_t row, std::uint32_t point) {
        return std::all_of(forest_columns.begin(), forest_columns.end(),
                           [&](const auto& column) { return column->codes[row] == column->codes[first_row[point]]; });
    };
    of_row.resize(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::size_t slot = (hash[i] * 0x9E3779B97F4A7C15ull) >> (64 - bits);
        while (slots[slot] != kFree && !is_at(i, slots[slot])) slot = (slot + 1) & (slots.size() - 1);
        if (slots[slot] == kFree) {
            slots[slot] = static_cast<std::uint32_t>(first_row.size());
            first_row.push_back(static_cast<std::uint32_t>(i));
        }
        of_row[i] = slots[slot];
    }
    return first_row;
}

// `forest_columns` are the columns of S.
inline Points find_points(std::size_t n_rows, const ForestColumns& forest_columns) {
    Points points;
    const std::vector<std::uint32_t> first_row = number_points(n_rows, forest_columns, points.of_row);
    points.size = first_row.size();
    std::vector<std::uint32_t> n_rows_of(points.size, 0);
    for (const std::uint32_t point : points.of_row) ++n_rows_of[point];
    points.codes.assign(forest_columns.size(), std::vector<std::uint32_t>(points.size));
    points.coordinates.clear(forest_columns.size());
    CodeBox point(forest_columns.size());
    for (std::size_t p = 0; p < points.size; ++p) {
        for (std::size_t c = 0; c < forest_columns.size(); ++c) {
            points.codes[c][p] = forest_columns[c]->codes[first_row[p]];
            point[c] = ForestColumn::interval(points.codes[c][p]);
        }
        points.coordinates.append(point.data(), n_rows_of[p]);
    }
    return points;
}

}  // namespace suffice
