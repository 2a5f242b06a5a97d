// What a row, or all rows of a region, reach in the trees of a forest if some variables may change (docs/method.md,
// 7.1 and 7.3).
//
// The departure mask of a node has one bit for each variable on which its path leaves the region. A node can be reached
// by changing the variables of S exactly if its mask is a part of S.
#pragma once

#include <bit>

#include "box.hpp"
#include "forest.hpp"
#include "forest_column.hpp"

namespace suffice {

// The bit of all variables that may not change: it is in no set.
inline constexpr std::uint64_t kUnchangeable = std::uint64_t{1} << 63;

// Where changes are searched: the columns of variables that have a bit may change.
struct ChangeSpace {
    const Forest& forest;
    std::span<const std::uint32_t> y_rank;  // by training row
    std::size_t n_variables = 0;            // that may change
    std::vector<std::uint64_t> bit_of;      // by column: the bit of its variable, or kUnchangeable
    ForestColumns columns;                  // by column that may change; only without `everywhere`
    std::vector<const double*> votes;       // by tree: what its nodes predict for each rank; empty if rows are counted
};

struct ChangeOptions {
    std::vector<std::int32_t> variable_of;    // by column: the number of its variable, or -1 if it may not change
    std::vector<std::vector<float>> allowed;  // by column: the values it may take, ascending; empty if any
    double pi;
    double min_plausibility;
    bool everywhere;       // every point of a box must have the wanted outcome, not only its rows on average
    bool votes;            // with `everywhere`: a leaf says what its tree predicts, not what its rows have
    bool minimal_only;     // stop at the smallest size that has a change
    std::size_t min_size;  // of a set
    std::size_t max_size;
    std::size_t n_changes;  // boxes to return
    std::size_t max_sets;
    std::size_t max_nodes;     // branches to look at for one box
    std::size_t n_candidates;  // without `everywhere`: variables of which sets of two and more are made
    std::size_t min_node_size;
};

// The wanted outcomes.
class Wanted {
  public:
    // `flags` has one flag for each rank, and is kept.
    Wanted(const ChangeSpace& space, const std::uint8_t* flags) : space_(space), flags_(flags) {}

    bool holds(std::uint32_t row) const { return flags_[space_.y_rank[row]] != 0; }

    // What a node says of them: the share of its rows that have one, or the votes for them.
    double share(std::size_t t, std::size_t i) const {
        const Tree& tree = space_.forest.trees[t];
        const Node& node = tree.nodes[i];
        if (space_.votes.empty()) {
            std::uint32_t n = 0;
            for (std::uint32_t k = node.begin; k < node.end; ++k) n += flags_[tree.rank[k]];
            return static_cast<double>(n) / static_cast<double>(node.end - node.begin);
        }
        const std::size_t n_classes = space_.forest.y_values.size();
        const double* votes = space_.votes[t] + static_cast<std::size_t>(tree.number[i]) * n_classes;
        double sum = 0.0;
        for (std::size_t k = 0; k < n_classes; ++k)
            if (flags_[k]) sum += votes[k];
        return sum;
    }

  private:
    const ChangeSpace& space_;
    const std::uint8_t* flags_;
};

// The values of a column that a path admits.
struct Passage {
    std::size_t column;
    ValueInterval interval;
};

// A leaf that can be reached.
struct ReachedLeaf {
    std::uint64_t mask;
    double share;  // of the wanted outcome
    std::vector<Passage> passages;
};

// The part of a tree that the rows of a region reach by changing up to `max_size` variables within the limits, and the
// rows of its projected cells for what does not change. Sets with the same first splits share their rows.
class ReachedTree {
  public:
    ReachedTree(const ChangeSpace& space, std::size_t t, const Wanted& wanted, const ChangeOptions& options,
                const ValueBox& region, const ValueBox& limits)
        : tree_(space.forest.trees[t]), X_(space.forest.X), min_node_size_(options.min_node_size), parts_(1) {
        const std::vector<Node>& nodes = tree_.nodes;
        // With votes, a leaf without rows has a share as well. Otherwise the nearest node above it with rows counts.
        const auto is_empty = [&](const Node& node) { return space.votes.empty() && node.begin == node.end; };
        std::vector<Step> steps(nodes.size());
        steps[0] = {0, 0, true};
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Step step = steps[i];
            if (step.mask & kUnchangeable) continue;
            const Node& node = nodes[i];
            if ((node.is_leaf() || is_empty(node)) && step.is_allowed && !is_empty(nodes[step.parent]))
                add_leaf(space, steps, i, wanted.share(t, is_empty(node) ? step.parent : i), region);
            if (node.is_leaf()) continue;
            const bool left = meets(region, node, true), right = meets(region, node, false);
            const std::uint64_t bit = space.bit_of[static_cast<std::size_t>(node.column)];
            if (left != right) splits_.push_back({step.mask, bit, static_cast<std::uint32_t>(i), left});
            for (const bool is_left : {true, false}) {
                const bool stays = is_left ? left : right;
                const std::uint64_t mask = stays ? step.mask : step.mask | bit;
                if (static_cast<std::size_t>(std::popcount(mask)) > options.max_size) continue;
                steps[static_cast<std::size_t>(is_left ? node.left : node.right)] = {
                    mask, static_cast<std::uint32_t>(i), step.is_allowed && (stays || meets(limits, node, is_left))};
            }
        }
    }

