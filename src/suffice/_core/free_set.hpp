// A set of variables that is free to change at a row, or at all rows of a region: the weights of the training rows
// given what does not change, the axes of its columns, and the leaves that it reaches (docs/method.md, 7.1 and 7.3).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "forest.hpp"
#include "forest_column.hpp"
#include "reach.hpp"

namespace suffice {

// One box, or the nearest miss.
struct Change {
    std::uint64_t set = 0;
    ValueBox box;                     // over the columns of the set, in their order
    double cdp = 0.0;                 // P(wanted | what does not change)
    double plausibility = 0.0;        // P(in the box | what does not change)
    double bound = 0.0;               // no box of the set has a larger plausibility
    double mean = 0.0;                // P(wanted | in the box, what does not change)
    double probability = 0.0;         // the nearest miss: what the forest says at its point
    std::vector<std::uint32_t> rows;  // training rows with a weight in the box
    std::vector<double> weights;      // their weights
};

// The training rows with a weight given what does not change if `set` is free to change.
struct SetWeights {
    std::uint64_t set = 0;
    std::vector<std::uint32_t> rows;  // ascending
    std::vector<double> weight;       // by position in `rows`
    double cdp = 0.0;                 // the weight of those with the wanted outcome
};

// What the rows of one region reach in the forest if they may move to `limits`.
class RegionReach {
  public:
    RegionReach(const ChangeSpace& space, const ForestColumns& forest_columns, const LeafShares& share,
                const ChangeOptions& options, ValueBox region, ValueBox limits)
        : space_(space),
          forest_columns_(forest_columns),
          share_(share),
          everywhere_(options.everywhere),
          region_(std::move(region)),
          limits_(std::move(limits)),
          reached_(space.forest.trees.size()),
          most_shares_(space.forest.trees.size()),
          weight_(space.forest.X.n_rows, 0.0) {
        Reach reach(space, share.needs_rows());
        for (std::size_t t = 0; t < reached_.size(); ++t) {
            const Tree& tree = space.forest.trees[t];
            reached_[t] = reach.find(tree, region_, limits_, options.max_size);
            cells_.emplace_back(tree, space.forest.X, space.min_node_size);
            find_most_shares(t);
        }
        const double needed = sum_to_reach(options.pi, reached_.size());
        if (everywhere_ && most_sum(0, needed) >= needed) find_ends_around();
    }

    std::size_t n_variables() const { return space_.columns.size(); }

    // A bound of the sum of the shares at any point that S can reach; less than `needed` if that is certain early.
    double most_sum(std::uint64_t S, double needed) const {
        const std::size_t n_trees = reached_.size();
        double sum = 0.0;
        for (std::size_t t = 0; t < n_trees; ++t) {
            double most = 0.0;
            for (const auto& [mask, share] : most_shares_[t])
                if (!(mask & ~S) && share > most) most = share;
            sum += most;
            if (sum + static_cast<double>(n_trees - 1 - t) < needed) return sum;
        }
        return sum;
    }

    // The weights of the training rows given what does not change.
    SetWeights weigh(std::uint64_t S) {
        SetWeights out;
        out.set = S;
        const auto n_trees = static_cast<double>(reached_.size());
        for (std::size_t t = 0; t < reached_.size(); ++t) {
            const std::vector<std::uint32_t>& rows = cells_[t].rows(reached_[t], S);
            const double weight = 1.0 / (n_trees * static_cast<double>(rows.size()));
            for (const std::uint32_t row : rows) {
                if (weight_[row] == 0.0) out.rows.push_back(row);
                weight_[row] += weight;
            }
        }
        std::sort(out.rows.begin(), out.rows.end());
        for (const std::uint32_t row : out.rows) {
            if (share_.is_wanted(row)) out.cdp += weight_[row];
            out.weight.push_back(std::exchange(weight_[row], 0.0));
        }
        return out;
    }

  private:
    friend class FreeSet;

    // For each mask of reached leaves the largest share, so that sets without a change are found fast.
    void find_most_shares(std::size_t t) {
        auto& most = most_shares_[t];
        for (const ReachedLeaf& leaf : reached_[t].leaves) {
            const auto at = std::find_if(most.begin(), most.end(), [&](const auto& m) { return m.first == leaf.mask; });
            if (at == most.end())
                most.emplace_back(leaf.mask, share_(t, leaf.node));
            else
                at->second = std::max(at->second, share_(t, leaf.node));
        }
    }

    // The thresholds of the forest that are nearest to the region, by column: boxes may end there. Only if a point of
    // the region has the wanted outcome does a box that begins between these and those of reached leaves have it, too.
    void find_ends_around() {
        around_.assign(region_.size(), {});
        for (const Tree& tree : space_.forest.trees)
            for (const Node& node : tree.nodes) {
                if (node.is_leaf()) continue;
                const auto c = static_cast<std::size_t>(node.column);
                const ValueInterval& region = region_[c];
                const float threshold = largest_float_up_to(node.threshold);
                if (threshold <= region.low) around_[c].low = std::max(around_[c].low, threshold);
                if (threshold >= region.high) around_[c].high = std::min(around_[c].high, threshold);
            }
    }

