// A set of variables that is free to change at a row, or at all rows of a region: the axes of its columns, the training
// rows as points on them, and the leaves that it reaches as boxes (docs/method.md, 7.1 and 7.3).
#pragma once

#include <unordered_map>

#include "reach.hpp"

namespace suffice {

inline ValueInterval common_part(const ValueInterval& a, const ValueInterval& b) {
    ValueInterval out{std::max(a.low, b.low), std::min(a.high, b.high), false, a.missing && b.missing};
    out.has_values = a.has_values && b.has_values && out.low < out.high;
    return out;
}

// A column, cut into pieces at thresholds. A position numbers the pieces that may be reached; boxes over positions are
// CodeBoxes.
class Axis {
  public:
    // The pieces within `limits` that hold one of the values in `allowed`; all of them if it is empty.
    Axis(std::size_t column, std::vector<float> thresholds, const ValueInterval& limits, std::span<const float> allowed)
        : column_(column), thresholds_(std::move(thresholds)), limits_(limits), allowed_(allowed) {
        if (!limits.has_values) return;
        const auto [first, last] = ends(limits);
        for (std::uint32_t code = first; allowed.empty() && code <= last; ++code) codes_.push_back(code);
        for (const float value : allowed) {
            const std::uint32_t code = code_of(thresholds_, value);
            if (is_within_limits(value) && (codes_.empty() || codes_.back() != code)) codes_.push_back(code);
        }
    }

    std::size_t column() const { return column_; }
    CodeInterval everything() const { return positions(limits_); }

    // The position of a value; kNothing if it may not be taken.
    CodeInterval position(float value) const {
        if (std::isnan(value)) return limits_.missing ? kOnlyMissing : kNothing;
        if (!limits_.has_values || !is_within_limits(value)) return kNothing;
        if (!allowed_.empty() && !std::binary_search(allowed_.begin(), allowed_.end(), value)) return kNothing;
        const auto at = std::lower_bound(codes_.begin(), codes_.end(), code_of(thresholds_, value));
        return ForestColumn::interval(static_cast<std::uint32_t>(at - codes_.begin()));
    }

    // The positions of the pieces that meet an interval of values within the limits.
    CodeInterval positions(const ValueInterval& values) const {
        const ValueInterval within = common_part(values, limits_);
        CodeInterval out{1, 0, within.missing};
        if (!within.has_values) return out;
        const auto [first, last] = ends(within);
        const auto begin = std::lower_bound(codes_.begin(), codes_.end(), first);
        const auto end = std::upper_bound(begin, codes_.end(), last);
        if (begin == end) return out;
        out.lo = static_cast<std::uint32_t>(begin - codes_.begin());
        out.hi = static_cast<std::uint32_t>(end - codes_.begin()) - 1;
        return out;
    }

    // The values of some positions within the limits, with the pieces between them that may not be reached.
    ValueInterval values(const CodeInterval& positions) const {
        if (!positions.has_values()) return values_of(positions, thresholds_);
        const CodeInterval codes{codes_[positions.lo], codes_[positions.hi], positions.missing};
        return common_part(values_of(codes, thresholds_), limits_);
    }

  private:
    bool is_within_limits(float value) const { return limits_.low < value && value <= limits_.high; }

    // The codes of the smallest and the largest value in an interval.
    std::pair<std::uint32_t, std::uint32_t> ends(const ValueInterval& values) const {
        return {code_of(thresholds_, std::nextafter(values.low, kInfinity)), code_of(thresholds_, values.high)};
    }

    std::size_t column_;
    std::vector<float> thresholds_;  // ascending
    ValueInterval limits_;
    std::span<const float> allowed_;
    std::vector<std::uint32_t> codes_;  // by position: the piece between two thresholds; ascending
};

inline bool is_empty(const CodeBox& box) {
    return std::any_of(box.begin(), box.end(), [](const CodeInterval& side) { return side.is_empty(); });
}

// Training rows that have the same positions, with their weights.
struct WeightedPoints {
    CodeBoxes positions;                // by point
    std::vector<double> wanted, other;  // the weights of its rows with the wanted outcome, and of the others

