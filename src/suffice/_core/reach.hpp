// What a row, or all rows of a region, reach in the trees of a forest if some variables may change.
//
// The departure mask of a node has one bit for each variable on which its path leaves the region. A node can be reached
// by changing the variables of S exactly if its mask is a part of S.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "box.hpp"
#include "forest.hpp"
#include "thresholds.hpp"

namespace suffice {

// The bit of all variables that may not change.
inline constexpr std::uint64_t kUnchangeable = std::uint64_t{1} << 63;

inline ValueInterval common_part(const ValueInterval& a, const ValueInterval& b) {
    ValueInterval out{std::max(a.low, b.low), std::min(a.high, b.high), false, a.missing && b.missing};
    out.has_values = a.has_values && b.has_values && out.low < out.high;
    return out;
}

// Where changes are searched: the rows of `region` may move to `limits`, in the columns of variables that have a bit.
struct ChangeSpace {
    const Forest& forest;
    std::span<const std::uint32_t> y_rank;           // by training row
    std::vector<std::uint64_t> bit_of;               // by column: the bit of its variable, or kUnchangeable
    std::vector<std::vector<std::int32_t>> columns;  // by bit
    std::vector<std::vector<float>> allowed;         // by column: the values it may take, ascending; empty if any
    std::vector<const double*> values;               // by tree: what its nodes predict; empty if it is not needed
    std::size_t n_values = 0;                        // numbers that a node predicts
    std::size_t n_candidates = 10;  // without `everywhere`: variables of which sets of two and more are made
    std::size_t min_node_size = 1;
};

struct ChangeOptions {
    double pi = 0.9;
    double min_plausibility = 0.05;
    bool everywhere = true;    // every point of a box must have the wanted outcome, not only its rows on average
    bool votes = false;        // with `everywhere`: a leaf says what its tree predicts, not what its rows have
    bool minimal_only = true;  // stop at the smallest size that has a change
    std::size_t min_size = 1;  // of a set
    std::size_t max_size = 3;
    std::size_t n_changes = 3;  // boxes to return
    std::size_t max_sets = 1 << 20;
    std::size_t max_nodes = 10'000;     // branches to look at for one box
    std::size_t max_regions = 500'000;  // regions to check in the proofs for one set, as for rules; not tuned
};

// The values of a column that a path admits.
struct Passage {
    std::int32_t column;
    ValueInterval interval;
};

// A leaf that can be reached.
struct ReachedLeaf {
    std::uint64_t mask;
    std::uint32_t node;        // whose rows count: the leaf, or the nearest node above it that has rows
    std::uint32_t begin, end;  // its passages
};

// A split at which all rows of the region go to the same side.
struct SidedSplit {
    std::uint64_t mask;
    std::uint64_t bit;  // of its variable
    std::uint32_t node;
    bool goes_left;
};

struct ReachedTree {
    std::vector<ReachedLeaf> leaves;
    std::vector<SidedSplit> splits;  // breadth-first
    std::vector<Passage> passages;
};

class Reach {
  public:
    // With `needs_rows`, a leaf without rows is replaced by the nearest node above it that has rows.
    Reach(const ChangeSpace& space, bool needs_rows) : space_(space), needs_rows_(needs_rows) {}

    // The part of a tree that can be reached by changing up to `max_size` variables.
    ReachedTree find(const Tree& tree, const ValueBox& region, const ValueBox& limits, std::size_t max_size) {
        ReachedTree out;
        state_.assign(tree.nodes.size(), {});
        state_[0] = {0, -1, true, is_empty(tree.nodes[0]), true};
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const State state = state_[i];
            if (!state.is_reached) continue;
            const Node& node = tree.nodes[i];
            const auto parent = static_cast<std::size_t>(state.parent);
            const bool ends = node.is_leaf() || is_empty(node);
            if (ends && state.is_allowed && (state.parent < 0 || !state_[parent].is_empty))
                add_leaf(tree, i, is_empty(node) && state.parent >= 0 ? parent : i, region, out);
            if (node.is_leaf()) continue;
            const auto column = static_cast<std::size_t>(node.column);
            const float threshold = largest_float_up_to(node.threshold);
            const bool left = !region[column].part(threshold, node.missing_left, true).is_empty();
            const bool right = !region[column].part(threshold, node.missing_left, false).is_empty();
            if (left != right)
                out.splits.push_back({state.mask, space_.bit_of[column], static_cast<std::uint32_t>(i), left});
            reach_child(tree, i, node.left, left, !limits[column].part(threshold, node.missing_left, true).is_empty(),
                        max_size);
            reach_child(tree, i, node.right, right,
                        !limits[column].part(threshold, node.missing_left, false).is_empty(), max_size);
        }
        return out;
    }

  private:
    struct State {
        std::uint64_t mask = 0;
        std::int32_t parent = -1;
        bool is_reached = false;
        bool is_empty = false;    // the node has no rows, and needs some
        bool is_allowed = false;  // the limits let something come here; cells do not depend on limits
    };

    bool is_empty(const Node& node) const { return needs_rows_ && node.begin == node.end; }

    void reach_child(const Tree& tree, std::size_t parent, std::int32_t child, bool stays, bool is_allowed,
                     std::size_t max_size) {
        std::uint64_t mask = state_[parent].mask;
        if (!stays) {
            const std::uint64_t bit = space_.bit_of[static_cast<std::size_t>(tree.nodes[parent].column)];
            if (bit == kUnchangeable) return;
            mask |= bit;
            if (static_cast<std::size_t>(std::popcount(mask)) > max_size) return;
        }
        const Node& node = tree.nodes[static_cast<std::size_t>(child)];
        state_[static_cast<std::size_t>(child)] = {mask, static_cast<std::int32_t>(parent), true, is_empty(node),
                                                   state_[parent].is_allowed && (stays || is_allowed)};
    }

