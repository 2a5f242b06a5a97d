// How sums of probabilities are compared with a level.
#pragma once

#include <cstddef>

namespace suffice {

// A mean over the trees may miss a level by this much and still reach it, so that rounding errors decide no tie: if 18
// of 20 trees have share 1 and the others share 0, the mean reaches 0.9.
inline constexpr double kRounding = 1e-10;

// The sum over the trees at which their mean reaches the level.
inline double sum_to_reach(double level, std::size_t n_trees) {
    return (level - kRounding) * static_cast<double>(n_trees);
}

}  // namespace suffice
