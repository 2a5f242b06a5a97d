// Tables of float32, and rows to explain together with their outcomes. Both are views: the caller owns the memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace suffice {

// A row-major matrix of float32.
struct Matrix {
    const float* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    const float* row(std::size_t i) const { return data + i * n_columns; }
};

// An outcome: the values of y whose rank lies in the closed range [lo, hi]. If lo > hi, no value does.
struct RankRange {
    std::uint32_t lo = 0;
    std::uint32_t hi = 0;
    auto operator<=>(const RankRange&) const = default;
};

// Rows and the outcome of each.
struct Rows {
    Matrix X;
    std::span<const std::uint32_t> lo;
    std::span<const std::uint32_t> hi;

    std::size_t size() const { return X.n_rows; }
    const float* row(std::size_t i) const { return X.row(i); }
    RankRange outcome(std::size_t i) const { return {lo[i], hi[i]}; }
};

}  // namespace suffice