    // Calls act(leaf) for the leaves that S reaches.
    template <class Do>
    void for_each_leaf(std::uint64_t S, const Do& act) const {
        for (const ReachedLeaf& leaf : leaves_)
            if (!(leaf.mask & ~S)) act(leaf);
    }

    // The largest share of a leaf that S reaches.
    double most_share(std::uint64_t S) const {
        double most = 0.0;
        for (const auto& [mask, share] : most_shares_)
            if (!(mask & ~S) && share > most) most = share;
        return most;
    }

    // The rows of the projected cell if all variables but those of S are known.
    const std::vector<std::uint32_t>& rows(std::uint64_t S) {
        std::size_t part = 0;
        for (const SidedSplit& split : splits_) {
            if ((split.mask & ~S) || (split.bit & S)) continue;
            const std::size_t next = part_after(part, split);
            if (next == kTooFew) break;
            part = next;
        }
        return rows_of(part);
    }

  private:
    static constexpr std::size_t kTooFew = 0;  // the first part comes after no other

    // How a node is reached. The root is its own parent.
    struct Step {
        std::uint64_t mask = kUnchangeable;  // with this bit, it is not reached
        std::uint32_t parent = 0;
        bool is_allowed = false;  // the limits let something come here; cells do not depend on limits
    };
    // A split at which all rows of the region go to the same side.
    struct SidedSplit {
        std::uint64_t mask;
        std::uint64_t bit;  // of its variable
        std::uint32_t node;
        bool goes_left;
    };
    struct Part {
        std::vector<std::uint32_t> rows;                          // empty for the first part, which has all rows
        std::vector<std::pair<std::uint32_t, std::size_t>> next;  // by the split that is tested: the part that is kept
    };

    // Whether some of a box goes left, or right.
    static bool meets(const ValueBox& box, const Node& node, bool left) {
        const ValueInterval& side = box[static_cast<std::size_t>(node.column)];
        return !side.part(largest_float_up_to(node.threshold), node.missing_left, left).is_empty();
    }

    // Columns that neither may change nor vary in the region admit all of it, and have no passage.
    void add_leaf(const ChangeSpace& space, const std::vector<Step>& steps, std::size_t leaf, double share,
                  const ValueBox& region) {
        const std::uint64_t mask = steps[leaf].mask;
        std::vector<Passage> passages;
        for (std::size_t child = leaf; child != 0; child = steps[child].parent) {
            const Node& node = tree_.nodes[steps[child].parent];
            const auto column = static_cast<std::size_t>(node.column);
            const bool is_left = static_cast<std::size_t>(node.left) == child;
            if (space.bit_of[column] == kUnchangeable && !meets(region, node, !is_left)) continue;
            std::size_t i = 0;
            while (i < passages.size() && passages[i].column != column) ++i;
            if (i == passages.size()) passages.push_back({column, {}});
            ValueInterval& interval = passages[i].interval;
            interval = interval.part(largest_float_up_to(node.threshold), node.missing_left, is_left);
        }
        leaves_.push_back({mask, share, std::move(passages)});
        const auto at =
            std::find_if(most_shares_.begin(), most_shares_.end(), [&](auto& m) { return m.first == mask; });
        if (at == most_shares_.end())
            most_shares_.emplace_back(mask, share);
        else
            at->second = std::max(at->second, share);
    }

    const std::vector<std::uint32_t>& rows_of(std::size_t part) const {
        return part == 0 ? tree_.rows : parts_[part].rows;
    }

