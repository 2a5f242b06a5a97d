// The training rows as points: rows that no split of the forest on S separates are one point. A table of categories,
// whole numbers or repeated measurements has far fewer points than rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "box.hpp"
#include "forest_column.hpp"
#include "rows.hpp"

namespace suffice {

struct Points {
    std::size_t size = 0;
    std::vector<std::uint32_t> of_row;       // by row of the table: its point
    std::vector<std::vector<float>> values;  // by column of S and point
    CodeBoxes coordinates;                   // by point: its codes, and the number of training rows

    std::size_t n_bytes() const {
        return of_row.size() * sizeof(std::uint32_t) + values.size() * size * sizeof(float) + coordinates.n_bytes();
    }
};

// Numbers the points by their first row, one column of S after the other.
inline void number_points(std::size_t n_rows, const ForestColumns& forest_columns, Points& points) {
    points.of_row.assign(n_rows, 0);
    points.size = 1;
    std::unordered_map<std::uint64_t, std::uint32_t> number;  // by the point so far and the code in one more column
    for (const auto& column : forest_columns) {
        number.clear();
        number.reserve(2 * points.size);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::uint64_t key = std::uint64_t{points.of_row[i]} << 32 | column->codes[i];
            points.of_row[i] = number.try_emplace(key, static_cast<std::uint32_t>(number.size())).first->second;
        }
        points.size = number.size();
    }
}

// `columns` are the columns of S in the table, and `forest_columns` their codes.
inline Points find_points(const Matrix& X, std::span<const std::int32_t> columns, const ForestColumns& forest_columns) {
    Points points;
    number_points(X.n_rows, forest_columns, points);
    std::vector<std::uint32_t> n_rows(points.size, 0), first_row(points.size, 0);
    for (std::size_t i = X.n_rows; i-- > 0;) {
        ++n_rows[points.of_row[i]];
        first_row[points.of_row[i]] = static_cast<std::uint32_t>(i);
    }
    points.values.assign(columns.size(), std::vector<float>(points.size));
    points.coordinates.clear(columns.size());
    CodeBox point(columns.size());
    for (std::size_t p = 0; p < points.size; ++p) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            points.values[c][p] = X.row(first_row[p])[columns[c]];
            point[c] = ForestColumn::interval(forest_columns[c]->codes[first_row[p]]);
        }
        points.coordinates.append(point.data(), n_rows[p]);
    }
    return points;
}

}  // namespace suffice
