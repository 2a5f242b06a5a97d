// Boxes over the columns of a set S: one interval per column, of values or of codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "code_interval.hpp"

namespace suffice {

// The values with low < value <= high (none unless `has_values`), and missing values if `missing`.
struct ValueInterval {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
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

using ValueBox = std::vector<ValueInterval>;
using CodeBox = std::vector<CodeInterval>;

inline bool values_meet(const CodeInterval& a, const CodeInterval& b) {
    return std::max(a.lo, b.lo) <= std::min(a.hi, b.hi);
}

inline bool meet(const CodeInterval& a, const CodeInterval& b) { return (a.missing && b.missing) || values_meet(a, b); }

// `b` has one interval per column of `a`.
inline bool meet(const CodeBox& a, const CodeInterval* b) {
    for (std::size_t c = 0; c < a.size(); ++c)
        if (!meet(a[c], b[c])) return false;
    return true;
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
    void clear(std::size_t n_columns) {
        n_columns_ = n_columns;
        size_ = 0;
        intervals_.clear();
        n_rows_.clear();
    }
    void append(const CodeInterval* box, std::uint32_t n_rows = 0) {
        intervals_.insert(intervals_.end(), box, box + n_columns_);
        n_rows_.push_back(n_rows);
        ++size_;
    }
    std::uint32_t n_rows(std::size_t i) const { return n_rows_[i]; }
    std::size_t size() const { return size_; }
    std::size_t n_bytes() const { return size_ * (sizeof(std::uint32_t) + n_columns_ * sizeof(CodeInterval)); }
    const CodeInterval* operator[](std::size_t i) const { return intervals_.data() + n_columns_ * i; }

    bool any_meets(const CodeBox& box) const {
        for (std::size_t i = 0; i < size_; ++i)
            if (meet(box, (*this)[i])) return true;
        return false;
    }
    template <class Do>
    void for_each_that_meets(const CodeBox& box, const Do& act) const {
        for (std::size_t i = 0; i < size_; ++i)
            if (meet(box, (*this)[i])) act((*this)[i]);
    }
    // The training rows of the boxes that meet `box`.
    std::size_t count_rows(const CodeBox& box) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size_; ++i) n += meet(box, (*this)[i]) ? n_rows_[i] : 0;
        return n;
    }
    // Removes the boxes that do not meet `box`.
    void keep_those_that_meet(const CodeBox& box) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (!meet(box, (*this)[i])) continue;
            std::copy_n((*this)[i], n_columns_, intervals_.data() + n_columns_ * n);
            n_rows_[n++] = n_rows_[i];
        }
        size_ = n;
        intervals_.resize(n_columns_ * n);
        n_rows_.resize(n);
    }

  private:
    std::size_t n_columns_ = 0, size_ = 0;  // a box over no columns is still a box, so the size is counted
    std::vector<CodeInterval> intervals_;
    std::vector<std::uint32_t> n_rows_;
};

}  // namespace suffice
