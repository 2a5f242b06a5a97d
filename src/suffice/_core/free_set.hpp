// A set of variables that is free to change at a row, or at all rows of a region: the weights of the training rows
// given what does not change, the axes of its columns, and the leaves that it reaches (docs/method.md, 7.1 and 7.3).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "change_proof.hpp"
#include "forest.hpp"
#include "forest_column.hpp"
#include "leaf_shares.hpp"
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

// One set at a time, of one row or region at a time.
class FreeSet {
  public:
    FreeSet(const ChangeSpace& space, const ForestColumns& forest_columns, bool everywhere, bool votes,
            std::size_t min_node_size)
        : space_(space),
          forest_(space.forest),
          forest_columns_(forest_columns),
          everywhere_(everywhere),
          share_(space, votes),
          reach_(space, share_.needs_rows()),
          reached_(forest_.trees.size()),
          most_shares_(forest_.trees.size()),
          weight_(forest_.X.n_rows, 0.0) {
        for (const Tree& tree : forest_.trees) cells_.emplace_back(tree, forest_.X, min_node_size);
    }
    FreeSet(const FreeSet&) = delete;
    FreeSet& operator=(const FreeSet&) = delete;

    // The wanted outcomes: one flag for each rank.
    void set_wanted(const std::uint8_t* wanted) {
        if (wanted_ == wanted) return;
        wanted_ = wanted;
        share_.set_wanted(wanted);
    }

