// Thresholds of splits as float32, and the codes that they give to values.
//
// The code of a value is the number of thresholds below it, so "value <= thresholds[j]" is the same as "code <= j".
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace suffice {

// The threshold of a split as float32: a float32 value is at most the result exactly if it is at most `threshold`.
inline float largest_float_up_to(double threshold) {
    const float nearest = static_cast<float>(threshold);
    return static_cast<double>(nearest) <= threshold ? nearest
                                                     : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

// The code of a value that is not missing; `thresholds` is ascending.
inline std::uint32_t code_of(const std::vector<float>& thresholds, float value) {
    return static_cast<std::uint32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), value) -
                                      thresholds.begin());
}

}  // namespace suffice
