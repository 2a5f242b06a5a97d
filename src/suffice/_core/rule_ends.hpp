// Chooses the ends of a rule among all those that cover the same training rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "box.hpp"
#include "forest_column.hpp"

namespace suffice {

// The weighted median of the thresholds first ... last, each weighted by the number of rows that the forest splits
// there.
inline std::uint32_t median_threshold(const ForestColumn& column, std::uint32_t first, std::uint32_t last) {
    std::uint64_t total = 0, before = 0;
    for (std::uint32_t i = first; i <= last; ++i) total += column.weight[i];
    std::uint32_t i = first;
    while (i < last && 2 * (before += column.weight[i]) < total) ++i;
    return i;
}

// Moves the ends of `box`. An end with nothing bad beyond it is opened. Any other end may lie anywhere between the
// covered rows and the first bad one beyond them; it moves to the threshold where the forest splits most rows (the
// weighted median). The box stays within `widest`, and `rows` is the smallest box around x and the covered rows.
inline void place_ends(CodeBox& box, const CodeBox& widest, const CodeBox& rows, const CodeBoxes& bad,
                       const ForestColumns& columns) {
    for (std::size_t c = 0; c < box.size(); ++c) {
        CodeInterval& side = box[c];
        if (side.has_values() && rows[c].has_values()) {
            side.lo = widest[c].lo;
            std::uint32_t least = widest[c].lo;
            bad.for_each_that_meets(box, [&](const CodeInterval* b) { least = std::max(least, b[c].hi + 1); });
            side.lo = least == 0 ? 0 : 1 + median_threshold(*columns[c], least - 1, rows[c].lo - 1);
            side.hi = widest[c].hi;
            std::uint32_t most = widest[c].hi;
            bad.for_each_that_meets(box, [&](const CodeInterval* b) { most = std::min(most, b[c].lo - 1); });
            const std::uint32_t end = columns[c]->largest_code();
            side.hi = most == end ? end : median_threshold(*columns[c], rows[c].hi, most);
        }
        side.missing = widest[c].missing;
        if (bad.any_meets(box)) side.missing = rows[c].missing;
    }
}

}  // namespace suffice
