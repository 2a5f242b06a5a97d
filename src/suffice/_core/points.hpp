// The training rows as points: rows that no split of the forest on S separates are one point. A table of categories,
// whole numbers or repeated measurements has far fewer points than rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "box.hpp"
#include "forest_column.hpp"

namespace suffice {

struct Points {
    std::size_t size = 0;
    std::vector<std::uint32_t> of_row;              // by row of the table: its point
    std::vector<std::vector<std::uint32_t>> codes;  // by column of S and point; kMissing if the value is missing
    CodeBoxes coordinates;                          // by point: its codes, and the number of training rows

    std::size_t n_bytes() const {
        return of_row.size() * sizeof(std::uint32_t) + codes.size() * size * sizeof(std::uint32_t) +
               coordinates.n_bytes();
    }
};

// Numbers the points by their first row, and returns the first row of each.
inline std::vector<std::uint32_t> number_points(std::size_t n_rows, const ForestColumns& forest_columns,
                                                std::vector<std::uint32_t>& of_row) {
    constexpr std::uint32_t kFree = 0xffffffff;
    const auto bits = static_cast<int>(std::bit_width(2 * n_rows));
    std::vector<std::uint32_t> slots(std::size_t{1} << bits, kFree);  // points by the hash of their codes
    std::vector<std::uint64_t> hash(n_rows, 0);
    for (const auto& column : forest_columns)  // column by column, so that each is read from its beginning to its end
        for (std::size_t i = 0; i < n_rows; ++i)
            hash[i] = (hash[i] ^ column->codes[i]) * 0x9E3779B97F4A7C15ull, hash[i] ^= hash[i] >> 32;
    std::vector<std::uint32_t> first_row;
    const auto is_at = [&](std::size_t row, std::uint32_t point) {
        return std::all_of(forest_columns.begin(), forest_columns.end(),
                           [&](const auto& column) { return column->codes[row] == column->codes[first_row[point]]; });
    };
    of_row.resize(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::size_t slot = (hash[i] * 0x9E3779B97F4A7C15ull) >> (64 - bits);
        while (slots[slot] != kFree && !is_at(i, slots[slot])) slot = (slot + 1) & (slots.size() - 1);
        if (slots[slot] == kFree) {
            slots[slot] = static_cast<std::uint32_t>(first_row.size());
            first_row.push_back(static_cast<std::uint32_t>(i));
        }
        of_row[i] = slots[slot];
    }
    return first_row;
}

// `forest_columns` are the columns of S.
inline Points find_points(std::size_t n_rows, const ForestColumns& forest_columns) {
    Points points;
    const std::vector<std::uint32_t> first_row = number_points(n_rows, forest_columns, points.of_row);
    points.size = first_row.size();
    std::vector<std::uint32_t> n_rows_of(points.size, 0);
    for (const std::uint32_t point : points.of_row) ++n_rows_of[point];
    points.codes.assign(forest_columns.size(), std::vector<std::uint32_t>(points.size));
    points.coordinates.clear(forest_columns.size());
    CodeBox point(forest_columns.size());
    for (std::size_t p = 0; p < points.size; ++p) {
        for (std::size_t c = 0; c < forest_columns.size(); ++c) {
            points.codes[c][p] = forest_columns[c]->codes[first_row[p]];
            point[c] = ForestColumn::interval(points.codes[c][p]);
        }
        points.coordinates.append(point.data(), n_rows_of[p]);
    }
    return points;
}

}  // namespace suffice
