// A column of the table, coded by all thresholds of the forest. (SplitCode in projection.hpp has the codes of one
// tree.)
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "box.hpp"
#include "forest.hpp"
#include "thresholds.hpp"

namespace suffice {

inline std::uint64_t add_to_hash(std::uint64_t hash, std::uint32_t code) {
    hash = (hash ^ code) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

// The order in which rules look at the training rows. Any first part of it is spread evenly over the table, whatever
// the period of its rows.
class RowOrder {
  public:
    explicit RowOrder(std::size_t n_rows) : n_rows_(n_rows) {
        step_ = static_cast<std::uint64_t>(static_cast<double>(n_rows) * 0.6180339887498949);  // the golden ratio
        while (std::gcd(step_, n_rows_) != 1) --step_;
    }
    std::size_t row(std::size_t k) const { return k * step_ % n_rows_; }

  private:
    std::uint64_t n_rows_, step_ = 1;
};

struct ForestColumn {
    // The training rows, in codes.
    struct Rows {
        std::vector<std::uint32_t> in_order;  // by position in RowOrder; kMissing if the value is missing
        float smallest = kInfinity, largest = -kInfinity;
        bool has_missing = false;
    };

    std::int32_t column;
    std::vector<float> thresholds;      // ascending
    std::vector<std::uint64_t> weight;  // by threshold: the number of rows that the forest splits there
    // By tree: the codes of the thresholds that it splits the column at, breadth-first. Values up to the code go left.
    std::vector<std::vector<std::uint32_t>> codes_of_splits;

    ForestColumn(const Forest& forest, std::int32_t number) : column(number), codes_of_splits(forest.trees.size()) {
        std::map<float, std::uint64_t> weights;
        for_each_split(forest, [&](std::size_t, const Node& split) {
            weights[largest_float_up_to(split.threshold)] += split.end - split.begin;  // 0 between categories
        });
        for (const auto& [threshold, n_split_rows] : weights) {
            thresholds.push_back(threshold);
            weight.push_back(n_split_rows);
        }
        for_each_split(forest, [&](std::size_t t, const Node& split) {
            codes_of_splits[t].push_back(code_of(thresholds, largest_float_up_to(split.threshold)));
        });
    }

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

    // Only rules need the rows: they are coded when they are first asked for.
    const Rows& rows(const Forest& forest) const {
        std::call_once(is_coded_, [&] { rows_ = code_rows(forest); });
        return rows_;
    }

  private:
    template <class Do>
    void for_each_split(const Forest& forest, const Do& act) const {
        for (std::size_t t = 0; t < forest.trees.size(); ++t)
            for (const auto* splits : {&forest.trees[t].nodes, &forest.trees[t].completing})
                for (const Node& node : *splits)
                    if (node.column == column) act(t, node);  // -1 at a leaf
    }

    Rows code_rows(const Forest& forest) const {
        Rows out;
        std::vector<std::uint32_t> codes;  // by row of the table
        for (std::size_t i = 0; i < forest.X.n_rows; ++i) {
            const float value = forest.X.row(i)[column];
            codes.push_back(code(value));
            if (std::isnan(value)) {
                out.has_missing = true;
                continue;
            }
            out.smallest = std::min(out.smallest, value);
            out.largest = std::max(out.largest, value);
        }
        const RowOrder order(codes.size());
        for (std::size_t k = 0; k < codes.size(); ++k) out.in_order.push_back(codes[order.row(k)]);
        return out;
    }

    mutable std::once_flag is_coded_;
    mutable Rows rows_;
};

using ForestColumns = std::vector<std::shared_ptr<const ForestColumn>>;

}  // namespace suffice