    const ChangeSpace& space_;
    const ForestColumns& forest_columns_;  // by column of the table; only without `everywhere`
    const LeafShares& share_;
    bool everywhere_;
    ValueBox region_, limits_;
    std::vector<ReachedTree> reached_;
    std::vector<FixedCells> cells_;                                           // by tree
    std::vector<std::vector<std::pair<std::uint64_t, double>>> most_shares_;  // by tree: the largest share of a mask
    ValueBox around_;                                                         // by column
    std::vector<double> weight_;                                              // by training row; 0 between calls
};

// One set of a region: its axes, the training rows as points on them, and boxes.
class FreeSet {
  public:
    FreeSet(const RegionReach& reach, SetWeights weights)
        : reach_(reach),
          space_(reach.space_),
          region_(reach.region_),
          limits_(reach.limits_),
          set_(weights.set),
          weights_(std::move(weights)) {
        const std::size_t n_columns = region_.size();
        axis_of_.assign(n_columns, kNoAxis);
        for (std::uint64_t bits = set_; bits; bits &= bits - 1)
            for (const std::int32_t column : space_.columns[static_cast<std::size_t>(std::countr_zero(bits))])
                axis_of_[static_cast<std::size_t>(column)] = 0;
        std::vector<std::vector<float>> ends(n_columns);
        if (reach_.everywhere_) collect_ends(ends);
        for (std::size_t c = 0; c < n_columns; ++c) {  // in the order of the table
            if (axis_of_[c] == kNoAxis) continue;
            axis_of_[c] = axes_.size();
            auto thresholds = reach_.everywhere_ ? std::move(ends[c]) : reach_.forest_columns_[c]->thresholds;
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(thresholds), limits_[c], space_.allowed[c]);
            ends[c].clear();
        }
        n_set_axes_ = axes_.size();
        for (std::size_t c = 0; c < n_columns; ++c) {  // what does not change but varies
            if (ends[c].empty()) continue;
            axis_of_[c] = axes_.size();
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(ends[c]), region_[c], kAnyValue);
        }
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            whole_.push_back(axes_[a].everything());
            start_.push_back(axes_[a].positions(region_[static_cast<std::size_t>(axes_[a].column)]));
        }
        if (reach_.everywhere_) place_leaves();
    }
    FreeSet(const FreeSet&) = delete;
    FreeSet& operator=(const FreeSet&) = delete;

    const CodeBox& whole() const { return whole_; }
    const CodeBox& start() const { return start_; }
    const LeafBoxes& leaves() const { return leaves_; }  // only with `everywhere`

    // The values of the rows with a weight as points.
    WeightedPoints points() const {
        WeightedPoints points{CodeBoxes(n_set_axes_), {}, {}};
        std::unordered_map<std::uint64_t, std::size_t> point_of;  // by the hash of its positions
        CodeBox at(n_set_axes_);
        for (std::size_t i = 0; i < weights_.rows.size(); ++i) {
            const std::uint32_t row = weights_.rows[i];
            if (!find_positions(row, at.data())) continue;
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
            (reach_.share_.is_wanted(row) ? points.wanted : points.other)[place->second] += weights_.weight[i];
        }
        return points;
    }

    bool has_empty_axis() const {
        return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.is_empty(); });
    }

    // Whether some of the region can be written on the axes: otherwise no box meets it.
    bool has_start() const { return !is_empty(start_); }

    // What a change takes up in the space of this set. Returns false if it takes up nothing there.
    bool taken_by(const Change& change, CodeBox& out) const {
        out = start_;
        std::size_t i = 0;
        for (std::size_t c = 0; c < region_.size(); ++c) {
            if (!(space_.bit_of[c] & change.set) || space_.bit_of[c] == kUnchangeable) continue;
            const ValueInterval& side = change.box[i++];
            if (axis_of_[c] == kNoAxis || axis_of_[c] >= n_set_axes_) {
                if (common_part(side, region_[c]).is_empty()) return false;
                continue;
            }
            out[axis_of_[c]] = axes_[axis_of_[c]].positions(common_part(side, limits_[c]));
        }
        return !is_empty(out);
    }

    CodeBoxes forbidden_by(const std::vector<Change>& changes) const {
        CodeBoxes forbidden(n_set_axes_);
        if (has_start()) forbidden.append(start_.data());
        CodeBox taken;
        for (const Change& change : changes)
            if (taken_by(change, taken)) forbidden.append(taken.data());
        return forbidden;
    }

    Change measure(const CodeBox& box) const {
        Change change;
        change.set = set_;
        change.cdp = weights_.cdp;
        for (std::size_t a = 0; a < n_set_axes_; ++a) change.box.push_back(axes_[a].values(box[a]));
        CodeBox at(n_set_axes_);
        double wanted = 0.0;
        for (std::size_t i = 0; i < weights_.rows.size(); ++i) {
            const std::uint32_t row = weights_.rows[i];
            if (!find_positions(row, at.data()) || !meet(box, at.data())) continue;
            change.rows.push_back(row);
            change.weights.push_back(weights_.weight[i]);
            change.plausibility += weights_.weight[i];
            if (reach_.share_.is_wanted(row)) wanted += weights_.weight[i];
        }
        change.mean = change.plausibility > 0.0 ? wanted / change.plausibility : 0.0;
        return change;
    }

  private:
    // The thresholds of the columns that matter for the set, by column.
    void collect_ends(std::vector<std::vector<float>>& ends) const {
        for (const ReachedTree& tree : reach_.reached_)
            for (const ReachedLeaf& leaf : tree.leaves) {
                if (leaf.mask & ~set_) continue;
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = tree.passages[i];
                    const auto c = static_cast<std::size_t>(passage.column);
                    if (axis_of_[c] == kNoAxis && is_one_way(passage)) continue;
                    if (std::isfinite(passage.interval.low)) ends[c].push_back(passage.interval.low);
                    if (std::isfinite(passage.interval.high)) ends[c].push_back(passage.interval.high);
                    if (axis_of_[c] == kNoAxis && ends[c].empty()) ends[c].push_back(0.0f);  // known or missing
                }
            }
        for (std::size_t c = 0; c < reach_.around_.size(); ++c) {  // a box may begin next to the region
            if (axis_of_[c] == kNoAxis) continue;
            if (std::isfinite(reach_.around_[c].low)) ends[c].push_back(reach_.around_[c].low);
            if (std::isfinite(reach_.around_[c].high)) ends[c].push_back(reach_.around_[c].high);
        }
        for (auto& of_column : ends) {
            std::sort(of_column.begin(), of_column.end());
            of_column.erase(std::unique(of_column.begin(), of_column.end()), of_column.end());
        }
    }

    // Whether a passage admits the whole region.
    bool is_one_way(const Passage& passage) const {
        const ValueInterval& region = region_[static_cast<std::size_t>(passage.column)];
        const ValueInterval part = common_part(region, passage.interval);
        return part.missing == region.missing && part.has_values == region.has_values &&
               (!part.has_values || (part.low == region.low && part.high == region.high));
    }

    void place_leaves() {
        leaves_.n_axes = n_set_axes_;
        for (std::size_t a = n_set_axes_; a < axes_.size(); ++a) leaves_.rest.push_back(axes_[a].everything());
        leaves_.begin.assign(1, 0);
        leaves_.positions.clear(axes_.size());
        CodeBox box(axes_.size());
        for (std::size_t t = 0; t < reach_.reached_.size(); ++t) {
            for (const ReachedLeaf& leaf : reach_.reached_[t].leaves) {
                if (leaf.mask & ~set_) continue;
                for (std::size_t a = 0; a < axes_.size(); ++a) box[a] = axes_[a].everything();
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = reach_.reached_[t].passages[i];
                    const std::size_t a = axis_of_[static_cast<std::size_t>(passage.column)];
                    if (a != kNoAxis) box[a] = axes_[a].positions(passage.interval);
                }
                if (is_empty(box)) continue;
                leaves_.positions.append(box.data());
                leaves_.share.push_back(reach_.share_(t, leaf.node));
            }
            leaves_.begin.push_back(leaves_.share.size());
        }
    }

    // The values of a row as positions. Returns false if the row lies outside the limits.
    bool find_positions(std::uint32_t row, CodeInterval* out) const {
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            const auto c = static_cast<std::size_t>(axes_[a].column);
            const float value = space_.forest.X.row(row)[c];
            if (value != value) {
                if (!axes_[a].missing) return false;
                out[a] = kOnlyMissing;
                continue;
            }
            const ValueInterval& limits = limits_[c];
            if (!limits.has_values || !(limits.low < value && value <= limits.high)) return false;
            const std::vector<float>& allowed = space_.allowed[c];
            if (!allowed.empty() && !std::binary_search(allowed.begin(), allowed.end(), value)) return false;
            const std::uint32_t code = code_of(axes_[a].thresholds, value);
            const auto at = std::lower_bound(axes_[a].codes.begin(), axes_[a].codes.end(), code);
            const auto position = static_cast<std::uint32_t>(at - axes_[a].codes.begin());
            out[a] = {position, position, false};
        }
        return true;
    }

    static constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);
    inline static const std::vector<float> kAnyValue{};

    const RegionReach& reach_;
    const ChangeSpace& space_;
    const ValueBox &region_, &limits_;
    std::uint64_t set_;
    SetWeights weights_;
    std::vector<Axis> axes_;  // those of the set, then what varies in the region
    std::size_t n_set_axes_ = 0;
    std::vector<std::size_t> axis_of_;  // by column
    CodeBox whole_, start_;
    LeafBoxes leaves_;
};

}  // namespace suffice
