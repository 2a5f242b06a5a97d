// The sum of the squared weights of the training rows (docs/method.md, 1.2) at a row for a set, for many rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "cell.hpp"
#include "projection.hpp"

namespace suffice {

// Adds up the weights of training rows, cell after cell, and squares them.
class WeightSum {
  public:
    explicit WeightSum(const Projection& projection) : projection_(projection) {}

    // Adds the weights of the rows of a cell of tree t.
    void add(std::size_t t, const CellFinder::Cell& cell) {
        weight_.resize(projection_.forest->X.n_rows, 0.0);
        const std::vector<std::uint32_t>& rows = projection_.forest->trees[t].rows;
        const double weight = 1.0 / static_cast<double>(cell.n_rows);
        const auto add_row = [&](std::size_t position) {
            if (weight_[rows[position]] == 0.0) weighted_.push_back(rows[position]);
            weight_[rows[position]] += weight;
        };
        if (cell.is_whole)
            for (std::size_t i = 0; i < cell.n_rows; ++i) add_row(i);
        else
            for_each_position(cell.rows, add_row);
    }

    // The sum of the squared weights so far, those of so many cells being the mean. Starts anew.
    double take_squares(std::size_t n_cells) {
        double sum = 0.0;
        for (const std::uint32_t row : weighted_) {
            sum += weight_[row] * weight_[row];
            weight_[row] = 0.0;
        }
        weighted_.clear();
        return sum / static_cast<double>(n_cells * n_cells);
    }

  private:
    const Projection& projection_;
    std::vector<double> weight_;           // by training row: k times its weight
    std::vector<std::uint32_t> weighted_;  // the rows that have some
};

// Rows that no split on a set tells apart have the same sum for it, which is computed once.
template <class Set>
class SquaredWeights {
  public:
    SquaredWeights(const Projection& projection, std::size_t min_node_size)
        : projection_(projection), cell_(projection, min_node_size), sum_(projection) {}

    double find(const float* x, Set set) {
        key_.clear();
        const Members<Set> members(set);
        for (std::size_t j = 0; j < members.size(); ++j) {
            key_.push_back(members[j]);
            for (const std::int32_t column : projection_.columns[members[j]])
                key_.push_back(projection_.code(column, x[column]));
        }
        if (known_.size() > kMaxKnown) known_.clear();
        const auto [at, is_new] = known_.try_emplace(key_, 0.0);
        if (is_new) {
            const std::size_t n_votes = projection_.count_votes(members), n_trees = projection_.trees.size();
            for (std::size_t t = 0; t < n_trees; ++t)
                if (n_votes == n_trees || (projection_.trees[t].variables & set) != 0)
                    sum_.add(t, cell_.find(t, x, members));
            at->second = sum_.take_squares(n_votes);
        }
        return at->second;
    }

  private:
    static constexpr std::size_t kMaxKnown = 1 << 14;  // about 2 MiB; not tuned

    const Projection& projection_;
    CellOfRow cell_;
    WeightSum sum_;
    std::vector<std::uint32_t> key_;
    std::map<std::vector<std::uint32_t>, double> known_;  // by variables and codes
};

}  // namespace suffice
