// The shares of many rows and many sets in one tree, all walks together (docs/method.md, 3.7).
//
// cell.hpp walks for one row and one set. Two walks that have tested the same splits with the same sides have the same
// rows left, whatever their rows and sets are: they are in the same state. This header walks from state to state, depth
// first, and takes all walks along that come by, so that the rows of a state are filtered once for all of them. In one
// state, all rows of a set test the same split next: a step of a row is one comparison.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "box.hpp"
#include "cell.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "projection.hpp"
#include "rows.hpp"

namespace suffice {

// A walk of a row, and where its share is added.
struct SharedWalk {
    std::uint32_t row;
    std::uint32_t place;
};

// The walks [begin, end) are those of one set.
template <class Set>
struct WalksOfSet {
    Set set;
    std::uint32_t begin, end;
};

// The values of some rows by column, and their outcomes.
class WalkingRows {
  public:
    void set(const Rows& rows, std::span<const std::uint32_t> chosen) {
        n_rows_ = chosen.size();
        values_.resize(rows.X.n_columns * n_rows_);
        outcome_of_.resize(n_rows_);
        outcomes_.clear();
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const float* const x = rows.row(chosen[i]);
            for (std::size_t c = 0; c < rows.X.n_columns; ++c) values_[c * n_rows_ + i] = x[c];
            outcomes_.push_back(rows.outcome(chosen[i]));
        }
        std::sort(outcomes_.begin(), outcomes_.end());
        outcomes_.erase(std::unique(outcomes_.begin(), outcomes_.end()), outcomes_.end());
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const auto at = std::lower_bound(outcomes_.begin(), outcomes_.end(), rows.outcome(chosen[i]));
            outcome_of_[i] = static_cast<std::uint32_t>(at - outcomes_.begin());
        }
    }
    std::size_t size() const { return n_rows_; }
    const float* column(std::int32_t c) const { return values_.data() + static_cast<std::size_t>(c) * n_rows_; }
    std::size_t outcome_of(std::size_t row) const { return outcome_of_[row]; }
    const std::vector<RankRange>& outcomes() const { return outcomes_; }  // the different ones

  private:
    std::size_t n_rows_ = 0;
    std::vector<float> values_;
    std::vector<std::uint32_t> outcome_of_;
    std::vector<RankRange> outcomes_;
};

template <class Set>
class SharedWalks {
  public:
    SharedWalks(const Projection& projection, std::size_t min_node_size)
        : projection_(projection), min_node_size_(min_node_size) {
        for (const CodedTree& tree : projection.trees)
            piece_size_ = std::max(piece_size_, 8 * padded(n_blocks(tree.n_rows)));
    }

    // Adds to sums[w.place], for every walk w, the share of the tree. The walks of a set change their order.
    void add_shares(std::size_t t, const WalkingRows& rows, std::span<const WalksOfSet<Set>> sets, SharedWalk* walks,
                    double* sums, const StopFlag& stop) {
        tree_ = &projection_.trees[t];
        rows_ = &rows;
        walks_ = walks;
        sums_ = sums;
        stop_ = &stop;
        look_at_outcomes();
        find_descendants();
        const std::size_t together = std::max<std::size_t>(1, kMaxWords / std::max<std::size_t>(1, tree_->n_words));
        for (std::size_t i = 0; i < sets.size() && !is_stopped(); i += together)
            walk_all(sets.subspan(i, std::min(together, sets.size() - i)));
    }

  private:
    // How many words of splits the sets that start together have: 1 MiB, which every step of their walks may copy.
    // Not tuned.
    static constexpr std::size_t kMaxWords = std::size_t{1} << 17;
    // With more different outcomes, the ranks of a cell are compared with each instead of bits of each outcome.
    // Not tuned.
    static constexpr std::size_t kFewOutcomes = 16;
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    // Walks of one set in a state. `open_` has the splits that its steps have not ruled out; those from `next` on are
    // still to be visited.
    struct Group {
        std::uint32_t next;
        std::uint32_t begin, end;
    };

    // A split that is tested next by some groups of a state, divided into those that go left and right.
    struct Test {
        std::uint32_t node;
        std::uint32_t group;
        std::uint32_t begin, middle, end;
    };

