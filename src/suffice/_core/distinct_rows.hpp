// Rows to explain that no split of the forest on S tells apart, and that have the same outcome, have the same rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "rows.hpp"
#include "set_cells.hpp"

namespace suffice {

struct DistinctRows {
    std::vector<std::size_t> first;   // the first row of each kind, ascending
    std::vector<std::size_t> of_row;  // by row: its position in `first`
};

inline DistinctRows find_distinct_rows(const Rows& rows, const SetCells& cells) {
    DistinctRows out;
    out.of_row.resize(rows.size());
    std::map<std::vector<std::uint32_t>, std::size_t> position;  // by the codes and the outcome
    const std::size_t n_columns = cells.columns.size();
    std::vector<std::uint32_t> key(n_columns + 2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < n_columns; ++c)
            key[c] = cells.forest_columns[c]->code(rows.row(i)[cells.columns[c]]);
        key[n_columns] = rows.lo[i];
        key[n_columns + 1] = rows.hi[i];
        const auto [found, is_new] = position.try_emplace(key, out.first.size());
        if (is_new) out.first.push_back(i);
        out.of_row[i] = found->second;
    }
    return out;
}

}  // namespace suffice
