// The columns that a change may move, cut into pieces at thresholds, and boxes of such pieces.
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
#include "cuts.hpp"
#include "forest_column.hpp"
#include "thresholds.hpp"

namespace suffice {

struct Axis {
    std::int32_t column = 0;
    std::vector<float> thresholds;     // ascending
    std::vector<std::uint32_t> codes;  // by position: the piece between two thresholds; ascending
    bool missing = false;              // whether a missing value may be reached

    Axis() = default;
    // The pieces within `limits` that hold one of the values in `allowed`; all of them if it is empty.
    Axis(std::int32_t of_column, std::vector<float> at, const ValueInterval& limits, const std::vector<float>& allowed)
        : column(of_column), thresholds(std::move(at)), missing(limits.missing) {
        if (!limits.has_values) return;
        const std::uint32_t first = code_of(thresholds, std::nextafter(limits.low, kInfinity));
        const std::uint32_t last = code_of(thresholds, limits.high);
        if (allowed.empty()) {
            for (std::uint32_t code = first; code <= last; ++code) codes.push_back(code);
            return;
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
        const std::uint32_t lo = code_of(thresholds, std::nextafter(values.low, kInfinity));
        const std::uint32_t hi = code_of(thresholds, values.high);
        const auto begin = std::lower_bound(codes.begin(), codes.end(), lo);
        const auto end = std::upper_bound(codes.begin(), codes.end(), hi);
        if (begin >= end) return out;
        out.lo = static_cast<std::uint32_t>(begin - codes.begin());
        out.hi = static_cast<std::uint32_t>(end - codes.begin()) - 1;
        return out;
    }

    // The values of some positions, with the pieces between them that may not be reached.
    ValueInterval values(const CodeInterval& positions) const {
        ValueInterval out;
        out.missing = positions.missing;
        out.has_values = positions.has_values();
        if (!out.has_values) return out;
        const std::uint32_t lo = codes[positions.lo], hi = codes[positions.hi];
        if (lo > 0) out.low = thresholds[lo - 1];
        if (hi < thresholds.size()) out.high = thresholds[hi];
        return out;
    }

  private:
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
};

inline bool is_within(const CodeInterval& inner, const CodeInterval& outer) {
    if (inner.missing && !outer.missing) return false;
    return !inner.has_values() || (outer.lo <= inner.lo && inner.hi <= outer.hi);
}

inline bool is_nothing(const CodeInterval& side) { return !side.missing && !side.has_values(); }

// Training rows that have the same positions, with their weights.
struct WeightedPoints {
    std::size_t n_axes = 0;
    std::vector<CodeInterval> positions;  // by point and axis
    std::vector<double> wanted, other;    // the weights of its rows with the wanted outcome, and of the others

    std::size_t size() const { return wanted.size(); }
    const CodeInterval* operator[](std::size_t p) const { return positions.data() + n_axes * p; }
    double weight(std::size_t p) const { return wanted[p] + other[p]; }
    void clear(std::size_t n) {
        n_axes = n;
        positions.clear();
        wanted.clear();
        other.clear();
    }
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
    constexpr CodeInterval kNoCore{1, 0, false};
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
            for_each_cut(box[c], boxes[i][c], kNoCore, [&](const CodeInterval& side) {
                if (is_nothing(side)) return;
                CodeBox part = box;
                part[c] = side;
                stack.emplace_back(std::move(part), i + 1);
            });
    }
}

}  // namespace suffice
