// Boxes over the columns of a set S: one interval per column, of values or of codes. Something bad is cut off a box by
// making one of its sides smaller, so that the box no longer meets it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "thresholds.hpp"

namespace suffice {

// The values with low < value <= high (none unless `has_values`), and missing values if `missing`.
struct ValueInterval {
    float low = -kInfinity;
    float high = kInfinity;
    bool has_values = true;
    bool missing = true;

    bool is_empty() const { return !has_values && !missing; }
    // The part that a split sends left, or right.
    ValueInterval part(float threshold, bool missing_left, bool left) const {
        ValueInterval out = *this;
        out.missing = missing && missing_left == left;
        if (left)
            out.high = std::min(high, threshold);
        else
            out.low = std::max(low, threshold);
        out.has_values = has_values && out.low < out.high;
        return out;
    }
};

// Takes the place of a code, or of a position among codes, if the value is missing.
inline constexpr std::uint32_t kMissing = 0xffffffff;
inline constexpr CodeInterval kNothing{1, 0, false};
inline constexpr CodeInterval kOnlyMissing{1, 0, true};

using ValueBox = std::vector<ValueInterval>;
using CodeBox = std::vector<CodeInterval>;

inline bool values_meet(const CodeInterval& a, const CodeInterval& b) {
    return std::max(a.lo, b.lo) <= std::min(a.hi, b.hi);
}

inline bool meet(const CodeInterval& a, const CodeInterval& b) { return (a.missing && b.missing) || values_meet(a, b); }

// Boxes of n columns.
inline bool meet(const CodeInterval* a, const CodeInterval* b, std::size_t n) {
    for (std::size_t c = 0; c < n; ++c)
        if (!meet(a[c], b[c])) return false;
    return true;
}
inline bool meet(const CodeBox& a, const CodeInterval* b) { return meet(a.data(), b, a.size()); }

// The values that have some codes.
inline ValueInterval values_of(const CodeInterval& codes, const std::vector<float>& thresholds) {
    ValueInterval out{.has_values = codes.has_values(), .missing = codes.missing};
    if (out.has_values && codes.lo > 0) out.low = thresholds[codes.lo - 1];
    if (out.has_values && codes.hi < thresholds.size()) out.high = thresholds[codes.hi];
    return out;
}

// The parts of an interval that a split sends left and right: values with at most this code go left.
inline std::pair<CodeInterval, CodeInterval> parts(const CodeInterval& a, std::uint32_t code, bool missing_left) {
    return {{a.lo, std::min(a.hi, code), a.missing && missing_left},
            {std::max(a.lo, code + 1), a.hi, a.missing && !missing_left}};
}

// The smallest interval around both.
inline CodeInterval hull(const CodeInterval& a, const CodeInterval& b) {
    const bool missing = a.missing || b.missing;
    if (!a.has_values()) return {b.lo, b.hi, missing};
    if (!b.has_values()) return {a.lo, a.hi, missing};
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), missing};
}

// Many boxes over the same columns, one after the other in memory. Each has a number of training rows.
class CodeBoxes {
  public:
    explicit CodeBoxes(std::size_t n_columns = 0) : n_columns_(n_columns) {}
    void clear(std::size_t n_columns) {
        n_columns_ = n_columns;
        intervals_.clear();
        n_rows_.clear();
    }
    void append(const CodeInterval* box, std::uint32_t n_rows = 0) {
        intervals_.insert(intervals_.end(), box, box + n_columns_);
        n_rows_.push_back(n_rows);
    }
    std::uint32_t n_rows(std::size_t i) const { return n_rows_[i]; }
    std::span<const std::uint32_t> n_rows() const { return n_rows_; }
    std::size_t size() const { return n_rows_.size(); }  // a box over no columns is still a box
    std::size_t n_bytes() const { return size() * (sizeof(std::uint32_t) + n_columns_ * sizeof(CodeInterval)); }
    const CodeInterval* operator[](std::size_t i) const { return intervals_.data() + n_columns_ * i; }