    // Columns that neither may change nor vary in the region admit all of it, and have no passage.
    void add_leaf(const Tree& tree, std::size_t leaf, std::size_t counted, const ValueBox& region, ReachedTree& out) {
        const auto begin = static_cast<std::uint32_t>(out.passages.size());
        for (auto child = static_cast<std::int32_t>(leaf); state_[static_cast<std::size_t>(child)].parent >= 0;) {
            const std::int32_t parent = state_[static_cast<std::size_t>(child)].parent;
            const Node& node = tree.nodes[static_cast<std::size_t>(parent)];
            const auto column = static_cast<std::size_t>(node.column);
            const float threshold = largest_float_up_to(node.threshold);
            const bool is_left = node.left == child;
            const bool is_split = !region[column].part(threshold, node.missing_left, !is_left).is_empty();
            child = parent;
            if (space_.bit_of[column] == kUnchangeable && !is_split) continue;
            const ValueInterval side = ValueInterval{}.part(threshold, node.missing_left, is_left);
            const auto at = std::find_if(out.passages.begin() + begin, out.passages.end(),
                                         [&](const Passage& p) { return p.column == node.column; });
            if (at == out.passages.end())
                out.passages.push_back({node.column, side});
            else
                at->interval = common_part(at->interval, side);
        }
        out.leaves.push_back({state_[leaf].mask, static_cast<std::uint32_t>(counted), begin,
                              static_cast<std::uint32_t>(out.passages.size())});
    }

    const ChangeSpace& space_;
    bool needs_rows_;
    std::vector<State> state_;  // by node
};

// The rows of the cells of a tree for what does not change at one row or region. Sets with the same first splits share
// their rows.
class FixedCells {
  public:
    FixedCells(const Tree& tree, const Matrix& X, std::size_t min_node_size)
        : tree_(tree), X_(X), min_node_size_(min_node_size), parts_(1) {}

    // The rows of the projected cell if all variables but those of S are known.
    const std::vector<std::uint32_t>& rows(const ReachedTree& reached, std::uint64_t S) {
        std::size_t part = 0;
        for (const SidedSplit& split : reached.splits) {
            if ((split.mask & ~S) || (split.bit & S)) continue;
            const std::int32_t next = part_after(part, split);
            if (next < 0) break;
            part = static_cast<std::size_t>(next);
        }
        return rows_of(part);
    }

  private:
    static constexpr std::int32_t kTooFew = -1;

    struct Part {
        std::vector<std::uint32_t> rows;                           // empty for the first part, which has all rows
        std::vector<std::pair<std::uint32_t, std::int32_t>> next;  // by the split that is tested: the part that is kept
    };

    const std::vector<std::uint32_t>& rows_of(std::size_t part) const {
        return part == 0 ? tree_.rows : parts_[part].rows;
    }

    std::int32_t part_after(std::size_t part, const SidedSplit& split) {
        for (const auto& [node, next] : parts_[part].next)
            if (node == split.node) return next;
        const Node& node = tree_.nodes[split.node];
        std::vector<std::uint32_t> kept;
        for (const std::uint32_t row : rows_of(part))
            if (node.goes_left(X_.row(row)[node.column]) == split.goes_left) kept.push_back(row);
        std::int32_t next = kTooFew;
        if (kept.size() >= min_node_size_) {
            next = static_cast<std::int32_t>(parts_.size());
            parts_.push_back({std::move(kept), {}});
        }
        parts_[part].next.emplace_back(split.node, next);
        return next;
    }

    const Tree& tree_;
    Matrix X_;
    std::size_t min_node_size_;
    std::vector<Part> parts_;
};

class LeafShares {
  public:
    // With `votes`, a leaf says what its tree predicts, not the share of the rows that the tree counts. `wanted` has
    // one flag for each rank, and is kept.
    LeafShares(const ChangeSpace& space, bool votes, const std::uint8_t* wanted)
        : space_(space), votes_(votes), wanted_(wanted), share_(space.forest.trees.size()) {
        for (std::size_t t = 0; t < share_.size(); ++t) {
            share_[t].assign(space_.forest.trees[t].nodes.size(), 0.0);
            if (votes_)
                add_votes(t);
            else
                count_rows(t);
        }
    }

    const std::uint8_t* wanted() const { return wanted_; }
    bool is_wanted(std::uint32_t row) const { return wanted_[space_.y_rank[row]] != 0; }
    double operator()(std::size_t tree, std::size_t node) const { return share_[tree][node]; }
    // Whether a leaf has no share if the tree counts no rows in it.
    bool needs_rows() const { return !votes_; }

  private:
    void count_rows(std::size_t t) {
        const Tree& tree = space_.forest.trees[t];
        std::vector<std::uint32_t> n_before(tree.rows.size() + 1, 0);
        for (std::size_t i = 0; i < tree.rows.size(); ++i) n_before[i + 1] = n_before[i] + wanted_[tree.rank[i]];
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            if (node.begin == node.end) continue;
            share_[t][i] = static_cast<double>(n_before[node.end] - n_before[node.begin]) /
                           static_cast<double>(node.end - node.begin);
        }
    }

    void add_votes(std::size_t t) {
        const Tree& tree = space_.forest.trees[t];
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const double* value = space_.values[t] + static_cast<std::size_t>(tree.number[i]) * space_.n_values;
            for (std::size_t k = 0; k < space_.n_values; ++k)
                if (wanted_[k]) share_[t][i] += value[k];
        }
    }

    const ChangeSpace& space_;
    bool votes_;
    const std::uint8_t* wanted_;
    std::vector<std::vector<double>> share_;  // by tree and node
};

}  // namespace suffice
