// What is known of single variables for many rows: rows that no split of the forest on a variable tells apart have the
// same cells for it, and are computed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "projection.hpp"
#include "rows.hpp"

namespace suffice {

// Numbers by value of one variable, filled in when they are needed first.
class SingleSums {
  public:
    // `n_outcomes` is 1 for numbers that do not depend on the outcome.
    SingleSums(const Projection& projection, std::size_t n_outcomes)
        : projection_(projection), n_outcomes_(n_outcomes), numbers_(projection.n_variables) {}

    // The number for the value of x and an outcome, to be filled in if it is NaN. nullptr if it is not kept: variables
    // of several columns, and tables that would be large.
    double* find(std::size_t variable, const float* x, std::size_t outcome) {
        const std::vector<std::int32_t>& columns = projection_.columns[variable];
        if (columns.size() != 1 || outcome >= n_outcomes_) return nullptr;
        const std::size_t n_codes = projection_.thresholds[static_cast<std::size_t>(columns[0])].size() + 2;
        if (n_codes * n_outcomes_ > kMaxNumbers) return nullptr;
        std::vector<double>& numbers = numbers_[variable];
        if (numbers.empty()) numbers.assign(n_codes * n_outcomes_, std::numeric_limits<double>::quiet_NaN());
        return &numbers[projection_.code(columns[0], x[columns[0]]) * n_outcomes_ + outcome];
    }

  private:
    static constexpr std::size_t kMaxNumbers = 1 << 16;  // of a variable: half a megabyte

    const Projection& projection_;
    std::size_t n_outcomes_;
    std::vector<std::vector<double>> numbers_;  // by variable
};

}  // namespace suffice