    // The groups that leave a state at one split to one side.
    struct Step {
        std::uint32_t node;
        bool goes_left;
        std::uint32_t begin, end;  // in groups_
    };

    struct State {
        RowSet rows;  // of the training rows
        std::size_t n_rows;
        std::size_t memory;    // how many words of memory were in use before it
        std::size_t n_groups;  // how many groups there were before it
        std::size_t first_step, next_step, end_step;
        std::uint32_t column;  // whose interval was cut on the way here, and what it was before
        CodeInterval before;
        bool has_ranks;
    };

    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }

    void look_at_outcomes() {
        const std::vector<RankRange>& outcomes = rows_->outcomes();
        has_few_outcomes_ = outcomes.size() <= kFewOutcomes;
        if (!has_few_outcomes_) return;
        const std::size_t blocks = n_blocks(tree_->n_rows);
        has_outcome_.resize(outcomes.size() * blocks);
        for (std::size_t o = 0; o < outcomes.size(); ++o)
            kernels().outcome(tree_->rank, tree_->n_rows, outcomes[o].lo, outcomes[o].hi,
                              has_outcome_.data() + o * blocks);
    }

    void walk_all(std::span<const WalksOfSet<Set>> sets) {
        box_.assign(tree_->columns.size(), CodeInterval{0, ~std::uint32_t{0}, true});
        states_.clear();
        groups_.clear();
        steps_.clear();
        memory_used_ = 0;
        const std::size_t n_words = tree_->n_words;
        open_.assign(sets.size() * n_words, 0);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            groups_.push_back({0, sets[i].begin, sets[i].end});
            for (const std::uint8_t v : Members<Set>(sets[i].set))
                for (std::size_t w = 0; w < n_words; ++w) open_[i * n_words + w] |= tree_->own[n_words * v + w];
        }
        State all{};
        all.n_rows = tree_->n_rows;
        all.rows = take_rows();
        set_first_bits(tree_->n_rows, all.rows.mask, padded(all.rows.n_blocks));
        all.column = kNone;
        enter(all, 0, groups_.size());
        while (!states_.empty() && !is_stopped()) {
            if (states_.back().next_step == states_.back().end_step)
                leave();
            else
                take(steps_[states_.back().next_step++]);
        }
    }

    // For each side of each split, the splits below it: those that a walk does not visit if it goes to the other side.
    void find_descendants() {
        const std::size_t n_words = tree_->n_words;
        below_.assign((2 * tree_->nodes.size() + 1) * n_words, 0);
        for (std::size_t node = tree_->nodes.size(); node-- > 0;) {  // slots are those of CodedNode
            std::uint64_t* const above = below_.data() + n_words * tree_->nodes[node].slot;
            const std::uint64_t *const left = below(node, true), *const right = below(node, false);
            for (std::size_t w = 0; w < n_words; ++w) above[w] |= left[w] | right[w];
            above[node / 64] |= std::uint64_t{1} << (node % 64);
        }
    }
    const std::uint64_t* below(std::size_t node, bool left) const {
        return below_.data() + tree_->n_words * (2 * node + (left ? 1 : 2));
    }

    // The next split that a group tests: visited, and with values of the box on both sides. kNone if there is none.
    std::uint32_t find_next(std::size_t group) {
        const std::size_t n_words = tree_->n_words;
        std::uint64_t* const open = open_.data() + n_words * group;
        const std::uint32_t from = groups_[group].next;
        if (from >= 64 * n_words) return kNone;
        std::uint64_t mask = ~std::uint64_t{0} << (from % 64);
        for (std::size_t w = from / 64; w < n_words; ++w, mask = ~std::uint64_t{0}) {
            for (std::uint64_t bits; (bits = open[w] & mask) != 0;) {
                const std::size_t place = static_cast<std::size_t>(std::countr_zero(bits));
                const std::size_t node = 64 * w + place;
                const SplitCode& code = tree_->codes[node];
                const auto [left, right] = parts(box_[code.column], code.code, code.missing_left);
                if (!left.is_empty() && !right.is_empty()) return static_cast<std::uint32_t>(node);
                close(open, below(node, left.is_empty()), w);
                mask = place == 63 ? 0 : ~std::uint64_t{0} << (place + 1);
            }
        }
        return kNone;
    }

    // Takes splits, all of them from the word `first` on, out of those that are still to be visited.
    void close(std::uint64_t* open, const std::uint64_t* splits, std::size_t first) const {
        for (std::size_t w = first; w < tree_->n_words; ++w) open[w] &= ~splits[w];
    }

    // Makes a state the current one, with the groups [begin, end): those that test nothing more end here, the others
    // are divided by the side that they take at their next split.
    void enter(State state, std::size_t begin, std::size_t end) {
        state.first_step = state.next_step = steps_.size();
        state.has_ranks = false;
        if (has_few_outcomes_) {
            const std::size_t n = rows_->outcomes().size();
            if (shares_.size() < (states_.size() + 1) * n) shares_.resize((states_.size() + 1) * n);
            std::fill_n(shares_.data() + states_.size() * n, n, -1.0);
        }
        states_.push_back(state);
        tests_.clear();
        for (std::size_t g = begin; g < end; ++g) {
            const Group& group = groups_[g];
            const std::uint32_t node = find_next(g);
            if (node == kNone)
                end_walks(states_.back(), group.begin, group.end);
            else
                tests_.push_back({node, static_cast<std::uint32_t>(g), group.begin,
                                  divide(node, group.begin, group.end), group.end});
        }
        std::sort(tests_.begin(), tests_.end(), [](const Test& a, const Test& b) { return a.node < b.node; });
        for (std::size_t i = 0; i < tests_.size();) {
            std::size_t j = i;
            while (j < tests_.size() && tests_[j].node == tests_[i].node) ++j;
            add_step(i, j, true);
            add_step(i, j, false);
            i = j;
        }
        states_.back().end_step = steps_.size();
    }

    void add_step(std::size_t begin, std::size_t end, bool goes_left) {
        const std::size_t first = groups_.size(), n_words = tree_->n_words;
        for (std::size_t i = begin; i < end; ++i) {
            const Test& test = tests_[i];
            const std::uint32_t from = goes_left ? test.begin : test.middle, to = goes_left ? test.middle : test.end;
            if (from == to) continue;
            groups_.push_back({test.node + 1, from, to});
            open_.resize(n_words * groups_.size());
            std::uint64_t* const open = open_.data() + n_words * (groups_.size() - 1);
            std::copy_n(open_.data() + n_words * test.group, n_words, open);
            close(open, below(test.node, !goes_left), test.node / 64);
        }
        if (groups_.size() > first)
            steps_.push_back({tests_[begin].node, goes_left, static_cast<std::uint32_t>(first),
                              static_cast<std::uint32_t>(groups_.size())});
    }

    // Sorts walks so that those that go left at a split come first. Returns where the others begin.
    std::uint32_t divide(std::uint32_t node, std::uint32_t begin, std::uint32_t end) {
        const CodedNode& split = tree_->nodes[node];
        const float* const values = rows_->column(tree_->columns[split.column]);
        if (right_.size() < end - begin) right_.resize(end - begin);
        std::uint32_t middle = begin, n_right = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            const SharedWalk walk = walks_[i];
            const bool left = split.goes_left(values[walk.row]);
            walks_[middle] = walk;
            right_[n_right] = walk;
            middle += left;
            n_right += !left;
        }
        std::copy_n(right_.data(), n_right, walks_ + middle);
        return middle;
    }

    // Goes from the current state to the next one, unless too few rows would be left.
    void take(const Step& step) {
        const SplitCode& code = tree_->codes[step.node];
        State next{};
        next.memory = memory_used_;
        next.n_groups = groups_.size();
        next.column = code.column;
        next.before = box_[code.column];
        filter(states_.back(), step, next);
        if (next.n_rows < min_node_size_) {
            memory_used_ = next.memory;
            for (std::uint32_t g = step.begin; g < step.end; ++g)
                end_walks(states_.back(), groups_[g].begin, groups_[g].end);
            return;
        }
        code.cut(step.goes_left, box_[code.column]);
        enter(next, step.begin, step.end);
    }

    void leave() {
        const State& state = states_.back();
        if (state.column != kNone) box_[state.column] = state.before;
        groups_.resize(state.n_groups);
        open_.resize(tree_->n_words * state.n_groups);
        steps_.resize(state.first_step);
        memory_used_ = state.memory;
        states_.pop_back();
    }

    // The rows of `from` that take the side of the step.
    void filter(const State& from, const Step& step, State& to) {
        to.rows = take_rows();
        const std::size_t n_words = padded(to.rows.n_blocks);
        to.n_rows = kernels().keep(from.rows.mask, tree_->left_rows.data() + n_words * step.node,
                                   step.goes_left ? 0 : ~std::uint64_t{0}, n_words, to.rows.mask);
    }

    // Memory for the rows of a state on the way, in pieces that stay where they are.
    RowSet take_rows() {
        const std::size_t blocks = n_blocks(tree_->n_rows), n_words = padded(blocks);
        std::size_t piece = memory_used_ / piece_size_;
        if (memory_used_ % piece_size_ + n_words > piece_size_) memory_used_ = ++piece * piece_size_;
        while (pieces_.size() <= piece) pieces_.emplace_back(piece_size_);
        std::uint64_t* const memory = pieces_[piece].data() + memory_used_ % piece_size_;
        memory_used_ += n_words;
        return {memory, blocks};
    }

    // Adds the shares of the state to the sums of the walks [begin, end).
    void end_walks(State& state, std::uint32_t begin, std::uint32_t end) {
        if (!has_few_outcomes_) return end_by_ranks(state, begin, end);
        double* const shares = shares_.data() + (states_.size() - 1) * rows_->outcomes().size();
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::size_t outcome = rows_->outcome_of(walks_[i].row);
            if (shares[outcome] < 0.0) shares[outcome] = share(state, outcome);
            sums_[walks_[i].place] += shares[outcome];
        }
    }

    double share(const State& state, std::size_t outcome) const {
        const std::uint64_t* const bits = has_outcome_.data() + outcome * n_blocks(tree_->n_rows);
        return static_cast<double>(kernels().count(state.rows, bits)) / static_cast<double>(state.n_rows);
    }

    void end_by_ranks(State& state, std::uint32_t begin, std::uint32_t end) {
        if (ranks_.size() < states_.size()) ranks_.resize(states_.size());
        std::vector<std::uint32_t>& ranks = ranks_[states_.size() - 1];
        if (!state.has_ranks) {
            state.has_ranks = true;
            ranks.clear();
            for_each_position(state.rows, [&](std::size_t position) { ranks.push_back(tree_->rank[position]); });
        }
        for (std::uint32_t i = begin; i < end; ++i) {
            const RankRange& outcome = rows_->outcomes()[rows_->outcome_of(walks_[i].row)];
            const std::uint32_t lo = outcome.lo, width = outcome.hi - lo;
            std::uint32_t n_hits = 0;
            if (lo <= outcome.hi)
                for (const std::uint32_t rank : ranks) n_hits += rank - lo <= width;
            sums_[walks_[i].place] += static_cast<double>(n_hits) / static_cast<double>(state.n_rows);
        }
    }

    const Projection& projection_;
    std::size_t min_node_size_;
    // The tree and the walks through it.
    const CodedTree* tree_ = nullptr;
    const WalkingRows* rows_ = nullptr;
    SharedWalk* walks_ = nullptr;
    double* sums_ = nullptr;
    const StopFlag* stop_ = nullptr;
    bool has_few_outcomes_ = true;
    std::vector<std::uint64_t> has_outcome_;  // by outcome and block
    std::vector<std::uint64_t> below_;        // by slot of a split: the splits there
    std::vector<CodeInterval> box_;           // by column of the tree: the values of the current state
    std::vector<State> states_;               // from the root to the current state
    std::vector<Group> groups_;
    std::vector<std::uint64_t> open_;  // by group: a set of splits
    std::vector<Step> steps_;
    std::vector<Test> tests_;
    std::vector<SharedWalk> right_;
    std::vector<double> shares_;                     // by state on the way and outcome; negative if not known
    std::vector<std::vector<std::uint32_t>> ranks_;  // by state on the way: the ranks of its rows
    std::size_t piece_size_ = 1 << 12;               // words; the rows of several states; not tuned
    std::vector<std::vector<std::uint64_t>> pieces_;
    std::size_t memory_used_ = 0;
};

}  // namespace suffice