    bool any_meets(const CodeBox& box) const {
        for (std::size_t i = 0; i < size(); ++i)
            if (meet(box, (*this)[i])) return true;
        return false;
    }
    template <class Do>
    void for_each_that_meets(const CodeBox& box, const Do& act) const {
        for (std::size_t i = 0; i < size(); ++i)
            if (meet(box, (*this)[i])) act((*this)[i]);
    }
    // The training rows of the boxes that meet `box`.
    std::size_t count_rows(const CodeBox& box) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size(); ++i) n += meet(box, (*this)[i]) ? n_rows_[i] : 0;
        return n;
    }
    // The smallest box around `start` and the boxes that meet `box`.
    CodeBox hull_with(CodeBox start, const CodeBox& box) const {
        for_each_that_meets(box, [&](const CodeInterval* other) {
            for (std::size_t c = 0; c < start.size(); ++c) start[c] = hull(start[c], other[c]);
        });
        return start;
    }
    // Removes the boxes that do not meet `box`.
    void keep_those_that_meet(const CodeBox& box) {
        CodeBoxes kept(n_columns_);
        for (std::size_t i = 0; i < size(); ++i)
            if (meet(box, (*this)[i])) kept.append((*this)[i], n_rows_[i]);
        *this = std::move(kept);
    }

  private:
    std::size_t n_columns_;
    std::vector<CodeInterval> intervals_;
    std::vector<std::uint32_t> n_rows_;
};

// The sum of the weights of the good points in a box, and in the box with a smaller side in one column.
template <class Weight>
class GoodWeights {
  public:
    // Numbers the codes of the good points in each column without gaps, so that the time to add up depends on the
    // number of points and not on the number of thresholds. All boxes lie in `whole`. `good` and `weights` must stay as
    // they are until the next call.
    void index(const CodeBoxes& good, std::span<const Weight> weights, const CodeBox& whole) {
        weights_ = weights;
        n_codes_below_.resize(whole.size());
        position_.resize(whole.size());
        below_.resize(whole.size());
        missing_.resize(whole.size());
        for (std::size_t c = 0; c < whole.size(); ++c) {
            std::vector<std::uint32_t>& n_below = n_codes_below_[c];
            n_below.assign(whole[c].hi + 2, 0);
            for (std::size_t i = 0; i < good.size(); ++i)
                if (good[i][c].has_values()) n_below[good[i][c].lo + 1] = 1;
            for (std::size_t code = 1; code < n_below.size(); ++code) n_below[code] += n_below[code - 1];
            position_[c].resize(good.size());
            for (std::size_t i = 0; i < good.size(); ++i)
                position_[c][i] = good[i][c].has_values() ? n_below[good[i][c].lo] : kMissing;
        }
    }

    // Adds up the weights of the good points in a box, and returns their sum.
    Weight add_up(const CodeBox& box) {
        find_inside(box);
        Weight total = 0;
        for (const std::uint32_t i : inside_) total += weights_[i];
        for (std::size_t c = 0; c < box.size(); ++c) {
            std::vector<Weight>& below = below_[c];
            below.assign(n_codes_below_[c].back() + 1, 0);
            missing_[c] = 0;
            for (const std::uint32_t i : inside_)
                (position_[c][i] == kMissing ? missing_[c] : below[position_[c][i] + 1]) += weights_[i];
            for (std::size_t p = 1; p < below.size(); ++p) below[p] += below[p - 1];
        }
        return total;
    }

    // The good points in the box whose weights were added up last.
    const std::vector<std::uint32_t>& inside() const { return inside_; }
    // The sum for that box with another side in column `c`.
    Weight with_side(std::size_t c, const CodeInterval& side) const {
        const auto [first, end] = positions(c, side);
        return below_[c][end] - below_[c][first] + (side.missing ? missing_[c] : 0);
    }

  private:
    std::pair<std::uint32_t, std::uint32_t> positions(std::size_t c, const CodeInterval& side) const {
        if (!side.has_values()) return {0, 0};
        return {n_codes_below_[c][side.lo], n_codes_below_[c][side.hi + 1]};
    }

