// One column of the table, coded by all thresholds that the forest has on it. Every set with the column shares it.
// (TreeColumn in projection.hpp is coded by the thresholds of one tree.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "code_interval.hpp"
#include "forest.hpp"
#include "thresholds.hpp"

namespace suffice {

inline constexpr CodeInterval kOnlyMissing{1, 0, true};
// Takes the place of a code, or of a position among codes, if the value is missing.
inline constexpr std::uint32_t kMissing = 0xffffffff;

struct ForestColumn {
    std::vector<float> thresholds;      // ascending
    std::vector<std::uint64_t> weight;  // by threshold: the number of rows that the forest splits there
    std::vector<std::uint32_t> codes;   // by training row; kMissing if the value is missing
    // By tree: the codes of the thresholds that it splits the column at, breadth-first. Values up to the code go left.
    std::vector<std::vector<std::uint32_t>> codes_of_splits;
    float smallest = std::numeric_limits<float>::infinity();
    float largest = -std::numeric_limits<float>::infinity();
    bool has_missing = false;

    std::uint32_t largest_code() const { return static_cast<std::uint32_t>(thresholds.size()); }
    std::uint32_t code(float value) const { return std::isnan(value) ? kMissing : code_of(thresholds, value); }
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
    }
    ForestColumn out;
    for (const auto& [threshold, n_split_rows] : weight) {
        out.thresholds.push_back(threshold);
        out.weight.push_back(n_split_rows);
    }
    out.codes_of_splits.resize(forest.trees.size());
    for (std::size_t t = 0; t < forest.trees.size(); ++t)
        for (const Node& node : forest.trees[t].nodes)
            if (!node.is_leaf() && node.column == column)
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

}  // namespace suffice
