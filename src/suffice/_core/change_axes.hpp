// The columns that a change may move, cut into pieces at thresholds; boxes of such pieces; and the proof that the
// forest gives the wanted outcome with a probability of at least pi at every point of a box.
//
// A position numbers the pieces of a column that may be reached; boxes over positions are CodeBoxes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "box.hpp"
#include "forest_column.hpp"
#include "parallel.hpp"
#include "thresholds.hpp"

namespace suffice {

struct Axis {
    std::int32_t column = 0;
    std::vector<float> thresholds;     // ascending
    std::vector<std::uint32_t> codes;  // by position: the piece between two thresholds; ascending
    bool missing = false;              // whether a missing value may be reached

    // The pieces within `limits` that hold one of the values in `allowed`; all of them if it is empty.
    Axis(std::int32_t of_column, std::vector<float> at, const ValueInterval& limits, const std::vector<float>& allowed)
        : column(of_column), thresholds(std::move(at)), missing(limits.missing) {
        if (!limits.has_values) return;
        if (allowed.empty()) {
            const auto [first, last] = ends(limits);
            for (std::uint32_t code = first; code <= last; ++code) codes.push_back(code);
        }
        for (const float value : allowed) {
            if (!(limits.low < value && value <= limits.high)) continue;
            const std::uint32_t code = code_of(thresholds, value);
            if (codes.empty() || codes.back() != code) codes.push_back(code);
        }
    }

    CodeInterval everything() const {
        return codes.empty() ? CodeInterval{1, 0, missing}
                             : CodeInterval{0, static_cast<std::uint32_t>(codes.size()) - 1, missing};
    }
    bool is_empty() const { return codes.empty() && !missing; }

    // The positions of the pieces that meet an interval of values.
    CodeInterval positions(const ValueInterval& values) const {
        CodeInterval out{1, 0, missing && values.missing};
        if (!values.has_values) return out;
        const auto [lo, hi] = ends(values);
        const auto begin = std::lower_bound(codes.begin(), codes.end(), lo);
        const auto end = std::upper_bound(codes.begin(), codes.end(), hi);
        if (begin >= end) return out;
        out.lo = static_cast<std::uint32_t>(begin - codes.begin());
        out.hi = static_cast<std::uint32_t>(end - codes.begin()) - 1;
        return out;
    }

    // The values of some positions, with the pieces between them that may not be reached.
    ValueInterval values(const CodeInterval& positions) const {
        if (!positions.has_values()) return values_of(positions, thresholds);
        return values_of({codes[positions.lo], codes[positions.hi], positions.missing}, thresholds);
    }

  private:
    // The codes of the smallest and the largest value in an interval.
    std::pair<std::uint32_t, std::uint32_t> ends(const ValueInterval& values) const {
        return {code_of(thresholds, std::nextafter(values.low, kInfinity)), code_of(thresholds, values.high)};
    }
};

inline bool is_within(const CodeInterval& inner, const CodeInterval& outer) {
    if (inner.missing && !outer.missing) return false;
    return !inner.has_values() || (outer.lo <= inner.lo && inner.hi <= outer.hi);
}

inline bool is_empty(const CodeBox& box) {
    return std::any_of(box.begin(), box.end(), [](const CodeInterval& side) { return side.is_empty(); });
}

// Training rows that have the same positions, with their weights.
struct WeightedPoints {
    CodeBoxes positions;                // by point
    std::vector<double> wanted, other;  // the weights of its rows with the wanted outcome, and of the others

    std::size_t size() const { return wanted.size(); }
    const CodeInterval* operator[](std::size_t p) const { return positions[p]; }
    double weight(std::size_t p) const { return wanted[p] + other[p]; }
};

// What a search of a box finds.
struct FoundChange {
    bool exists = false;
    CodeBox box;
    double value = 0.0;  // the plausibility
    double bound = 0.0;  // no box has a larger one
};

// The parts of `whole` that do not meet any of the boxes: each is as large as possible, and they may overlap.
template <class Do>
void for_each_part_without(const CodeBox& whole, const CodeBoxes& boxes, const Do& act) {
    std::vector<std::pair<CodeBox, std::size_t>> stack{{whole, 0}};
    while (!stack.empty()) {
        auto [box, i] = std::move(stack.back());
        stack.pop_back();
        while (i < boxes.size() && !meet(box, boxes[i])) ++i;
        if (i == boxes.size()) {
            act(box);
            continue;
        }
        for (std::size_t c = 0; c < box.size(); ++c)
            for_each_cut(box[c], boxes[i][c], kNothing, [&](const CodeInterval& side) {
                if (side.is_empty()) return;
                CodeBox part = box;
                part[c] = side;
                stack.emplace_back(std::move(part), i + 1);
            });
    }
}

// The leaves that can be reached by changing the variables of one set, over its axes. Axes beyond `n_axes` are columns
// that do not change but vary in the region.
struct LeafBoxes {
    std::size_t n_axes = 0;
    CodeBox rest;                    // all positions of the axes beyond
    CodeBoxes positions;             // by leaf
    std::vector<double> share;       // by leaf: of the wanted outcome
    std::vector<std::size_t> begin;  // by tree: its first leaf; and the number of all leaves

