// The share of an outcome in every cell of a set, and the SDP of all training rows that follows from it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels.hpp"
#include "rounding.hpp"
#include "rows.hpp"
#include "set_cells.hpp"

namespace suffice {

class OutcomeShares {
  public:
    explicit OutcomeShares(const SetCells& cells)
        : cells_(cells), least_(cells.trees.size()), most_(cells.trees.size()) {}

    // Computes the shares, unless they are those of the last call: rows with the same outcome follow each other.
    void set_outcome(const RankRange& outcome) {
        if (outcome_ == outcome) return;
        outcome_ = outcome;
        sum_.clear();
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) set_outcome_in(t, outcome);
    }

    // The smallest and the largest share of all leaves in the subtree of a node. At a leaf both are its share.
    double least(std::size_t tree, std::size_t node) const { return least_[tree][node]; }
    double most(std::size_t tree, std::size_t node) const { return most_[tree][node]; }

    // The sum of the shares in the cells of x over the trees. `x` has one value per column of S.
    double sum_at(const float* x) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) sum += least_[t][cells_.trees[t].leaf(x)];
        return sum;
    }

    // The same for every point that reaches `needed`, which must be the same until the outcome changes. A point whose
    // sum falls behind is left out of the trees that follow, and has some smaller sum here.
    const std::vector<double>& sums(double needed = -1.0) {
        if (!sum_.empty()) return sum_;
        const std::size_t n_trees = cells_.trees.size();
        sum_.assign(cells_.points.size, 0.0);
        alive_.resize(sum_.size());
        std::iota(alive_.begin(), alive_.end(), 0u);
        double most_left = 0.0;  // an upper bound of the shares that are still to be added
        for (std::size_t t = 0; t < n_trees; ++t) most_left += most_[t][0];
        std::size_t n_alive = alive_.size();
        for (std::size_t t = 0; t < n_trees; ++t) {  // tree by tree, so that its shares stay in the cache
            const double* share = least_[t].data();
            const std::uint32_t* leaf = cells_.leaf_of[t].data();
            most_left -= most_[t][0];
            if (n_alive == sum_.size()) {
                for (std::size_t p = 0; p < n_alive; ++p) sum_[p] += share[leaf[p]];
            } else {
                for (std::size_t i = 0; i < n_alive; ++i) sum_[alive_[i]] += share[leaf[alive_[i]]];
            }
            if (t % kTreesBetweenChecks != kTreesBetweenChecks - 1) continue;
            // The margin is wider than all rounding errors of the sums, so no point that reaches `needed` is left out.
            const double least = needed - most_left - kRounding * static_cast<double>(n_trees);
            std::size_t n_left = 0;
            for (std::size_t i = 0; i < n_alive; ++i) {
                const std::uint32_t p = alive_[i];
                alive_[n_left] = p;
                n_left += sum_[p] >= least;
            }
            n_alive = n_left;
        }
        return sum_;
    }

  private:
    static constexpr std::size_t kTreesBetweenChecks = 4;

    void set_outcome_in(std::size_t t, const RankRange& outcome) {
        const ProjectedTree& tree = cells_.trees[t];
        const std::size_t n_words = tree.rank.size() / kBlock;
        hits_.resize(n_words + 1);
        hits_[n_words] = 0;
        n_hits_before_.resize(n_words + 1);
        kernels().outcome(tree.rank.data(), tree.n_rows, outcome.lo, outcome.hi, hits_.data());
        n_hits_before_[0] = 0;
        for (std::size_t i = 0; i < n_words; ++i)
            n_hits_before_[i + 1] = n_hits_before_[i] + static_cast<std::uint32_t>(std::popcount(hits_[i]));
        least_[t].resize(tree.nodes.size());
        most_[t].resize(tree.nodes.size());
        double* least = least_[t].data();
        double* most = most_[t].data();
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
            const ProjectedNode& node = tree.nodes[i];
            if (node.is_leaf()) {
                least[i] = most[i] = static_cast<double>(n_hits_up_to(node.end) - n_hits_up_to(node.begin)) /
                                     static_cast<double>(node.end - node.begin);
            } else {
                const auto l = static_cast<std::size_t>(node.left), r = static_cast<std::size_t>(node.right);
                least[i] = std::min(least[l], least[r]);
                most[i] = std::max(most[l], most[r]);
            }
        }
    }

    // The number of rows with the outcome before a position in the tree's rows.
    std::uint32_t n_hits_up_to(std::uint32_t position) const {
        const std::uint64_t below = (std::uint64_t{1} << position % kBlock) - 1;
        return n_hits_before_[position / kBlock] +
               static_cast<std::uint32_t>(std::popcount(hits_[position / kBlock] & below));
    }

    const SetCells& cells_;
    std::optional<RankRange> outcome_;
    std::vector<std::vector<double>> least_, most_;  // by tree and node
    std::vector<std::uint64_t> hits_;                // one bit for each of a tree's rows: whether it has the outcome
    std::vector<std::uint32_t> n_hits_before_;       // by word of hits_: the bits in the words before it
    std::vector<double> sum_;                        // by point; empty until `sums` is called
    std::vector<std::uint32_t> alive_;               // the points whose sum may still reach what is needed
};

}  // namespace suffice
