// Ways to cut something bad off a box: one side of the box becomes smaller, so that it no longer meets the bad one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "box.hpp"

namespace suffice {

// A side that cuts something bad off, and the best value that a box with this side can have.
struct Cut {
    std::size_t column;
    CodeInterval side;
    double value;
};

// A part of the search: the boxes that lie in `box` and contain all of `core`.
struct Branch {
    CodeBox box;
    CodeBox core;
    double value;       // an upper bound of their values
    std::size_t order;  // among branches of equal value, the one that was made first comes first
    bool operator<(const Branch& other) const {
        return value != other.value ? value < other.value : order > other.order;
    }
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
