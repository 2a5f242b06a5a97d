// The probability of the wanted outcomes in the leaves of a forest: the share of the rows that a tree counts, or what
// the tree itself predicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "reach.hpp"

namespace suffice {

class LeafShares {
  public:
    // With `votes`, a leaf says what its tree predicts, not the share of the rows that the tree counts.
    LeafShares(const ChangeSpace& space, bool votes)
        : space_(space), votes_(votes), share_(space.forest.trees.size()) {}

    // `wanted` has one flag for each rank.
    void set_wanted(const std::uint8_t* wanted) {
        for (std::size_t t = 0; t < share_.size(); ++t) {
            share_[t].assign(space_.forest.trees[t].nodes.size(), 0.0);
            if (votes_)
                add_votes(t, wanted);
            else
                count_rows(t, wanted);
        }
    }

    double operator()(std::size_t tree, std::size_t node) const { return share_[tree][node]; }
    // Whether a leaf has no share if the tree counts no rows in it.
    bool needs_rows() const { return !votes_; }

  private:
    void count_rows(std::size_t t, const std::uint8_t* wanted) {
        const Tree& tree = space_.forest.trees[t];
        n_before_.assign(tree.rows.size() + 1, 0);
        for (std::size_t i = 0; i < tree.rows.size(); ++i) n_before_[i + 1] = n_before_[i] + wanted[tree.rank[i]];
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            if (node.begin == node.end) continue;
            share_[t][i] = static_cast<double>(n_before_[node.end] - n_before_[node.begin]) /
                           static_cast<double>(node.end - node.begin);
        }
    }

    void add_votes(std::size_t t, const std::uint8_t* wanted) {
        const Tree& tree = space_.forest.trees[t];
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const double* value = space_.values[t] + static_cast<std::size_t>(tree.number[i]) * space_.n_values;
            for (std::size_t k = 0; k < space_.n_values; ++k)
                if (wanted[k]) share_[t][i] += value[k];
        }
    }

    const ChangeSpace& space_;
    bool votes_;
    std::vector<std::vector<double>> share_;  // by tree and node
    std::vector<std::uint32_t> n_before_;
};

}  // namespace suffice
