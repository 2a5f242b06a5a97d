// The share of an outcome in every cell of a set, and the SDP of all training rows that follows from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rows.hpp"
#include "set_cells.hpp"

namespace suffice {

class OutcomeShares {
  public:
    explicit OutcomeShares(const SetCells& cells)
        : cells_(cells), share_(cells.trees.size()), least_(cells.trees.size()), most_(cells.trees.size()) {}

    // Computes the shares, unless they are those of the last call: rows with the same outcome follow each other.
    void set_outcome(const RankRange& outcome) {
        if (outcome_ == outcome) return;
        outcome_ = outcome;
        sum_.clear();
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) set_outcome_in(t, outcome);
    }

    // The smallest and the largest share of all leaves in the subtree of a node.
    double least(std::size_t tree, std::size_t node) const { return least_[tree][node]; }
    double most(std::size_t tree, std::size_t node) const { return most_[tree][node]; }

    // The sum of the shares in the cells of x over the trees. `x` has one value per column of S.
    double sum_at(const float* x) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) sum += share_[t][cells_.trees[t].leaf(x)];
        return sum;
    }

    // The same for every point.
    const std::vector<double>& sums() {
        if (!sum_.empty()) return sum_;
        sum_.assign(cells_.points.size, 0.0);
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) {  // tree by tree, so that its shares stay in the cache
            const double* share = share_[t].data();
            const std::uint32_t* leaf = cells_.leaf_of[t].data();
            for (std::size_t p = 0; p < sum_.size(); ++p) sum_[p] += share[leaf[p]];
        }
        return sum_;
    }

  private:
    void set_outcome_in(std::size_t t, const RankRange& outcome) {
        const ProjectedTree& tree = cells_.trees[t];
        n_hits_before_.resize(tree.rank.size() + 1);
        n_hits_before_[0] = 0;
        for (std::size_t i = 0; i < tree.rank.size(); ++i)
            n_hits_before_[i + 1] = n_hits_before_[i] + ((outcome.lo <= tree.rank[i]) & (tree.rank[i] <= outcome.hi));
        share_[t].resize(tree.nodes.size());
        least_[t].resize(tree.nodes.size());
        most_[t].resize(tree.nodes.size());
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
            const ProjectedNode& node = tree.nodes[i];
            if (node.is_leaf()) {
                share_[t][i] = least_[t][i] = most_[t][i] =
                    static_cast<double>(n_hits_before_[node.end] - n_hits_before_[node.begin]) /
                    static_cast<double>(node.end - node.begin);
            } else {
                const auto l = static_cast<std::size_t>(node.left), r = static_cast<std::size_t>(node.right);
                least_[t][i] = std::min(least_[t][l], least_[t][r]);
                most_[t][i] = std::max(most_[t][l], most_[t][r]);
            }
        }
    }

    const SetCells& cells_;
    std::optional<RankRange> outcome_;
    std::vector<std::vector<double>> share_, least_, most_;  // by tree and node; `share_` at leaves only
    std::vector<std::uint32_t> n_hits_before_;  // by position in the tree's rows: rows before it with the outcome
    std::vector<double> sum_;                   // by point; empty until `sums` is called
};

}  // namespace suffice