    void find_inside(const CodeBox& box) {
        inside_.resize(weights_.size());
        std::iota(inside_.begin(), inside_.end(), 0u);
        std::size_t n = inside_.size();
        for (std::size_t c = 0; c < box.size(); ++c) {
            const auto [first, end] = positions(c, box[c]);
            const std::uint32_t width = end - first;
            const bool missing = box[c].missing;
            const std::uint32_t* position = position_[c].data();
            std::size_t n_left = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const std::uint32_t i = inside_[j];
                inside_[n_left] = i;
                n_left += (position[i] - first < width) | (missing & (position[i] == kMissing));
            }
            n = n_left;
        }
        inside_.resize(n);
    }

    std::span<const Weight> weights_;                        // by good point
    std::vector<std::vector<std::uint32_t>> n_codes_below_;  // by column and code: distinct codes of good points below
    std::vector<std::vector<std::uint32_t>> position_;  // by column and good point: its n_codes_below_, or kMissing
    std::vector<std::uint32_t> inside_;                 // the good points in the box
    std::vector<std::vector<Weight>> below_;            // by column and position: the sum of those below
    std::vector<Weight> missing_;                       // by column: the sum of those with a missing value
};

// A side that cuts something bad off, and the best value that a box with this side can have.
struct Cut {
    std::size_t column;
    CodeInterval side;
    double value;
    bool operator<(const Cut& other) const { return value < other.value; }
};

// What is known of a box in which no point may be bad.
enum class Proof { kGood, kBad, kOutOfBudget };

// What waits in a queue: the largest value comes first, and among equal values the one that was made first.
struct Queued {
    double value = 0.0;
    std::size_t order = 0;
    bool operator<(const Queued& other) const {
        return value != other.value ? value < other.value : order > other.order;
    }
};

// A part of the search: the boxes that lie in `box` and contain all of `core`. No value of theirs is larger.
struct Branch : Queued {
    CodeBox box;
    CodeBox core;
};

// Calls act(side) for each largest part of `whole` that contains `core` and does not meet `bad`.
template <class Do>
void for_each_cut(const CodeInterval& whole, const CodeInterval& bad, const CodeInterval& core, const Do& act) {
    CodeInterval rest = whole;
    if (whole.missing && bad.missing) {
        if (core.missing) return;
        rest.missing = false;
    }
    if (!bad.has_values() || !values_meet(whole, bad)) {
        act(rest);
        return;
    }
    // If bad.lo is 0, no values are left below it, and the end below it could not be written.
    const CodeInterval below =
        bad.lo == 0 ? CodeInterval{1, 0, rest.missing} : CodeInterval{rest.lo, bad.lo - 1, rest.missing};
    const CodeInterval above{bad.hi + 1, rest.hi, rest.missing};
    if (!core.has_values()) {
        if (below.has_values()) act(below);
        if (above.has_values()) act(above);
        if (!below.has_values() && !above.has_values()) act(CodeInterval{1, 0, rest.missing});
    } else if (core.hi < bad.lo) {
        act(below);
    } else if (core.lo > bad.hi) {
        act(above);
    }
}

// Removes the boxes that cut `bad` off by this column: the core now reaches it there. Returns whether the core changed.
inline bool extend_core(Branch& branch, std::size_t column, const CodeInterval* bad) {
    const CodeInterval &side = branch.box[column], &target = bad[column];
    CodeInterval& core = branch.core[column];
    const bool by_missing = side.missing && target.missing;
    const bool by_values = values_meet(side, target);
    const CodeInterval before = core;
    if (by_missing && !by_values) core.missing = true;
    if (by_values && !by_missing && core.has_values()) {
        if (core.hi < target.lo) core.hi = target.lo;
        if (core.lo > target.hi) core.lo = target.hi;
    }
    return core != before;
}

// As long as something bad in the box can be cut off in only one way, cuts it off. The box must still contain x.
inline void apply_forced_cuts(CodeBox& box, const CodeBoxes& bad, const CodeBox& x) {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < bad.size(); ++i) {
            if (!meet(box, bad[i])) continue;
            std::size_t n_cuts = 0, column = 0;
            CodeInterval only;
            for (std::size_t c = 0; c < box.size() && n_cuts < 2; ++c)
                for_each_cut(box[c], bad[i][c], x[c],
                             [&](const CodeInterval& side) { ++n_cuts, column = c, only = side; });
            if (n_cuts == 1) {
                box[column] = only;
                changed = true;
            }
        }
    }
}

}  // namespace suffice