    std::size_t size() const { return wanted.size(); }
    const CodeInterval* operator[](std::size_t p) const { return positions[p]; }
};

// The leaves that can be reached by changing the variables of one set, over its axes. Axes beyond `n_axes` are columns
// that do not change but vary in the region.
struct LeafBoxes {
    std::size_t n_axes = 0;
    CodeBox rest;                       // all positions of the axes beyond
    CodeBoxes positions;                // by leaf
    std::vector<double> share;          // by leaf: of the wanted outcome
    std::vector<std::size_t> begin{0};  // by tree: its first leaf; and the number of all leaves

    std::size_t n_trees() const { return begin.size() - 1; }
    const CodeInterval* operator[](std::size_t leaf) const { return positions[leaf]; }
};

// What a search of a box finds.
struct FoundChange {
    bool exists = false;
    CodeBox box;
    double value = 0.0;  // the plausibility
    double bound = 0.0;  // no box has a larger one
};

// One box, or the nearest miss.
struct Change {
    std::uint64_t set = 0;
    ValueBox box;                    // over all columns
    double cdp = 0.0;                // P(wanted | what does not change)
    double plausibility = 0.0;       // P(in the box | what does not change)
    double bound = 0.0;              // no box of the set has a larger plausibility
    double mean = 0.0;               // P(wanted | in the box, what does not change)
    double probability = 0.0;        // the nearest miss: what the forest says at its point
    std::vector<std::int64_t> rows;  // training rows with a weight in the box
    std::vector<double> weights;     // their weights
};

class FreeSet {
  public:
    std::uint64_t set;
    CodeBox whole;          // everything that may be reached
    CodeBox start;          // what can be written of the region on the axes
    WeightedPoints points;  // the values of the training rows with a weight
    LeafBoxes leaves;       // only with `everywhere`

    FreeSet(const RegionReach& reach, const SetWeights& weights)
        : set(weights.set), reach_(reach), cdp_(weights.cdp), axis_of_(reach.region.size(), kNoAxis) {
        std::vector<std::vector<float>> ends = find_ends();
        for (std::size_t c = 0; c < ends.size(); ++c) {
            if (!is_free(c)) continue;
            const Axis& axis = add_axis(c, std::move(ends[c]), reach_.limits[c], reach_.options.allowed[c]);
            whole.push_back(axis.everything());
            start.push_back(axis.positions(reach_.region[c]));
        }
        leaves.n_axes = axes_.size();
        for (std::size_t c = 0; c < ends.size(); ++c)  // what does not change but varies
            if (!is_free(c) && !ends[c].empty())
                leaves.rest.push_back(add_axis(c, std::move(ends[c]), reach_.region[c], {}).everything());
        if (has_empty_axis()) return;
        place_rows(weights);
        if (reach_.options.everywhere) place_leaves();
    }
    FreeSet(const FreeSet&) = delete;
    FreeSet& operator=(const FreeSet&) = delete;

    bool has_empty_axis() const { return is_empty(whole) || is_empty(leaves.rest); }

    // What no box may meet: the region itself, and what changes take up in the space of this set.
    CodeBoxes forbidden_by(const std::vector<Change>& changes) const {
        CodeBoxes forbidden(n_axes());
        if (!is_empty(start)) forbidden.append(start.data());
        for (const Change& change : changes) {
            CodeBox taken = start;
            bool meets_region = true;  // in the columns that do not change here
            for (std::size_t c = 0; c < axis_of_.size(); ++c) {
                if (!(reach_.space.bit_of[c] & change.set)) continue;
                if (is_free(c))
                    taken[axis_of_[c]] = axes_[axis_of_[c]].positions(change.box[c]);
                else
                    meets_region &= !common_part(change.box[c], reach_.region[c]).is_empty();
            }
            if (meets_region && !is_empty(taken)) forbidden.append(taken.data());
        }
        return forbidden;
    }

    Change measure(const CodeBox& box) const {
        Change change;
        change.set = set;
        change.cdp = cdp_;
        change.box.resize(axis_of_.size());
        for (std::size_t a = 0; a < n_axes(); ++a) change.box[axes_[a].column()] = axes_[a].values(box[a]);
        double wanted = 0.0;
        for (const PlacedRow& row : rows_) {
            if (!meet(box, points[row.point])) continue;
            change.rows.push_back(row.row);
            change.weights.push_back(row.weight);
            change.plausibility += row.weight;
            if (row.is_wanted) wanted += row.weight;
        }
        change.mean = change.plausibility > 0.0 ? wanted / change.plausibility : 0.0;
        return change;
    }

  private:
    static constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);

    // A training row with a weight whose values may be taken.
    struct PlacedRow {
        std::uint32_t row;
        bool is_wanted;
        std::size_t point;
        double weight;
    };

