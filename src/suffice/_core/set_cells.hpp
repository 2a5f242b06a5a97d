// The cells of points for one set S, and the shares of an outcome in them.
#pragma once

#include <limits>
#include <mutex>
#include <optional>

#include "projected_tree.hpp"

namespace suffice {

// Rows that no split of the forest on S separates are one point: a table of categories, whole numbers or repeated
// measurements has far fewer points than rows.
struct Points {
    std::vector<std::vector<std::uint32_t>> codes;  // by column of S and point; kMissing if the value is missing
    std::vector<std::uint32_t> n_rows;              // by point: of those that a rule counts
    std::vector<double> sum;                        // by point: of the shares over the trees; -1 while it is not known

    std::size_t size() const { return sum.size(); }
    void clear() { *this = {std::vector<std::vector<std::uint32_t>>(codes.size()), {}, {}, {}}; }
    // The number of the point with these codes, which is new if there was none.
    std::uint32_t add(const std::vector<std::uint32_t>& key) {
        if (2 * size() >= slots_.size()) grow_slots();
        std::size_t slot = slot_of([&](std::size_t c) { return key[c]; });
        for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1))
            if (is_at(slots_[slot], key)) return slots_[slot];
        slots_[slot] = static_cast<std::uint32_t>(size());
        for (std::size_t c = 0; c < codes.size(); ++c) codes[c].push_back(key[c]);
        n_rows.push_back(0);
        sum.push_back(-1.0);
        return slots_[slot];
    }
    // The point as a box.
    CodeBox box(std::uint32_t p) const {
        CodeBox out;
        for (const std::vector<std::uint32_t>& column : codes) out.push_back(ForestColumn::interval(column[p]));
        return out;
    }
    const std::vector<std::uint32_t>& copy(std::uint32_t p, std::vector<std::uint32_t>& key) const {
        for (std::size_t c = 0; c < codes.size(); ++c) key[c] = codes[c][p];
        return key;
    }

    std::vector<std::uint32_t> slots_;  // points by the hash of their codes

  private:
    static constexpr std::uint32_t kFree = 0xffffffff;

    bool is_at(std::uint32_t p, const std::vector<std::uint32_t>& key) const {
        for (std::size_t c = 0; c < codes.size(); ++c)
            if (codes[c][p] != key[c]) return false;
        return true;
    }
    template <class CodeOf>
    std::size_t slot_of(const CodeOf& code_of_column) const {
        std::uint64_t hash = 0;
        for (std::size_t c = 0; c < codes.size(); ++c) hash = add_to_hash(hash, code_of_column(c));
        return (hash * 0x9E3779B97F4A7C15ull >> 32) & (slots_.size() - 1);
    }
    void grow_slots() {
        slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kFree);
        for (std::uint32_t p = 0; p < size(); ++p) {
            std::size_t slot = slot_of([&](std::size_t c) { return codes[c][p]; });
            while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = p;
        }
    }
};

class OutcomeShares;

// How many training rows a rule looks at (docs/method.md, 5.2).
struct LookedAt {
    std::size_t few = 4096;                   // all, if there are not more
    std::size_t most = std::size_t{1} << 18;  // otherwise not more than these,
    std::size_t enough = 4096;                // and no more once so many points may lie in the rule
};

// What all rows with one set share. `projection` has the columns of S, and may have more.
class SetCells {
  public:
    const Forest& forest;
    std::vector<std::int32_t> columns;  // the columns of S in the table
    ForestColumns forest_columns;       // by column of S
    std::vector<const ForestColumn::Rows*> rows;
    CodeBox all;                    // the box of all points
    std::vector<SetSplits> voters;  // the trees that vote on S
    std::size_t min_node_size;
    LookedAt looked_at;

