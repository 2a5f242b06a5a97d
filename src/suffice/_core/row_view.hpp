// The SDP of sets of variables at one row, tree by tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "kernels.hpp"
#include "projection.hpp"
#include "rows.hpp"

namespace suffice {

// The type of sets if the departure masks of splits have type Mask.
template <class Mask>
using SetOf = std::conditional_t<std::is_same_v<Mask, WideSet>, WideSet, std::uint64_t>;

// Keeps the shares of one row for some sets. A new set overwrites the old one in its slot, whose share is computed
// again if it is needed again.
template <class Set>
class ShareMemo {
  public:
    explicit ShareMemo(std::size_t n_variables)
        : bits_(static_cast<int>(std::min<std::size_t>(n_variables, 11))), entries_(std::size_t{1} << bits_) {}
    // The slot for the share of a set, and whether the share of this row is in it already. Rows are numbered from 1.
    std::pair<double*, bool> find(Set set, std::uint64_t row) {
        Entry& entry = entries_[set < entries_.size() ? static_cast<std::size_t>(set) : hash(set)];
        const bool known = entry.set == set && entry.row == row;
        entry.set = set;
        entry.row = row;  // cheaper than clearing all slots for every row
        return {&entry.share, known};
    }

  private:
    struct Entry {
        Set set = 0;
        std::uint64_t row = 0;
        double share = 0.0;
    };

    std::size_t hash(Set set) const {
        auto word = static_cast<std::uint64_t>(set);
        if constexpr (sizeof(Set) > sizeof(word)) word ^= static_cast<std::uint64_t>(set >> 64) * 0xC2B2AE3D27D4EB4Full;
        return static_cast<std::size_t>((word * 0x9E3779B97F4A7C15ull) >> (64 - bits_));
    }

    int bits_;
    std::vector<Entry> entries_;
};

// One row x with its outcome: the SDP of any set of variables.
template <class Mask>
class RowView {
  public:
    using Set = SetOf<Mask>;
    explicit RowView(const Projection& projection)
        : projection_(projection),
          splits_(projection.trees.size()),
          bits_(projection.trees.size()),
          n_marginal_(projection.trees.size()),
          is_ready_(projection.trees.size()),
          memo_(projection.trees.size(), ShareMemo<Set>(projection.n_variables)) {}

    void set_row(const float* x, const RankRange& outcome) {
        x_ = x;
        outcome_ = outcome;
        ++row_;
        std::fill(is_ready_.begin(), is_ready_.end(), 0);
    }

    std::size_t n_trees() const { return projection_.trees.size(); }

    // The share of the rows with the outcome in the cell of x for S, in one tree.
    double share(std::size_t tree, Set S, std::size_t min_node_size) {
        prepare(tree);
        const Set effective = effective_set(splits_[tree], S);
        const auto [share, known] = memo_[tree].find(effective, row_);
        if (known) return *share;
        const auto cell = finder_.find(projection_.trees[tree], splits_[tree], effective, min_node_size);
        const std::size_t hits = cell.is_whole ? n_marginal_[tree] : kernels().count(cell.rows, bits_[tree].data());
        return *share = static_cast<double>(hits) / static_cast<double>(cell.n_rows);
    }

    double sdp(Set S, std::size_t min_node_size) {
        double sum = 0.0;
        for (std::size_t tree = 0; tree < n_trees(); ++tree) sum += share(tree, S, min_node_size);
        return sum / static_cast<double>(n_trees());
    }

    // The sum of the squared weights of the training rows (docs/method.md, 1.2) at x for S.
    double squared_weights(Set S, std::size_t min_node_size) {
        weight_.resize(projection_.forest->X.n_rows, 0.0);
        weighted_.clear();
        for (std::size_t t = 0; t < n_trees(); ++t) {
            prepare(t);
            const auto cell =
                finder_.find(projection_.trees[t], splits_[t], effective_set(splits_[t], S), min_node_size);
            const std::vector<std::uint32_t>& rows = projection_.forest->trees[t].rows;
            const double weight = 1.0 / static_cast<double>(cell.n_rows);
            const auto add = [&](std::size_t position) {
                if (weight_[rows[position]] == 0.0) weighted_.push_back(rows[position]);
                weight_[rows[position]] += weight;
            };
            if (cell.is_whole)
                for (std::size_t i = 0; i < cell.n_rows; ++i) add(i);
            else
                for_each_position(cell.rows, add);
        }
        double sum = 0.0;
        for (const std::uint32_t row : weighted_) {
            sum += weight_[row] * weight_[row];
            weight_[row] = 0.0;
        }
        return sum / static_cast<double>(n_trees() * n_trees());
    }

  private:
    [[gnu::noinline]] void prepare(std::size_t t) {
        if (is_ready_[t]) return;
        is_ready_[t] = 1;
        const CodedTree& tree = projection_.trees[t];
        splits_[t].find(tree, x_, scratch_);
        bits_[t].resize(n_blocks(tree.n_rows));
        n_marginal_[t] = kernels().outcome(tree.rank, tree.n_rows, outcome_.lo, outcome_.hi, bits_[t].data());
    }

    const Projection& projection_;
    const float* x_ = nullptr;
    std::uint64_t row_ = 0;  // how many rows have been set
    RankRange outcome_;
    std::vector<Splits<Mask>> splits_;
    std::vector<std::vector<std::uint64_t>> bits_;  // by tree: its rows with the outcome
    std::vector<std::size_t> n_marginal_;           // their number
    std::vector<std::uint8_t> is_ready_;
    std::vector<ShareMemo<Set>> memo_;
    std::vector<double> weight_;           // by training row: k times its weight
    std::vector<std::uint32_t> weighted_;  // the rows that have some
    typename Splits<Mask>::Scratch scratch_;
    CellFinder finder_;
};

}  // namespace suffice