    std::size_t n_axes() const { return leaves.n_axes; }
    bool is_free(std::size_t column) const { return reach_.space.bit_of[column] & set; }

    const Axis& add_axis(std::size_t column, std::vector<float> ends, const ValueInterval& limits,
                         std::span<const float> allowed) {
        axis_of_[column] = axes_.size();
        return axes_.emplace_back(column, std::move(ends), limits, allowed);
    }

    // The thresholds of the columns that matter for the set, by column.
    std::vector<std::vector<float>> find_ends() const {
        std::vector<std::vector<float>> ends(axis_of_.size());
        if (!reach_.options.everywhere) {
            for (std::size_t c = 0; c < ends.size(); ++c)
                if (is_free(c)) ends[c] = reach_.space.columns[c]->thresholds;
            return ends;
        }
        const auto add = [&](std::size_t c, const ValueInterval& interval) {
            if (std::isfinite(interval.low)) ends[c].push_back(interval.low);
            if (std::isfinite(interval.high)) ends[c].push_back(interval.high);
        };
        for (const ReachedTree& tree : reach_.trees())
            tree.for_each_leaf(set, [&](const ReachedLeaf& leaf) {
                for (const auto& [c, interval] : leaf.passages) {
                    if (!is_free(c) && contains(interval, reach_.region[c])) continue;
                    add(c, interval);
                    if (!is_free(c) && ends[c].empty()) ends[c].push_back(0.0f);  // known or missing
                }
            });
        for (std::size_t c = 0; c < reach_.ends_around().size(); ++c)
            if (is_free(c)) add(c, reach_.ends_around()[c]);
        for (auto& of_column : ends) {
            std::sort(of_column.begin(), of_column.end());
            of_column.erase(std::unique(of_column.begin(), of_column.end()), of_column.end());
        }
        return ends;
    }

    static bool contains(const ValueInterval& a, const ValueInterval& b) {
        return (a.missing || !b.missing) && (!b.has_values || (a.low <= b.low && b.high <= a.high));
    }

    void place_rows(const SetWeights& weights) {
        points.positions.clear(n_axes());
        std::unordered_map<std::uint64_t, std::size_t> point_of;  // by the hash of its positions
        CodeBox at(n_axes());
        for (std::size_t i = 0; i < weights.rows.size(); ++i) {
            const std::uint32_t row = weights.rows[i];
            for (std::size_t a = 0; a < n_axes(); ++a)
                at[a] = axes_[a].position(reach_.space.forest.X.row(row)[axes_[a].column()]);
            if (is_empty(at)) continue;
            std::uint64_t hash = 0;
            for (const CodeInterval& side : at) hash = add_to_hash(hash, side.missing ? kMissing : side.lo);
            auto [place, is_new] = point_of.try_emplace(hash, points.size());
            while (!is_new && !std::equal(at.begin(), at.end(), points[place->second]))  // another point is there
                std::tie(place, is_new) = point_of.try_emplace(++hash, points.size());
            if (is_new) {
                points.positions.append(at.data());
                points.wanted.push_back(0.0);
                points.other.push_back(0.0);
            }
            const bool is_wanted = reach_.wanted.holds(row);
            (is_wanted ? points.wanted : points.other)[place->second] += weights.weight[i];
            rows_.push_back({row, is_wanted, place->second, weights.weight[i]});
        }
    }

    void place_leaves() {
        CodeBox everything = whole;
        everything.insert(everything.end(), leaves.rest.begin(), leaves.rest.end());
        leaves.positions.clear(axes_.size());
        for (const ReachedTree& tree : reach_.trees()) {
            tree.for_each_leaf(set, [&](const ReachedLeaf& leaf) {
                CodeBox box = everything;
                for (const auto& [c, interval] : leaf.passages)
                    if (axis_of_[c] != kNoAxis) box[axis_of_[c]] = axes_[axis_of_[c]].positions(interval);
                if (is_empty(box)) return;
                leaves.positions.append(box.data());
                leaves.share.push_back(leaf.share);
            });
            leaves.begin.push_back(leaves.share.size());
        }
    }

    const RegionReach& reach_;
    double cdp_;
    std::vector<Axis> axes_;            // those of the set, then what varies in the region
    std::vector<std::size_t> axis_of_;  // by column
    std::vector<PlacedRow> rows_;
};

}  // namespace suffice
