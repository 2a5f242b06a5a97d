// Rows to explain that no split tells apart, and that have the same outcome, have the same answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "projection.hpp"
#include "rows.hpp"
#include "set_cells.hpp"

namespace suffice {

struct DistinctRows {
    std::vector<std::uint32_t> first;   // the first row of each kind, ascending
    std::vector<std::uint32_t> of_row;  // by row: its position in `first`
};

struct HashOfCodes {
    std::size_t operator()(const std::vector<std::uint32_t>& codes) const {
        return static_cast<std::size_t>(std::accumulate(codes.begin(), codes.end(), std::uint64_t{0}, add_to_hash));
    }
};

// add_codes(x, codes) appends the codes of a row: rows with the same codes are not told apart.
template <class AddCodes>
DistinctRows find_distinct_rows(const Rows& rows, const AddCodes& add_codes) {
    DistinctRows out;
    out.of_row.resize(rows.size());
    std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, HashOfCodes> position;  // by codes and outcome
    std::vector<std::uint32_t> key;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        key.assign({rows.lo[i], rows.hi[i]});
        add_codes(rows.row(i), key);
        const auto [at, is_new] = position.try_emplace(key, static_cast<std::uint32_t>(out.first.size()));
        if (is_new) out.first.push_back(static_cast<std::uint32_t>(i));
        out.of_row[i] = at->second;
    }
    return out;
}

// The rows that splits on the columns of a set tell apart.
inline DistinctRows find_distinct_rows(const Rows& rows, const SetCells& cells) {
    return find_distinct_rows(rows, [&](const float* x, std::vector<std::uint32_t>& codes) {
        for (std::size_t c = 0; c < cells.columns.size(); ++c)
            codes.push_back(cells.forest_columns[c]->code(x[cells.columns[c]]));
    });
}

// The rows that splits on the variables of a projection tell apart.
inline DistinctRows find_distinct_rows(const Rows& rows, const Projection& projection) {
    return find_distinct_rows(rows, [&](const float* x, std::vector<std::uint32_t>& codes) {
        for (const std::vector<std::int32_t>& columns : projection.columns)
            for (const std::int32_t column : columns) codes.push_back(projection.code(column, x[column]));
    });
}

}  // namespace suffice