    // The rows of `region` may move to `limits`. Both are kept by reference.
    // `needed` is the sum of the shares that a change must reach.
    void set_region(const ValueBox& region, const ValueBox& limits, std::size_t max_size, double needed) {
        region_ = &region;
        limits_ = &limits;
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            reach_.find(forest_.trees[t], region, limits, max_size, reached_[t]);
            cells_[t].clear();
            find_most_shares(t);
        }
        around_.clear();
        if (everywhere_ && most_sum(0, needed) >= needed) find_ends_around();
    }

    // A bound of the sum of the shares at any point that S can reach; less than `needed` if that is certain early.
    double most_sum(std::uint64_t S, double needed) const {
        const std::size_t n_trees = forest_.trees.size();
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

    // Computes weight_ of the training rows given what does not change, and cdp_.
    void weigh(std::uint64_t S) {
        for (const std::uint32_t row : rows_) weight_[row] = 0.0;
        rows_.clear();
        const auto n_trees = static_cast<double>(forest_.trees.size());
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            const std::vector<std::uint32_t>& rows = cells_[t].rows(reached_[t], S);
            const double weight = 1.0 / (n_trees * static_cast<double>(rows.size()));
            for (const std::uint32_t row : rows) {
                if (weight_[row] == 0.0) rows_.push_back(row);
                weight_[row] += weight;
            }
        }
        std::sort(rows_.begin(), rows_.end());
        cdp_ = 0.0;
        for (const std::uint32_t row : rows_)
            if (is_wanted(row)) cdp_ += weight_[row];
    }

    // The axes of a set and what it reaches.
    void build(std::uint64_t S) {
        axes_.clear();
        const std::size_t n_columns = region_->size();
        axis_of_.assign(n_columns, kNoAxis);
        for (std::uint64_t bits = S; bits; bits &= bits - 1)
            for (const std::int32_t column : space_.columns[static_cast<std::size_t>(std::countr_zero(bits))])
                axis_of_[static_cast<std::size_t>(column)] = 0;
        std::vector<std::vector<float>> ends(n_columns);
        if (everywhere_) collect_ends(S, ends);
        for (std::size_t c = 0; c < n_columns; ++c) {  // in the order of the table
            if (axis_of_[c] == kNoAxis) continue;
            axis_of_[c] = axes_.size();
            auto thresholds = everywhere_ ? std::move(ends[c]) : forest_columns_[c]->thresholds;
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(thresholds), (*limits_)[c], space_.allowed[c]);
            ends[c].clear();
        }
        n_set_axes_ = axes_.size();
        for (std::size_t c = 0; c < n_columns; ++c) {  // what does not change but varies
            if (ends[c].empty()) continue;
            axis_of_[c] = axes_.size();
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(ends[c]), (*region_)[c], kAnyValue);
        }
        whole_.clear();
        start_.clear();
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            whole_.push_back(axes_[a].everything());
            start_.push_back(axes_[a].positions((*region_)[static_cast<std::size_t>(axes_[a].column)]));
        }
        if (everywhere_) place_leaves_of(S);
    }

    // The values of the rows with a weight as points.
    void find_points() {
        points_.clear(n_set_axes_);
        point_of_.clear();
        CodeBox at(n_set_axes_);
        for (const std::uint32_t row : rows_) {
            if (!find_positions(row, at.data())) continue;
            std::uint64_t hash = 0;
            for (std::size_t a = 0; a < n_set_axes_; ++a)
                hash = (hash ^ (at[a].missing ? kMissing : at[a].lo)) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 32;
            for (;; ++hash) {  // the next place if another point is there
                const auto [place, is_new] = point_of_.try_emplace(hash, points_.size());
                if (is_new) {
                    points_.positions.insert(points_.positions.end(), at.begin(), at.end());
                    points_.wanted.push_back(0.0);
                    points_.other.push_back(0.0);
                } else if (!std::equal(at.begin(), at.end(), points_[place->second])) {
                    continue;
                }
                (is_wanted(row) ? points_.wanted : points_.other)[place->second] += weight_[row];
                break;
            }
        }
    }

    bool has_empty_axis() const {
        return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.is_empty(); });
    }

    // Whether some of the region can be written on the axes: otherwise no box meets it.
    bool has_start() const { return std::none_of(start_.begin(), start_.end(), is_nothing); }

    // What a change takes up in the space of the present set. Returns false if it takes up nothing there.
    bool taken_by(const Change& change, CodeBox& out) const {
        out = start_;
        std::size_t i = 0;
        for (std::size_t c = 0; c < region_->size(); ++c) {
            if (!(space_.bit_of[c] & change.set) || space_.bit_of[c] == kUnchangeable) continue;
            const ValueInterval& side = change.box[i++];
            if (axis_of_[c] == kNoAxis || axis_of_[c] >= n_set_axes_) {
                if (common_part(side, (*region_)[c]).is_empty()) return false;
                continue;
            }
            out[axis_of_[c]] = axes_[axis_of_[c]].positions(common_part(side, (*limits_)[c]));
        }
        return std::none_of(out.begin(), out.end(), is_nothing);
    }

    CodeBoxes forbidden_by(const std::vector<Change>& changes) const {
        CodeBoxes forbidden;
        forbidden.clear(n_set_axes_);
        if (has_start()) forbidden.append(start_.data());
        CodeBox taken;
        for (const Change& change : changes)
            if (taken_by(change, taken)) forbidden.append(taken.data());
        return forbidden;
    }

    Change measure(std::uint64_t S, const CodeBox& box) const {
        Change change;
        change.set = S;
        change.cdp = cdp_;
        for (std::size_t a = 0; a < n_set_axes_; ++a) change.box.push_back(axes_[a].values(box[a]));
        CodeBox at(n_set_axes_);
        double wanted = 0.0;
        for (const std::uint32_t row : rows_) {
            if (!find_positions(row, at.data()) || !meet(box, at.data())) continue;
            change.rows.push_back(row);
            change.weights.push_back(weight_[row]);
            change.plausibility += weight_[row];
            if (is_wanted(row)) wanted += weight_[row];
        }
        change.mean = change.plausibility > 0.0 ? wanted / change.plausibility : 0.0;
        return change;
    }
    std::size_t n_variables() const { return space_.columns.size(); }
    double cdp() const { return cdp_; }
    const CodeBox& whole() const { return whole_; }
    const CodeBox& start() const { return start_; }
    const LeafBoxes& leaves() const { return leaves_; }
    const WeightedPoints& points() const { return points_; }

  private:
    // For each mask of reached leaves the largest share, so that sets without a change are found fast.
    void find_most_shares(std::size_t t) {
        auto& most = most_shares_[t];
        most.clear();
        for (const ReachedLeaf& leaf : reached_[t].leaves) {
            const auto at = std::find_if(most.begin(), most.end(), [&](const auto& m) { return m.first == leaf.mask; });
            if (at == most.end())
                most.emplace_back(leaf.mask, share_(t, leaf.node));
            else
                at->second = std::max(at->second, share_(t, leaf.node));
        }
    }

    bool is_wanted(std::uint32_t row) const { return wanted_[space_.y_rank[row]] != 0; }

    static bool is_finite(float value) { return value > -kInfinity && value < kInfinity; }

    // The thresholds of the forest that are nearest to the region, by column: boxes may end there. Only if a point of
    // the region has the wanted outcome does a box that begins between these and those of reached leaves have it, too.
    void find_ends_around() {
        around_.assign(region_->size(), {});
        for (const Tree& tree : forest_.trees)
            for (const Node& node : tree.nodes) {
                if (node.is_leaf()) continue;
                const auto c = static_cast<std::size_t>(node.column);
                const ValueInterval& region = (*region_)[c];
                const float threshold = largest_float_up_to(node.threshold);
                if (threshold <= region.low) around_[c].low = std::max(around_[c].low, threshold);
                if (threshold >= region.high) around_[c].high = std::min(around_[c].high, threshold);
            }
    }

    // The thresholds of the columns that matter for S, by column.
    void collect_ends(std::uint64_t S, std::vector<std::vector<float>>& ends) const {
        for (const ReachedTree& tree : reached_)
            for (const ReachedLeaf& leaf : tree.leaves) {
                if (leaf.mask & ~S) continue;
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = tree.passages[i];
                    const auto c = static_cast<std::size_t>(passage.column);
                    if (axis_of_[c] == kNoAxis && is_one_way(passage)) continue;
                    if (is_finite(passage.interval.low)) ends[c].push_back(passage.interval.low);
                    if (is_finite(passage.interval.high)) ends[c].push_back(passage.interval.high);
                    if (axis_of_[c] == kNoAxis && ends[c].empty()) ends[c].push_back(0.0f);  // known or missing
                }
            }
        for (std::size_t c = 0; c < around_.size(); ++c) {  // a box may begin next to the region
            if (axis_of_[c] == kNoAxis) continue;
            if (is_finite(around_[c].low)) ends[c].push_back(around_[c].low);
            if (is_finite(around_[c].high)) ends[c].push_back(around_[c].high);
        }
        for (auto& of_column : ends) {
            std::sort(of_column.begin(), of_column.end());
            of_column.erase(std::unique(of_column.begin(), of_column.end()), of_column.end());
        }
    }

    // Whether a passage admits the whole region.
    bool is_one_way(const Passage& passage) const {
        const ValueInterval& region = (*region_)[static_cast<std::size_t>(passage.column)];
        const ValueInterval part = common_part(region, passage.interval);
        return part.missing == region.missing && part.has_values == region.has_values &&
               (!part.has_values || (part.low == region.low && part.high == region.high));
    }

    void place_leaves_of(std::uint64_t S) {
        leaves_.n_axes = n_set_axes_;
        leaves_.rest.clear();
        for (std::size_t a = n_set_axes_; a < axes_.size(); ++a) leaves_.rest.push_back(axes_[a].everything());
        leaves_.positions.clear();
        leaves_.share.clear();
        leaves_.begin.assign(1, 0);
        CodeBox box(axes_.size());
        for (std::size_t t = 0; t < reached_.size(); ++t) {
            for (const ReachedLeaf& leaf : reached_[t].leaves) {
                if (leaf.mask & ~S) continue;
                for (std::size_t a = 0; a < axes_.size(); ++a) box[a] = axes_[a].everything();
                bool is_empty = false;
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = reached_[t].passages[i];
                    const std::size_t a = axis_of_[static_cast<std::size_t>(passage.column)];
                    if (a == kNoAxis) continue;
                    box[a] = axes_[a].positions(passage.interval);
                    is_empty |= is_nothing(box[a]);
                }
                if (is_empty) continue;
                leaves_.positions.insert(leaves_.positions.end(), box.begin(), box.end());
                leaves_.share.push_back(share_(t, leaf.node));
            }
            leaves_.begin.push_back(leaves_.share.size());
        }
    }

    // The values of a row as positions. Returns false if the row lies outside the limits.
    bool find_positions(std::uint32_t row, CodeInterval* out) const {
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            const auto c = static_cast<std::size_t>(axes_[a].column);
            const float value = forest_.X.row(row)[c];
            if (value != value) {
                if (!axes_[a].missing) return false;
                out[a] = kOnlyMissing;
                continue;
            }
            const ValueInterval& limits = (*limits_)[c];
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
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    inline static const std::vector<float> kAnyValue{};

    const ChangeSpace& space_;
    const Forest& forest_;
    const ForestColumns& forest_columns_;  // by column of the table; only without `everywhere`
    bool everywhere_;
    LeafShares share_;
    Reach reach_;
    std::vector<ReachedTree> reached_;
    std::vector<FixedCells> cells_;                                           // by tree
    std::vector<std::vector<std::pair<std::uint64_t, double>>> most_shares_;  // by tree: the largest share of a mask
    ValueBox around_;                                                         // by column
    const std::uint8_t* wanted_ = nullptr;
    const ValueBox* region_ = nullptr;
    const ValueBox* limits_ = nullptr;

    // What belongs to the present set.
    std::vector<double> weight_;       // by training row
    std::vector<std::uint32_t> rows_;  // those with a weight
    double cdp_ = 0.0;
    std::vector<Axis> axes_;  // those of the set, then what varies in the region
    std::size_t n_set_axes_ = 0;
    std::vector<std::size_t> axis_of_;  // by column
    CodeBox whole_, start_;
    LeafBoxes leaves_;
    WeightedPoints points_;
    std::unordered_map<std::uint64_t, std::size_t> point_of_;  // by the hash of its positions
};

}  // namespace suffice