    SetCells(const Projection& projection, std::span<const std::int32_t> numbers, ForestColumns coded,
             std::size_t least, const LookedAt& limits)
        : forest(*projection.forest),
          columns(numbers.begin(), numbers.end()),
          forest_columns(std::move(coded)),
          min_node_size(least),
          looked_at(limits) {
        std::vector<std::int32_t> position_of(forest.X.n_columns, -1);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            position_of[static_cast<std::size_t>(columns[c])] = static_cast<std::int32_t>(c);
            rows.push_back(&forest_columns[c]->rows(forest));
            all.push_back(forest_columns[c]->all_codes());
        }
        std::vector<std::size_t> informed;  // the trees that split on S
        for (std::size_t t = 0; t < forest.trees.size(); ++t)
            if (std::any_of(forest_columns.begin(), forest_columns.end(),
                            [&](const auto& column) { return !column->codes_of_splits[t].empty(); }))
                informed.push_back(t);
        if (projection.all_vote || informed.empty()) {
            informed.resize(forest.trees.size());
            std::iota(informed.begin(), informed.end(), std::size_t{0});
        }
        for (const std::size_t t : informed) voters.emplace_back(projection.trees[t], t, forest_columns, position_of);
    }

    std::size_t n_rows() const { return forest.X.n_rows; }
    bool has_few_rows() const { return n_rows() <= looked_at.few; }
    std::size_t n_bytes() const;
    // The trees that an earlier search has grown, or new ones. Searches at the same time have their own: which nodes
    // there are changes no result.
    std::shared_ptr<OutcomeShares> take() const;

  private:
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<OutcomeShares>> spare_;
};

// The projected trees of a set, as far as they were needed, and the shares of one outcome in their nodes.
class OutcomeShares {
  public:
    Points points;

    explicit OutcomeShares(const SetCells& cells) : cells_(cells), known_(cells.voters.size()) {
        points.codes.resize(cells.columns.size());
        for (const SetSplits& splits : cells.voters) trees_.emplace_back(splits, cells.min_node_size, cells.all);
        has_outcome_.resize(trees_.size());
    }

    std::size_t n_bytes() const {
        std::size_t n = points.size() * (points.codes.size() + 5) * sizeof(std::uint32_t);
        for (std::size_t t = 0; t < trees_.size(); ++t)
            n += trees_[t].n_bytes() + known_[t].capacity() * sizeof(Bounds);
        return n;
    }

