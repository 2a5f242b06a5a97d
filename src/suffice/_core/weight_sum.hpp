// The sum of the squared weights of the training rows (docs/method.md, 1.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cell.hpp"
#include "projection.hpp"

namespace suffice {

// Adds up the weights of training rows, cell after cell, and squares them.
class WeightSum {
  public:
    explicit WeightSum(const Projection& projection) : projection_(projection) {}

    // Adds the weights of the rows of a cell of tree t.
    void add(std::size_t t, const Cell& cell) {
        weight_.resize(projection_.forest->X.n_rows, 0.0);
        const std::vector<std::uint32_t>& rows = projection_.forest->trees[t].rows;
        const double weight = 1.0 / static_cast<double>(cell.n_rows);
        const auto add_row = [&](std::size_t position) {
            if (weight_[rows[position]] == 0.0) weighted_.push_back(rows[position]);
            weight_[rows[position]] += weight;
        };
        cell.for_each_position(add_row);
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

}  // namespace suffice
