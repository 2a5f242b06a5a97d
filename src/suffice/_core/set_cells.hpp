// The cells of all training rows for one set S, which do not depend on the outcome, and the shares of an outcome in
// them.
#pragma once

#include <bit>
#include <numeric>
#include <optional>

#include "parallel.hpp"
#include "projected_tree.hpp"

namespace suffice {

struct SetCells {
    std::size_t n_table_columns = 0;
    std::vector<std::int32_t> columns;  // the columns of S in the table
    ForestColumns forest_columns;       // by column of S
    Points points;
    std::vector<ProjectedTree> trees;                 // those that vote on S
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
                               ForestColumns forest_columns, std::size_t min_node_size, bool all_vote,
                               std::size_t n_threads, const std::function<void(std::size_t)>& watch) {
    SetCells cells;
    cells.n_table_columns = forest.X.n_columns;
    cells.columns.assign(columns.begin(), columns.end());
    cells.forest_columns = std::move(forest_columns);
    cells.points = find_points(forest.X.n_rows, cells.forest_columns);
    std::vector<std::int32_t> position_of(forest.X.n_columns, -1);
    for (std::size_t c = 0; c < columns.size(); ++c)
        position_of[static_cast<std::size_t>(columns[c])] = static_cast<std::int32_t>(c);
    std::vector<std::size_t> voters;  // the trees that split on S; all trees if there are none
    for (std::size_t t = 0; t < forest.trees.size(); ++t)
        if (all_vote || std::any_of(cells.forest_columns.begin(), cells.forest_columns.end(),
                                    [&](const auto& column) { return !column->codes_of_splits[t].empty(); }))
            voters.push_back(t);
    if (voters.empty()) {
        voters.resize(forest.trees.size());
        std::iota(voters.begin(), voters.end(), std::size_t{0});
    }
    cells.trees.resize(voters.size());
    cells.leaf_of.resize(voters.size());
    StopFlag stop{false};
    const auto make_worker = [&] {
        return [&, builder = std::make_shared<ProjectedTreeBuilder>(forest, cells.points, cells.forest_columns,
                                                                    position_of, min_node_size)](std::size_t i) {
            cells.trees[i] = builder->build(voters[i], cells.leaf_of[i]);
        };
    };
    for_each_row(voters.size(), n_threads, stop, make_worker, watch, 1);
    return cells;
}

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

    // The sum of the shares in the cells of x over the trees.
    double sum_at(const CodeBox& x) const {
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
    static constexpr std::size_t kTreesBetweenChecks = 4;  // a check costs about as much as a tree; not tuned

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
