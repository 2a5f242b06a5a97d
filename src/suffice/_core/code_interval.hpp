// An interval of codes of one column. The thresholds of a column cut its values into pieces, numbered from 0: the code
// of a value is the number of thresholds below it (see thresholds.hpp).
//
// The kernels use this header too, so it must not call any function of the standard library (see kernels.hpp).
#pragma once

#include <cstdint>

namespace suffice {

// The codes with lo <= code <= hi (none if lo > hi), and missing values if `missing`.
struct CodeInterval {
    std::uint32_t lo = 0;
    std::uint32_t hi = 0;
    bool missing = false;

    bool has_values() const { return lo <= hi; }
    bool operator==(const CodeInterval&) const = default;
};

}  // namespace suffice
