// Counts the training rows of the good points in a box, and in the box with a smaller side in one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "box.hpp"
#include "forest_column.hpp"

namespace suffice {

class GoodCounts {
  public:
    // Numbers the codes of the good points in each column without gaps, so that the time to count depends on the number
    // of points and not on the number of thresholds. `good` must stay as it is until the next call.
    void index(const CodeBoxes& good, const ForestColumns& columns) {
        good_ = &good;
        n_codes_below_.resize(columns.size());
        position_.resize(columns.size());
        n_rows_below_.resize(columns.size());
        n_missing_.resize(columns.size());
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::vector<std::uint32_t>& n_below = n_codes_below_[c];
            n_below.assign(columns[c]->thresholds.size() + 2, 0);
            for (std::size_t i = 0; i < good.size(); ++i)
                if (good[i][c].has_values()) n_below[good[i][c].lo + 1] = 1;
            for (std::size_t code = 1; code < n_below.size(); ++code) n_below[code] += n_below[code - 1];
            position_[c].resize(good.size());
            for (std::size_t i = 0; i < good.size(); ++i)
                position_[c][i] = good[i][c].has_values() ? n_below[good[i][c].lo] : kMissing;
        }
    }

    // Counts the rows of the good points in a box.
    void count(const CodeBox& box) {
        find_inside(box);
        n_rows_ = 0;
        for (const std::uint32_t i : inside_) n_rows_ += good_->n_rows(i);
        for (std::size_t c = 0; c < box.size(); ++c) {
            std::vector<std::uint32_t>& n_below = n_rows_below_[c];
            n_below.assign(n_codes_below_[c].back() + 1, 0);
            n_missing_[c] = 0;
            for (const std::uint32_t i : inside_)
                (position_[c][i] == kMissing ? n_missing_[c] : n_below[position_[c][i] + 1]) += good_->n_rows(i);
            for (std::size_t p = 1; p < n_below.size(); ++p) n_below[p] += n_below[p - 1];
        }
    }

    // In the box that was counted last.
    std::size_t n_rows() const { return n_rows_; }
    // In that box with another side in column `c`.
    std::size_t n_rows(std::size_t c, const CodeInterval& side) const {
        const auto [first, end] = positions(c, side);
        return n_rows_below_[c][end] - n_rows_below_[c][first] + (side.missing ? n_missing_[c] : 0);
    }

  private:
    std::pair<std::uint32_t, std::uint32_t> positions(std::size_t c, const CodeInterval& side) const {
        if (!side.has_values()) return {0, 0};
        return {n_codes_below_[c][side.lo], n_codes_below_[c][side.hi + 1]};
    }

    void find_inside(const CodeBox& box) {
        inside_.resize(good_->size());
        std::iota(inside_.begin(), inside_.end(), 0u);
        std::size_t n = inside_.size();
        for (std::size_t c = 0; c < box.size(); ++c) {
            const auto [first, end] = positions(c, box[c]);
            const std::uint32_t width = end - first;
            const bool missing = box[c].missing;
            const std::uint32_t* position = position_[c].data();
            std::size_t n_left = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const std::uint32_t i = inside_[j];
                inside_[n_left] = i;
                n_left += (position[i] - first < width) | (missing & (position[i] == kMissing));
            }
            n = n_left;
        }
        inside_.resize(n);
    }

    const CodeBoxes* good_ = nullptr;
    std::vector<std::vector<std::uint32_t>> n_codes_below_;  // by column and code: distinct codes of good points below
    std::vector<std::vector<std::uint32_t>> position_;      // by column and good point: its n_codes_below_, or kMissing
    std::vector<std::uint32_t> inside_;                     // the good points in the box that was counted last
    std::size_t n_rows_ = 0;                                // their rows
    std::vector<std::vector<std::uint32_t>> n_rows_below_;  // by column and position: their rows below
    std::vector<std::uint32_t> n_missing_;                  // by column: their rows with a missing value
};

}  // namespace suffice