    std::size_t part_after(std::size_t part, const SidedSplit& split) {
        for (const auto& [node, next] : parts_[part].next)
            if (node == split.node) return next;
        const Node& node = tree_.nodes[split.node];
        std::vector<std::uint32_t> kept;
        for (const std::uint32_t row : rows_of(part))
            if (node.goes_left(X_.row(row)[node.column]) == split.goes_left) kept.push_back(row);
        const std::size_t next = kept.size() < min_node_size_ ? kTooFew : parts_.size();
        parts_[part].next.emplace_back(split.node, next);
        if (next != kTooFew) parts_.push_back({std::move(kept), {}});
        return next;
    }

    const Tree& tree_;
    Matrix X_;
    std::size_t min_node_size_;
    std::vector<ReachedLeaf> leaves_;
    std::vector<std::pair<std::uint64_t, double>> most_shares_;  // by mask of leaves: the largest share
    std::vector<SidedSplit> splits_;                             // breadth-first
    std::vector<Part> parts_;
};

// The training rows with a weight given what does not change if `set` is free to change.
struct SetWeights {
    std::uint64_t set = 0;
    std::vector<std::uint32_t> rows;  // ascending
    std::vector<double> weight;       // by position in `rows`
    double cdp = 0.0;                 // the weight of those with the wanted outcome
};

// What the rows of one region reach in the forest if they may move to `limits`.
class RegionReach {
  public:
    const ChangeSpace& space;
    const Wanted wanted;
    const ChangeOptions& options;
    const ValueBox region, limits;

    RegionReach(const ChangeSpace& in_space, const std::uint8_t* flags, const ChangeOptions& with, ValueBox from,
                ValueBox to)
        : space(in_space),
          wanted(in_space, flags),
          options(with),
          region(std::move(from)),
          limits(std::move(to)),
          weight_(space.forest.X.n_rows, 0.0) {
        for (std::size_t t = 0; t < space.forest.trees.size(); ++t)
            trees_.emplace_back(space, t, wanted, options, region, limits);
        const double needed = sum_to_reach(options.pi, trees_.size());
        if (options.everywhere && most_sum(0, needed) >= needed) find_ends_around();
    }

    const std::vector<ReachedTree>& trees() const { return trees_; }

    // The thresholds of the forest that are nearest to the region, by column: boxes may end there. Only if a point of
    // the region has the wanted outcome does a box that begins between these and those of reached leaves have it, too:
    // otherwise there are none.
    const ValueBox& ends_around() const { return around_; }

    // A bound of the sum of the shares at any point that S can reach; less than `needed` if that is certain early.
    double most_sum(std::uint64_t S, double needed) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            sum += trees_[t].most_share(S);
            if (sum + static_cast<double>(trees_.size() - 1 - t) < needed) return sum;
        }
        return sum;
    }

    // The weights of the training rows given what does not change.
    SetWeights weigh(std::uint64_t S) {
        SetWeights out;
        out.set = S;
        for (ReachedTree& tree : trees_) {
            const std::vector<std::uint32_t>& rows = tree.rows(S);
            const double weight = 1.0 / (static_cast<double>(trees_.size()) * static_cast<double>(rows.size()));
            for (const std::uint32_t row : rows) {
                if (weight_[row] == 0.0) out.rows.push_back(row);
                weight_[row] += weight;
            }
        }
        std::sort(out.rows.begin(), out.rows.end());
        for (const std::uint32_t row : out.rows) {
            if (wanted.holds(row)) out.cdp += weight_[row];
            out.weight.push_back(std::exchange(weight_[row], 0.0));
        }
        return out;
    }

  private:
    void find_ends_around() {
        around_.assign(region.size(), {});
        for (const Tree& tree : space.forest.trees)
            for (const Node& node : tree.nodes) {
                if (node.is_leaf()) continue;
                const auto c = static_cast<std::size_t>(node.column);
                const float threshold = largest_float_up_to(node.threshold);
                if (threshold <= region[c].low) around_[c].low = std::max(around_[c].low, threshold);
                if (threshold >= region[c].high) around_[c].high = std::min(around_[c].high, threshold);
            }
    }

    std::vector<ReachedTree> trees_;
    ValueBox around_;             // by column; empty if no box ends there
    std::vector<double> weight_;  // by training row; 0 between calls
};

}  // namespace suffice
