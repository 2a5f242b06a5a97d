// The distribution of the outcome given X_S = x_S: its shares, mean and quantiles, from the rows of the cells. Without
// a set the rows of the leaves are used, which gives the forest's own conditional distribution.
#pragma once

#include "row_view.hpp"

namespace suffice {

using RanksOfTree = std::span<const std::uint32_t>;

// The ranks of the outcomes of the rows in the leaf of x, by tree. If the leaf has no rows, those of the nearest node
// above it.
class LeafRanks {
  public:
    explicit LeafRanks(const Forest& forest) : forest_(forest) {}
    void set_row(const float* x, std::uint64_t = 0) { x_ = x; }
    // Calls act(ranks) for every tree, and returns their number.
    template <class Do>
    std::size_t for_each_tree(const Do& act) const {
        for (const Tree& tree : forest_.trees) {
            const Node& node = tree.last_with_rows(x_);
            act(RanksOfTree(tree.rank).subspan(node.begin, node.end - node.begin));
        }
        return forest_.trees.size();
    }

  private:
    const Forest& forest_;
    const float* x_ = nullptr;
};

// The same for the projected cell of x for S, in the trees that vote on S.
class CellRanks {
  public:
    CellRanks(const Projection& projection, std::size_t min_node_size)
        : projection_(projection), row_(projection, min_node_size) {}
    void set_row(const float* x, std::uint64_t S) {
        row_.set_row(x);
        S_ = S;
    }
    template <class Do>
    std::size_t for_each_tree(const Do& act) {
        return row_.for_each_cell(S_, [&](std::size_t t, const Cell& cell) {
            ranks_.clear();
            cell.for_each_position([&](std::size_t i) { ranks_.push_back(projection_.trees[t].rank[i]); });
            act(RanksOfTree(ranks_));
        });
    }

  private:
    const Projection& projection_;
    RowView<std::uint64_t> row_;
    std::uint64_t S_ = 0;
    std::vector<std::uint32_t> ranks_;
};

// The mean over the trees of of_tree(ranks).
template <class Ranks, class OfTree>
double mean_over_trees(Ranks& row, const OfTree& of_tree) {
    double sum = 0.0;
    const std::size_t n_trees = row.for_each_tree([&](RanksOfTree ranks) { sum += of_tree(ranks); });
    return sum / static_cast<double>(n_trees);
}

// The probability of an outcome.
template <class Ranks>
double probability(Ranks& row, const RankRange& outcome) {
    const auto is_kept = [&](std::uint32_t rank) { return outcome.lo <= rank && rank <= outcome.hi; };
    return mean_over_trees(row, [&](RanksOfTree ranks) {
        const auto n_kept = std::count_if(ranks.begin(), ranks.end(), is_kept);
        return static_cast<double>(n_kept) / static_cast<double>(ranks.size());
    });
}

template <class Ranks>
double mean(Ranks& row, std::span<const double> y_values) {
    return mean_over_trees(row, [&](RanksOfTree ranks) {
        double total = 0.0;
        for (const std::uint32_t rank : ranks) total += y_values[rank];
        return total / static_cast<double>(ranks.size());
    });
}

// out[j]: the probability of an outcome with rank < end[j]; `end` is ascending.
template <class Ranks>
void cumulative_shares(Ranks& row, std::span<const std::uint32_t> end, double* out) {
    std::fill_n(out, end.size(), 0.0);
    std::vector<std::size_t> count(end.size() + 1);
    const std::size_t n_trees = row.for_each_tree([&](RanksOfTree ranks) {
        std::fill(count.begin(), count.end(), 0);
        for (const std::uint32_t rank : ranks)
            ++count[static_cast<std::size_t>(std::upper_bound(end.begin(), end.end(), rank) - end.begin())];
        std::size_t sum = 0;
        for (std::size_t j = 0; j < end.size(); ++j) {
            sum += count[j];
            out[j] += static_cast<double>(sum) / static_cast<double>(ranks.size());
        }
    });
    for (std::size_t j = 0; j < end.size(); ++j) out[j] /= static_cast<double>(n_trees);
}

// out[j]: the smallest outcome at which the CDF reaches levels[j].
template <class Ranks>
void quantiles(Ranks& row, std::span<const double> levels, std::span<const double> y_values, double* out) {
    // Rank and size of the cell are packed into one integer, which sorts fast. The sums below then do not depend on the
    // order of the rows.
    std::vector<std::uint64_t> rank_and_size;
    const std::size_t n_trees = row.for_each_tree([&](RanksOfTree ranks) {
        for (const std::uint32_t rank : ranks)
            rank_and_size.push_back(std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(ranks.size()));
    });
    std::sort(rank_and_size.begin(), rank_and_size.end());
    for (std::size_t j = 0; j < levels.size(); ++j) {
        const double enough = sum_to_reach(levels[j], n_trees);
        double sum = 0.0;
        std::size_t i = 0;
        do sum += 1.0 / static_cast<double>(static_cast<std::uint32_t>(rank_and_size[i++]));
        while (i < rank_and_size.size() && sum < enough);
        out[j] = y_values[rank_and_size[i - 1] >> 32];
    }
}

}  // namespace suffice
