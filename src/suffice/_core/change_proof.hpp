// Proves that the forest gives the wanted outcome with a probability of at least pi at every point of a box, or finds
// a region of the box where it does not. What does not change has the values of the row, or varies in its region.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace suffice {

// The leaves that can be reached by changing the variables of one set, over its axes. Axes beyond `n_axes` are columns
// that do not change but vary in the region.
struct LeafBoxes {
    std::size_t n_axes = 0;
    CodeBox rest;                         // all positions of the axes beyond
    std::vector<CodeInterval> positions;  // by leaf and axis
    std::vector<double> share;            // by leaf: of the wanted outcome
    std::vector<std::size_t> begin;       // by tree: its first leaf; and the number of all leaves

    std::size_t width() const { return n_axes + rest.size(); }
    const CodeInterval* operator[](std::size_t leaf) const { return positions.data() + width() * leaf; }
};

class ChangeProof {
  public:
    enum class Result { kGood, kBad, kOutOfBudget };

    // `needed` is the sum of the shares that a point must reach.
    ChangeProof(double needed, std::size_t max_regions, const StopFlag& stop)
        : needed_(needed), max_regions_(max_regions), stop_(stop) {}

    // Starts a new budget of regions.
    void set_leaves(const LeafBoxes& leaves) {
        leaves_ = &leaves;
        n_regions_ = 0;
        most_after_.assign(leaves.begin.size(), 0.0);
        for (std::size_t t = leaves.begin.size() - 1; t-- > 0;) {
            double most = 0.0;
            for (std::size_t leaf = leaves.begin[t]; leaf < leaves.begin[t + 1]; ++leaf)
                most = std::max(most, leaves.share[leaf]);
            most_after_[t] = most_after_[t + 1] + most;
        }
    }

    // Whether a single point is good. Without axes beyond those of the set, every tree has one leaf for it.
    bool is_good_point(const CodeInterval* point) {
        if (!leaves_->rest.empty()) return check(point) == Result::kGood;
        const std::size_t n_axes = leaves_->n_axes;
        double sum = 0.0;
        for (std::size_t t = 0; t + 1 < leaves_->begin.size(); ++t) {
            // The margin is wider than the rounding errors of the sums.
            if (sum + most_after_[t] < needed_ - kRounding) return false;
            for (std::size_t leaf = leaves_->begin[t]; leaf < leaves_->begin[t + 1]; ++leaf) {
                const CodeInterval* sides = (*leaves_)[leaf];
                bool is_in = true;
                for (std::size_t c = 0; is_in && c < n_axes; ++c) is_in = meet(sides[c], point[c]);
                if (!is_in) continue;
                sum += leaves_->share[leaf];
                break;
            }
        }
        return sum >= needed_;
    }

    // `box` has one interval for each axis of the set.
    Result check(const CodeInterval* box) {
        stack_.clear();
        CodeBox whole(box, box + leaves_->n_axes);
        whole.insert(whole.end(), leaves_->rest.begin(), leaves_->rest.end());
        stack_.push_back(std::move(whole));
        while (!stack_.empty()) {
            if (stop_ || ++n_regions_ > max_regions_) return Result::kOutOfBudget;
            const CodeBox region = std::move(stack_.back());
            stack_.pop_back();
            const Bounds bounds = bounds_in(region);
            if (bounds.least >= needed_) continue;
            if (bounds.most < needed_ || !cut(region, bounds.widest_tree)) {
                bad_region_.assign(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(leaves_->n_axes));
                return Result::kBad;
            }
        }
        return Result::kGood;
    }

    // The region that the last call of `check` found bad: each of its points is bad for some row of the region.
    const CodeBox& bad_region() const { return bad_region_; }

    // The largest sum of shares that a point of the box can have, by a bound that is exact for a single point.
    double most(const CodeInterval* box) {
        CodeBox whole(box, box + leaves_->n_axes);
        whole.insert(whole.end(), leaves_->rest.begin(), leaves_->rest.end());
        return bounds_in(whole).most;
    }

  private:
    struct Bounds {
        double least, most;
        std::size_t widest_tree;  // the tree whose shares are farthest apart
    };

    Bounds bounds_in(const CodeBox& box) const {
        Bounds bounds{0.0, 0.0, 0};
        double widest = -1.0;
        for (std::size_t t = 0; t + 1 < leaves_->begin.size(); ++t) {
            double least = std::numeric_limits<double>::infinity(), most = 0.0;
            for (std::size_t leaf = leaves_->begin[t]; leaf < leaves_->begin[t + 1]; ++leaf) {
                if (!meet(box, (*leaves_)[leaf])) continue;
                least = std::min(least, leaves_->share[leaf]);
                most = std::max(most, leaves_->share[leaf]);
            }
            least = std::min(least, most);  // no leaf meets the box only if limits exclude all of it
            bounds.least += least;
            bounds.most += most;
            if (most - least > widest) widest = most - least, bounds.widest_tree = t;
        }
        return bounds;
    }

    // Cuts a region where a leaf of a tree ends in it, and puts the parts on the stack. Returns false if none does.
    bool cut(const CodeBox& region, std::size_t tree) {
        for (std::size_t leaf = leaves_->begin[tree]; leaf < leaves_->begin[tree + 1]; ++leaf) {
            const CodeInterval* sides = (*leaves_)[leaf];
            if (!meet(region, sides)) continue;
            for (std::size_t c = 0; c < region.size(); ++c) {
                if (is_within(region[c], sides[c])) continue;
                const CodeInterval& whole = region[c];
                if (whole.missing && whole.has_values()) {
                    push(region, c, {1, 0, true});
                    push(region, c, {whole.lo, whole.hi, false});
                } else if (whole.lo < sides[c].lo) {
                    push(region, c, {whole.lo, sides[c].lo - 1, false});
                    push(region, c, {sides[c].lo, whole.hi, false});
                } else {
                    push(region, c, {whole.lo, sides[c].hi, false});
                    push(region, c, {sides[c].hi + 1, whole.hi, false});
                }
                return true;
            }
        }
        return false;
    }

    void push(const CodeBox& region, std::size_t c, const CodeInterval& side) {
        stack_.push_back(region);
        stack_.back()[c] = side;
    }

    double needed_;
    std::size_t max_regions_;
    const StopFlag& stop_;
    const LeafBoxes* leaves_ = nullptr;
    std::size_t n_regions_ = 0;
    std::vector<double> most_after_;  // by tree: the largest shares of it and the trees after it, added up
    std::vector<CodeBox> stack_;
    CodeBox bad_region_;
};

}  // namespace suffice
