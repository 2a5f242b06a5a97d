// Proves that the SDP is at least pi at every point of a box, or finds a region of the box where it is not.
//
// The box is cut at splits of the projected trees. In each region the shares in the trees lie between bounds; the
// region is done if the sum of the lower bounds is enough, and bad if that of the upper bounds is not.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "box.hpp"
#include "parallel.hpp"
#include "set_cells.hpp"

namespace suffice {

class BoxProof {
  public:
    enum class Result { kGood, kBad, kOutOfBudget };

    // `needed` is the sum of the shares that a point must reach.
    BoxProof(const SetCells& cells, const OutcomeShares& shares, double needed, std::size_t max_regions,
             const StopFlag& stop)
        : cells_(cells), shares_(shares), needed_(needed), max_regions_(max_regions), stop_(stop) {}

    // Starts a new budget of regions. `x` has one value per column of S.
    void set_row(const float* x) {
        x_ = x;
        n_regions_ = 0;
    }

    Result check(const CodeBox& box) {
        std::vector<Region> stack;
        stack.push_back({to_values(box), std::vector<std::int32_t>(cells_.trees.size(), 0)});
        while (!stack.empty()) {
            if (stop_ || ++n_regions_ > max_regions_) return Result::kOutOfBudget;
            Region region = std::move(stack.back());
            stack.pop_back();
            const Bounds bounds = descend(region);
            if (bounds.least >= needed_) continue;
            if (bounds.most < needed_ || bounds.widest_tree == cells_.trees.size()) {
                bad_region_ = to_codes(region.box);
                return Result::kBad;
            }
            const ProjectedNode& node = node_of(region, bounds.widest_tree);
            const ValueInterval whole = region.box[node.column];
            Region other = region;
            // The half on the side of x is checked first: a bad region near x leaves the fewest ways to cut it off.
            const bool left_first = node.goes_left(x_[node.column]);
            region.box[node.column] = whole.part(node.threshold, node.missing_left, !left_first);
            other.box[node.column] = whole.part(node.threshold, node.missing_left, left_first);
            stack.push_back(std::move(region));
            stack.push_back(std::move(other));
        }
        return Result::kGood;
    }

    // The region that the last call of `check` found bad.
    const CodeBox& bad_region() const { return bad_region_; }

  private:
    struct Region {
        ValueBox box;
        std::vector<std::int32_t> node;  // by tree: the root of the subtree that has all points of the region
    };

    // Bounds of the sum of the shares over the trees.
    struct Bounds {
        double least, most;
        std::size_t widest_tree;  // the tree whose bounds are farthest apart; n_trees if all are at a leaf
    };

    const ProjectedNode& node_of(const Region& region, std::size_t t) const {
        return cells_.trees[t].nodes[static_cast<std::size_t>(region.node[t])];
    }

    // Moves down in each tree to the smallest subtree that has all points of the region.
    Bounds descend(Region& region) const {
        const std::size_t n_trees = cells_.trees.size();
        Bounds bounds{0.0, 0.0, n_trees};
        double widest = -1.0;
        for (std::size_t t = 0; t < n_trees; ++t) {
            std::int32_t& i = region.node[t];
            for (;;) {
                const ProjectedNode& node = node_of(region, t);
                if (node.is_leaf()) break;
                const ValueInterval& whole = region.box[node.column];
                const bool left = !whole.part(node.threshold, node.missing_left, true).is_empty();
                const bool right = !whole.part(node.threshold, node.missing_left, false).is_empty();
                if (left && right) break;
                i = left ? node.left : node.right;
            }
            const double least = shares_.least(t, static_cast<std::size_t>(i));
            const double most = shares_.most(t, static_cast<std::size_t>(i));
            bounds.least += least;
            bounds.most += most;
            if (!node_of(region, t).is_leaf() && most - least > widest) widest = most - least, bounds.widest_tree = t;
        }
        return bounds;
    }

    ValueBox to_values(const CodeBox& box) const {
        ValueBox out(box.size());
        for (std::size_t c = 0; c < box.size(); ++c) {
            const std::vector<float>& thresholds = cells_.forest_columns[c]->thresholds;
            out[c].missing = box[c].missing;
            out[c].has_values = box[c].has_values();
            if (!out[c].has_values) continue;
            if (box[c].lo > 0) out[c].low = thresholds[box[c].lo - 1];
            if (box[c].hi < thresholds.size()) out[c].high = thresholds[box[c].hi];
        }
        return out;
    }

    // Exact, since the ends of a region are thresholds.
    CodeBox to_codes(const ValueBox& box) const {
        CodeBox out(box.size());
        for (std::size_t c = 0; c < box.size(); ++c) {
            const std::vector<float>& thresholds = cells_.forest_columns[c]->thresholds;
            if (!box[c].has_values) {
                out[c] = kOnlyMissing;
                continue;
            }
            const std::uint32_t lo = std::isinf(box[c].low) ? 0 : code_of(thresholds, box[c].low) + 1;
            out[c] = {lo, code_of(thresholds, box[c].high), box[c].missing};
        }
        return out;
    }

    const SetCells& cells_;
    const OutcomeShares& shares_;
    double needed_;
    std::size_t max_regions_;
    const StopFlag& stop_;
    const float* x_ = nullptr;
    std::size_t n_regions_ = 0;
    CodeBox bad_region_;
};

}  // namespace suffice