    std::size_t n_trees() const { return begin.size() - 1; }
    const CodeInterval* operator[](std::size_t leaf) const { return positions[leaf]; }
};

class ChangeProof {
  public:
    // `needed` is the sum of the shares that a point must reach.
    ChangeProof(const LeafBoxes& leaves, double needed, std::size_t max_regions, const StopFlag& stop)
        : leaves_(leaves),
          needed_(needed),
          max_regions_(max_regions),
          stop_(stop),
          most_after_(leaves.begin.size(), 0.0) {
        for (std::size_t t = leaves.n_trees(); t-- > 0;) {
            double most = 0.0;
            for (std::size_t leaf = leaves.begin[t]; leaf < leaves.begin[t + 1]; ++leaf)
                most = std::max(most, leaves.share[leaf]);
            most_after_[t] = most_after_[t + 1] + most;
        }
    }

    // Whether a single point is good. Without axes beyond those of the set, every tree has one leaf for it.
    bool is_good_point(const CodeInterval* point) {
        if (!leaves_.rest.empty()) return check(point) == Proof::kGood;
        double sum = 0.0;
        for (std::size_t t = 0; t < leaves_.n_trees(); ++t) {
            // The margin is wider than the rounding errors of the sums.
            if (sum + most_after_[t] < needed_ - kRounding) return false;
            for (std::size_t leaf = leaves_.begin[t]; leaf < leaves_.begin[t + 1]; ++leaf) {
                if (!meet(point, leaves_[leaf], leaves_.n_axes)) continue;
                sum += leaves_.share[leaf];
                break;
            }
        }
        return sum >= needed_;
    }

    // `box` has one interval for each axis of the set.
    Proof check(const CodeInterval* box) {
        stack_.assign(1, with_rest(box));
        while (!stack_.empty()) {
            if (stop_ || ++n_regions_ > max_regions_) return Proof::kOutOfBudget;
            const CodeBox region = std::move(stack_.back());
            stack_.pop_back();
            const Bounds bounds = bounds_in(region);
            if (bounds.least >= needed_) continue;
            if (bounds.most < needed_ || !cut(region, bounds.widest_tree)) {
                bad_region_.assign(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(leaves_.n_axes));
                return Proof::kBad;
            }
        }
        return Proof::kGood;
    }

    // The region that the last call of `check` found bad: each of its points is bad for some row of the region.
    const CodeBox& bad_region() const { return bad_region_; }

    // The largest sum of shares that a point of the box can have, by a bound that is exact for a single point.
    double most(const CodeInterval* box) const { return bounds_in(with_rest(box)).most; }

  private:
    struct Bounds {
        double least, most;
        std::size_t widest_tree;  // the tree whose shares are farthest apart
    };

    // A box with all positions of the axes beyond those of the set.
    CodeBox with_rest(const CodeInterval* box) const {
        CodeBox whole(box, box + leaves_.n_axes);
        whole.insert(whole.end(), leaves_.rest.begin(), leaves_.rest.end());
        return whole;
    }

    Bounds bounds_in(const CodeBox& box) const {
        Bounds bounds{0.0, 0.0, 0};
        double widest = -1.0;
        for (std::size_t t = 0; t < leaves_.n_trees(); ++t) {
            double least = std::numeric_limits<double>::infinity(), most = 0.0;
            for (std::size_t leaf = leaves_.begin[t]; leaf < leaves_.begin[t + 1]; ++leaf) {
                if (!meet(box, leaves_[leaf])) continue;
                least = std::min(least, leaves_.share[leaf]);
                most = std::max(most, leaves_.share[leaf]);
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
        for (std::size_t leaf = leaves_.begin[tree]; leaf < leaves_.begin[tree + 1]; ++leaf) {
            const CodeInterval* sides = leaves_[leaf];
            if (!meet(region, sides)) continue;
            for (std::size_t c = 0; c < region.size(); ++c) {
                if (is_within(region[c], sides[c])) continue;
                const CodeInterval& whole = region[c];
                if (whole.missing && whole.has_values()) {
                    push(region, c, kOnlyMissing);
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

    const LeafBoxes& leaves_;
    double needed_;
    std::size_t max_regions_;
    const StopFlag& stop_;
    std::size_t n_regions_ = 0;
    std::vector<double> most_after_;  // by tree: the largest shares of it and the trees after it, added up
    std::vector<CodeBox> stack_;
    CodeBox bad_region_;
};

}  // namespace suffice