    // Rows with the same outcome follow each other. `needed` is the sum of the shares of a good point.
    void set_outcome(const RankRange& outcome, double needed) {
        if (outcome_ == outcome && needed_ == needed) return;
        outcome_ = outcome;
        needed_ = needed;
        for (std::vector<Bounds>& known : known_) std::fill(known.begin(), known.end(), Bounds{});
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            const CodedTree& tree = cells_.voters[t].tree;
            has_outcome_[t].resize(tree.n_row_words);
            kernels().outcome(tree.rank, tree.n_rows, outcome.lo, outcome.hi, has_outcome_[t].data());
        }
        if (cells_.has_few_rows())
            std::fill(points.sum.begin(), points.sum.end(), -1.0);
        else
            points.clear();
    }

    // A node, which has its children now or is a leaf.
    const ProjectedTree::Node& node(std::size_t t, std::uint32_t i) {
        const ProjectedTree::Node& node = trees_[t].grown(i, sent_right_);
        if (known_[t].size() < trees_[t].size()) known_[t].resize(trees_[t].size());
        return node;
    }
    // The smallest and the largest share of all leaves below a node, if they are known. At a leaf both are its share.
    struct Bounds {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        bool is_known() const { return least <= most; }
    };
    const Bounds& known(std::size_t t, std::uint32_t i) const { return known_[t][i]; }
    // Notes the bounds of a node whose children's are known.
    void note(std::size_t t, std::uint32_t i) {
        const std::uint32_t left = trees_[t][i].left;
        const Bounds &a = known(t, left), &b = known(t, left + 1);
        if (a.is_known() && b.is_known()) known_[t][i] = {std::min(a.least, b.least), std::max(a.most, b.most)};
    }
    // The bounds of a node, below which everything grows.
    const Bounds& bounds(std::size_t t, std::uint32_t top) {
        if (known(t, top).is_known()) return known(t, top);
        std::vector<std::uint32_t> below{top};
        for (std::size_t k = 0; k < below.size(); ++k) {
            const std::uint32_t i = below[k];
            if (node(t, i).is_leaf())
                share(t, i);
            else if (!known(t, i).is_known())
                below.insert(below.end(), {node(t, i).left, node(t, i).left + 1});
        }
        for (; !below.empty(); below.pop_back())
            if (!known(t, below.back()).is_known()) note(t, below.back());
        return known(t, top);
    }
    // The share in a leaf.
    double share(std::size_t t, std::uint32_t i) {
        Bounds& bounds = known_[t][i];
        if (!bounds.is_known()) bounds.least = bounds.most = trees_[t].share(i, has_outcome_[t].data());
        return bounds.least;
    }

    // The sum of the shares in the cells of x over the trees.
    double sum_at(const CodeBox& x) {
        double sum = 0.0;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            std::uint32_t i = 0;
            for (const ProjectedTree::Node* at = &node(t, i); !at->is_leaf(); at = &node(t, i))
                i = at->left + !at->goes_left(x[at->column].missing ? kMissing : x[at->column].lo);
            sum += share(t, i);
        }
        return sum;
    }

    // The same for points where it is not known; bad ones may have a smaller sum.
    void add_up(std::vector<std::uint32_t> which) {
        std::erase_if(which, [&](std::uint32_t p) { return points.sum[p] >= 0; });
        for (const std::uint32_t p : which) points.sum[p] = 0.0;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            add_shares(t, which);
            if (t % kTreesBetweenChecks != kTreesBetweenChecks - 1) continue;
            // The margin is wider than all rounding errors of the sums, so no good point is left out.
            const double least =
                needed_ - static_cast<double>(trees_.size() - t - 1) - kRounding * static_cast<double>(trees_.size());
            std::erase_if(which, [&](std::uint32_t p) { return points.sum[p] < least; });
        }
    }

  private:
    static constexpr std::size_t kTreesBetweenChecks = 4;  // not tuned

    // Passes points down a tree, all points of a node together.
    void add_shares(std::size_t t, std::vector<std::uint32_t>& which) {
        stack_.assign(1, {0, 0, static_cast<std::uint32_t>(which.size())});
        while (!stack_.empty()) {
            auto [i, begin, end] = stack_.back();
            stack_.pop_back();
            for (const ProjectedTree::Node* at = &node(t, i); !at->is_leaf(); at = &node(t, i)) {
                const std::uint32_t* const codes = points.codes[at->column].data();
                const std::uint32_t middle = begin + divide(which.data() + begin, end - begin, sent_right_,
                                                            [&](std::uint32_t p) { return at->goes_left(codes[p]); });
                i = at->left + (middle == begin);
                if (begin < middle && middle < end) stack_.push_back({at->left + 1, middle, end});
                if (begin < middle) end = middle;
            }
            const double add = share(t, i);
            for (std::uint32_t k = begin; k < end; ++k) points.sum[which[k]] += add;
        }
    }

    struct Passing {
        std::uint32_t node, begin, end;
    };

    const SetCells& cells_;
    std::vector<ProjectedTree> trees_;
    std::optional<RankRange> outcome_;
    double needed_ = 0.0;
    std::vector<std::vector<std::uint64_t>> has_outcome_;  // by tree: one bit for each of its rows
    std::vector<std::vector<Bounds>> known_;               // by tree and node
    std::vector<std::uint32_t> sent_right_;
    std::vector<Passing> stack_;
};

inline std::size_t SetCells::n_bytes() const {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const SetSplits& of_tree : voters) n += of_tree.splits.size() * sizeof(SetSplits::Split);
    for (const auto& shares : spare_) n += shares->n_bytes();
    return n;
}

inline std::shared_ptr<OutcomeShares> SetCells::take() const {
    std::unique_ptr<OutcomeShares> shares;
    {
        const std::lock_guard lock(mutex_);
        if (!spare_.empty()) {
            shares = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    if (!shares) shares = std::make_unique<OutcomeShares>(*this);
    return {shares.release(), [this](OutcomeShares* used) {
                const std::lock_guard lock(mutex_);
                spare_.emplace_back(used);
            }};
}

}  // namespace suffice
