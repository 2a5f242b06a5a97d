// The cells of all training rows for one set S. They do not depend on the outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "forest_column.hpp"
#include "parallel.hpp"
#include "points.hpp"
#include "projected_tree.hpp"

namespace suffice {

struct SetCells {
    std::size_t n_table_columns = 0;
    std::vector<std::int32_t> columns;  // the columns of S in the table
    ForestColumns forest_columns;       // by column of S
    Points points;
    std::vector<ProjectedTree> trees;
    std::vector<std::vector<std::uint32_t>> leaf_of;  // by tree and point

    std::size_t n_rows() const { return points.of_row.size(); }
    // Without `forest_columns`, which several sets share.
    std::size_t n_bytes() const {
        std::size_t n = points.n_bytes();
        for (const ProjectedTree& tree : trees)
            n += tree.nodes.size() * sizeof(ProjectedNode) + tree.rank.size() * sizeof(std::uint32_t);
        for (const auto& leaves : leaf_of) n += leaves.size() * sizeof(std::uint32_t);
        return n;
    }
};

inline SetCells find_set_cells(const Forest& forest, std::span<const std::int32_t> columns,
                               ForestColumns forest_columns, std::size_t min_node_size, std::size_t n_threads,
                               const std::function<void(std::size_t)>& watch) {
    SetCells cells;
    cells.n_table_columns = forest.X.n_columns;
    cells.columns.assign(columns.begin(), columns.end());
    cells.forest_columns = std::move(forest_columns);
    cells.points = find_points(forest.X.n_rows, cells.forest_columns);
    std::vector<std::int32_t> position_of(forest.X.n_columns, -1);
    for (std::size_t c = 0; c < columns.size(); ++c)
        position_of[static_cast<std::size_t>(columns[c])] = static_cast<std::int32_t>(c);
    cells.trees.resize(forest.trees.size());
    cells.leaf_of.resize(forest.trees.size());
    StopFlag stop{false};
    const auto make_worker = [&] {
        return [&, builder = std::make_shared<ProjectedTreeBuilder>(forest, cells.points, cells.forest_columns,
                                                                    position_of, min_node_size)](std::size_t t) {
            cells.trees[t] = builder->build(t, cells.leaf_of[t]);
        };
    };
    for_each_row(forest.trees.size(), n_threads, stop, make_worker, watch, 1);
    return cells;
}

}  // namespace suffice
