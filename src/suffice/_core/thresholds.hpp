// How values are compared with thresholds, and sums of probabilities with a level.
//
// The code of a value is the number of thresholds below it, so "value <= thresholds[j]" is the same as "code <= j".
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace suffice {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The threshold of a split as float32: a float32 value is at most the result exactly if it is at most `threshold`.
inline float largest_float_up_to(double threshold) {
    const float nearest = static_cast<float>(threshold);
    return static_cast<double>(nearest) <= threshold ? nearest : std::nextafter(nearest, -kInfinity);
}

// The code of a value that is not missing; `thresholds` is ascending. Without branches, since neighbouring rows have
// unrelated values.
inline std::uint32_t code_of(std::span<const float> thresholds, float value) {
    const float* first = thresholds.data();
    for (std::size_t n = thresholds.size(), half; n > 0; n -= half) {
        half = (n + 1) / 2;
        first += first[half - 1] < value ? half : 0;
    }
    return static_cast<std::uint32_t>(first - thresholds.data());
}

inline void sort_and_unite(std::vector<float>& thresholds) {
    std::sort(thresholds.begin(), thresholds.end());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
}

// A mean over the trees may miss a level by this much and still reach it, so that rounding errors decide no tie: if 18
// of 20 trees have share 1 and the others share 0, the mean reaches 0.9. Sums over 1,000 trees are off by 1e-13 at most
// (docs/method.md, 3.6).
inline constexpr double kRounding = 1e-10;

// The sum over the trees at which their mean reaches the level.
inline double sum_to_reach(double level, std::size_t n_trees) {
    return (level - kRounding) * static_cast<double>(n_trees);
}

}  // namespace suffice
