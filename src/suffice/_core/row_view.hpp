// The SDP of sets of variables at one row, tree by tree.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "kernels.hpp"
#include "projection.hpp"
#include "rows.hpp"
#include "weight_sum.hpp"

namespace suffice {

// Keeps the shares of one row and tree for some sets.
template <class Set>
class ShareMemo {
  public:
    // Where the share of a set is kept, and whether it is there already. `epoch` is a number that changes with the row
    // and with the numbering of variables: cheaper than clearing all slots. Sets of the first variables have a slot
    // each. Other sets share some slots: the new one overwrites the old one, whose share is computed again if needed.
    std::pair<double*, bool> find(Set set, std::uint64_t epoch) {
        const bool is_first = set < kSlots;
        const std::size_t slot = is_first ? static_cast<std::size_t>(set) : kSlots + hash(set);
        if (slot >= entries_.size()) [[unlikely]] {
            entries_.resize(is_first ? std::bit_ceil(slot + 1) : 2 * kSlots);
            if (!is_first) sets_.resize(kSlots);
        }
        Entry& entry = entries_[slot];
        bool is_known = std::exchange(entry.epoch, epoch) == epoch;
        if (!is_first) is_known &= std::exchange(sets_[slot - kSlots], set) == set;
        return {&entry.share, is_known};
    }

  private:
    static constexpr int kBits = 11;  // 32 KiB for each tree; not tuned
    static constexpr std::size_t kSlots = std::size_t{1} << kBits;

    struct Entry {
        double share = 0.0;
        std::uint64_t epoch = 0;
    };

    static std::size_t hash(Set set) {
        auto word = static_cast<std::uint64_t>(set);
        if constexpr (sizeof(Set) > sizeof(word)) word ^= static_cast<std::uint64_t>(set >> 64) * 0xC2B2AE3D27D4EB4Full;
        return static_cast<std::size_t>((word * 0x9E3779B97F4A7C15ull) >> (64 - kBits));
    }

    std::vector<Entry> entries_;  // of the first sets, then of the others
    std::vector<Set> sets_;       // by slot of the others
};

// The shares of a small tree for all sets of its variables. They depend on the row only by its outcome and by the side
// that it takes at each split, so that many rows have the same.
class SmallTreeShares {
  public:
    // A tree is small if it splits on at most this many variables (8 KiB of shares for a row; not tuned), and if its
    // splits fit into one word.
    static constexpr std::size_t kMaxVariables = 10;
    static constexpr std::size_t kMaxSplits = 64;

    // Looks the row up: its shares are found, or are unknown from here on.
    void set_row(std::uint64_t goes_left, const RankRange& outcome, std::size_t n_variables) {
        const std::size_t n_sets = std::size_t{1} << n_variables;
        if (shares_.size() + n_sets > kMaxShares) {
            shares_.clear();
            begin_.clear();
        }
        const auto [found, is_new] = begin_.try_emplace({goes_left, outcome}, shares_.size());
        if (is_new) shares_.resize(shares_.size() + n_sets, std::numeric_limits<double>::quiet_NaN());
        at_row_ = shares_.data() + found->second;
    }
    double& share(std::size_t set) const { return at_row_[set]; }

  private:
    // How many shares of a tree are kept: 64 KiB, or eight rows of a tree of ten variables. Not tuned.
    static constexpr std::size_t kMaxShares = 8192;

    struct Key {
        std::uint64_t goes_left;
        RankRange outcome;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            const std::uint64_t outcome = std::uint64_t{key.outcome.lo} << 32 | key.outcome.hi;
            return static_cast<std::size_t>((key.goes_left ^ outcome * 0xC2B2AE3D27D4EB4Full) * 0x9E3779B97F4A7C15ull >>
                                            16);
        }
    };

    std::unordered_map<Key, std::size_t, Hash> begin_;
    std::vector<double> shares_;
    double* at_row_ = nullptr;
};

// One row x with its outcome: the SDP of any set of variables.
//
// Bit i of a set stands for the variable that `set_variables` names at i. Sets of the first 11 of them are fastest.
template <class Set>
class RowView {
  public:
    RowView(const Projection& projection, std::size_t min_node_size)
        : projection_(projection),
          variable_of_(projection.n_variables),
          bit_of_(projection.n_variables),
          has_few_outcomes_(projection.forest->y_values.size() <= kFewOutcomes),
          trees_(projection.trees.size()),
          weight_sum_(projection),
          finder_(min_node_size) {
        std::iota(variable_of_.begin(), variable_of_.end(), std::uint8_t{0});
        set_variables(std::vector<std::uint8_t>(variable_of_));
    }

    static constexpr std::size_t kMaxSummed = 12;  // `sum_shares` takes 64 KiB of the stack for it; not tuned

    void set_row(const float* x, const RankRange& outcome = {}) {
        x_ = x;
        outcome_ = outcome;
        ++row_;
        ++epoch_;
    }

    // Numbers the variables anew: `variables` are all of them, in any order.
    void set_variables(std::span<const std::uint8_t> variables) {
        std::copy(variables.begin(), variables.end(), variable_of_.begin());
        known_ = 0;
        for (std::size_t i = 0; i < variables.size(); ++i) {
            bit_of_[variables[i]] = static_cast<std::uint8_t>(i);
            for (const std::uint64_t trees : projection_.informed[variables[i]])
                if (trees) known_ |= Set{1} << i;
        }
        ++epoch_;
    }

    // By bit of a set: its variable in the projection; and the other way round.
    const std::vector<std::uint8_t>& names() const { return variable_of_; }
    const std::vector<std::uint8_t>& numbers() const { return bit_of_; }
    WideSet named(Set S) const {
        WideSet out = 0;
        for (const std::uint8_t i : Members<Set>(S)) out |= WideSet{1} << variable_of_[i];
        return out;
    }

    std::size_t n_trees() const { return trees_.size(); }
    bool all_vote() const { return projection_.all_vote; }

    // Whether some tree splits on a variable of the set. If none does, all trees vote as on the empty set.
    bool is_informed(Set S) const { return all_vote() || (S & known_) != 0; }
    std::size_t count_votes(Set S) {
        const Members<Set> members(S);
        for (std::size_t j = 0; j < members.size(); ++j) visited_variable_[j] = variable_of_[members[j]];
        return projection_.count_votes(std::span<const std::uint8_t>(visited_variable_, members.size()));
    }

    // The variables that a tree splits on.
    Set variables(std::size_t t) {
        TreeView& view = trees_[t];
        if (view.epoch != epoch_) prepare(t, view);
        return view.variables;
    }

    // All sets of the first n variables in an order in which neighbours visit the same first splits of a tree, so that
    // a cell starts from the one before: the variable of the root changes last, that of the next split before it, and
    // so on.
    std::span<const Set> sets_in_order(std::size_t t, std::size_t n) {
        std::uint8_t order[8 * sizeof(Set)];  // bits of a set, the one that changes last at the end
        std::size_t begin = n;
        Set left = first_variables(n);
        for (const std::uint8_t v : projection_.trees[t].in_order) {
            const std::uint8_t i = bit_of_[v];
            if (i >= n) continue;
            order[--begin] = i;
            left &= ~(Set{1} << i);
        }
        const Members<Set> without_split(left);
        std::copy(without_split.data(), without_split.data() + without_split.size(), order);
        in_order_.resize(std::size_t{1} << n);
        in_order_[0] = 0;
        for (std::size_t i = 1; i < in_order_.size(); ++i)
            in_order_[i] = in_order_[i & (i - 1)] | Set{1} << order[std::countr_zero(i)];
        return in_order_;
    }

    // Whether the walks of a tree are long enough to be worth an order of many sets.
    bool is_worth_an_order(std::size_t t) const { return projection_.trees[t].n_rows >= kManyRows; }

    // Adds to gain[v], for each of the rivals v that the tree splits on, what the share gains if v is known besides S,
    // and `new_vote` to n_voted[v].
    void add_gains(std::size_t t, Set S, double share_of_S, Set rivals, bool new_vote, double* gain,
                   std::uint32_t* n_voted) {
        for (const std::uint8_t v : Members<Set>(rivals & variables(t))) {
            gain[v] += share(t, S | Set{1} << v) - share_of_S;
            n_voted[v] += new_vote;
        }
    }

    // How many sets of the first n variables the trees tell apart, added up over the trees.
    std::size_t count_sets(std::size_t n) {
        std::size_t n_sets = 0;
        for (std::size_t t = 0; t < n_trees(); ++t)
            n_sets += std::size_t{1} << Members<Set>(variables(t) & first_variables(n)).size();
        return n_sets;
    }

    // The sums of the shares over the trees that vote, for all sets of the first n <= kMaxSummed variables that some
    // tree splits on; sums[S] has that of S.
    //
    // A tree's share, 0 if it does not vote, is a function of the sets of its variables. Written as a sum over the
    // subsets T of S (its Moebius transform), the functions of all trees add up term by term, and one transform back
    // gives the sums of all sets.
    void sum_shares(std::size_t n, std::vector<double>& sums) {
        sums.assign(std::size_t{1} << n, 0.0);
        for (std::size_t t = 0; t < n_trees(); ++t) {
            const Members<Set> members(variables(t) & first_variables(n));
            const std::size_t n_sets = std::size_t{1} << members.size();
            std::size_t place[std::size_t{1} << kMaxSummed];  // where a set of members is in `sums`
            double term[std::size_t{1} << kMaxSummed];
            place[0] = 0;
            term[0] = all_vote() ? share(t, 0) : 0.0;
            for (std::size_t set = 1; set < n_sets; ++set) {
                place[set] = place[set & (set - 1)] | std::size_t{1}
                                                          << members[static_cast<std::size_t>(std::countr_zero(set))];
                term[set] = share(t, static_cast<Set>(place[set]));
            }
            for (std::size_t step = 1; step < n_sets; step *= 2)
                for (std::size_t begin = step; begin < n_sets; begin += 2 * step)
                    for (std::size_t set = begin; set < begin + step; ++set) term[set] -= term[set - step];
            for (std::size_t set = 0; set < n_sets; ++set) sums[place[set]] += term[set];
        }
        for (std::size_t step = 1; step < sums.size(); step *= 2)
            for (std::size_t begin = step; begin < sums.size(); begin += 2 * step)
                for (std::size_t set = begin; set < begin + step; ++set) sums[set] += sums[set - step];
    }

    // The share of the rows with the outcome in the cell of x for S, in one tree.
    double share(std::size_t t, Set S) {
        TreeView& view = trees_[t];
        if (view.epoch != epoch_) prepare(t, view);
        if (view.is_small) {
            double& share = view.small.share(small_set(view, S));
            return share == share ? share : share = share_by_effective_set(t, view, S & view.variables);
        }
        // Variables on which the tree does not split have no effect.
        const auto [share, is_known] = view.memo.find(S & view.variables, epoch_);
        return is_known ? *share : *share = share_by_effective_set(t, view, S & view.variables);
    }

    // Calls act(t, cell) for the cell of x for S in each tree that votes on S, and returns how many these are.
    template <class Do>
    std::size_t for_each_cell(Set S, const Do& act) {
        const Members<Set> members(S);
        const WideSet variables = named(S);
        const std::size_t n_votes = count_votes(S);
        for (std::size_t t = 0; t < n_trees(); ++t) {
            if (n_votes < n_trees() && !(projection_.trees[t].variables & variables)) continue;
            visit(t, trees_[t], members);
            act(t, finder_.find(projection_.trees[t], trees_[t].departures, row_));
        }
        last_share_ = -1.0;
        return n_votes;
    }

    // The SDP of one set. Its shares are not kept.
    double sdp(Set S) {
        double sum = 0.0;
        const std::size_t n_votes =
            for_each_cell(S, [&](std::size_t t, const CellFinder::Cell& cell) { sum += share_in(cell, trees_[t]); });
        return sum / static_cast<double>(n_votes);
    }

    // The sum of the squared weights of the training rows (docs/method.md, 1.2) at x for S.
    double squared_weights(Set S) {
        const std::size_t n_votes =
            for_each_cell(S, [&](std::size_t t, const CellFinder::Cell& cell) { weight_sum_.add(t, cell); });
        return weight_sum_.take_squares(n_votes);
    }

  private:
    static constexpr std::size_t kManyRows = 512;  // of a tree; not tuned

    static Set first_variables(std::size_t n) { return (Set{1} << n) - 1; }

    // Rows with few distinct outcomes have the same shares in small trees. Not tuned.
    static constexpr std::size_t kFewOutcomes = 64;

    // What is known about one tree, at the row that was set last when it was needed.
    struct TreeView {
        std::uint64_t epoch = 0;
        Set variables = 0;        // those that the tree splits on
        std::uint64_t n_row = 0;  // the row of `departures` and `has_outcome`
        Departures departures;
        RankRange outcome;
        std::vector<std::uint64_t> has_outcome;  // one bit for each row of the tree
        ShareMemo<Set> memo;
        // Small trees.
        bool is_small = false;
        std::uint64_t n_row_of_small = 0;
        std::uint8_t n_bits = 0;
        std::uint8_t bit[SmallTreeShares::kMaxVariables];  // of its variables in a set
        SmallTreeShares small;
    };

    [[gnu::noinline]] void prepare(std::size_t t, TreeView& view) {
        view.epoch = epoch_;
        const CodedTree& tree = projection_.trees[t];
        view.variables = 0;
        for (std::size_t i = 0; i < variable_of_.size(); ++i)
            view.variables |= static_cast<Set>(tree.variables >> variable_of_[i] & 1) << i;
        const Members<Set> members(view.variables);
        view.is_small = has_few_outcomes_ && members.size() <= SmallTreeShares::kMaxVariables &&
                        tree.nodes.size() <= SmallTreeShares::kMaxSplits;
        if (!view.is_small) return;
        // The shares are ordered by the numbers of the variables in the projection, which are the same for all rows.
        view.n_bits = static_cast<std::uint8_t>(members.size());
        std::copy(members.data(), members.data() + members.size(), view.bit);
        std::sort(view.bit, view.bit + view.n_bits,
                  [&](std::uint8_t a, std::uint8_t b) { return variable_of_[a] < variable_of_[b]; });
        if (view.n_row_of_small == row_) return;
        view.n_row_of_small = row_;
        std::uint64_t goes_left = 0;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const CodedNode& node = tree.nodes[i];
            goes_left |= std::uint64_t{node.goes_left(x_[tree.columns[node.column]])} << i;
        }
        view.small.set_row(goes_left, outcome_, view.n_bits);
    }

    // The position of a set among all sets of the variables of a small tree.
    static std::size_t small_set(const TreeView& view, Set S) {
        std::size_t set = 0;
        for (std::size_t j = 0; j < view.n_bits; ++j) set |= static_cast<std::size_t>(S >> view.bit[j] & 1) << j;
        return set;
    }

    [[gnu::noinline]] double share_by_effective_set(std::size_t t, TreeView& view, Set S) {
        const Set effective = effective_set(t, view, S);
        if (effective == S) return share_of_cell(t, view);
        if (view.is_small) {
            double& share = view.small.share(small_set(view, effective));
            return share == share ? share : share = share_of_cell(t, view);
        }
        const auto [share, is_known] = view.memo.find(effective, epoch_);
        return is_known ? *share : *share = share_of_cell(t, view);
    }

    Set effective_set(std::size_t t, TreeView& view, Set S) {
        const Members<Set> members(S);
        visit(t, view, members);
        Set effective = 0;
        for (std::size_t j = 0; j < members.size(); ++j) effective |= Set{is_effective_[j]} << members[j];
        return effective;
    }

    void visit(std::size_t t, TreeView& view, const Members<Set>& members) {
        if (view.n_row != row_) look_at_row(t, view);
        for (std::size_t j = 0; j < members.size(); ++j) visited_variable_[j] = variable_of_[members[j]];
        finder_.visit(projection_.trees[t], view.departures, visited_variable_, members.size(), is_effective_);
    }

    [[gnu::noinline]] void look_at_row(std::size_t t, TreeView& view) {
        view.n_row = row_;
        const CodedTree& tree = projection_.trees[t];
        view.departures.find(tree, projection_.n_variables, x_, scratch_);
        if (view.outcome == outcome_ && !view.has_outcome.empty()) return;  // many rows have the same outcome
        view.outcome = outcome_;
        view.has_outcome.resize(n_blocks(tree.n_rows));
        kernels().outcome(tree.rank, tree.n_rows, outcome_.lo, outcome_.hi, view.has_outcome.data());
    }

    static double share_in(const CellFinder::Cell& cell, const TreeView& view) {
        const std::size_t n_hits = kernels().count(cell.rows, view.has_outcome.data());
        return static_cast<double>(n_hits) / static_cast<double>(cell.n_rows);
    }

    // The share of the set that was visited last.
    double share_of_cell(std::size_t t, const TreeView& view) {
        const auto cell = finder_.find(projection_.trees[t], view.departures, row_);
        if (cell.is_new || last_share_ < 0.0) last_share_ = share_in(cell, view);
        return last_share_;
    }

    const Projection& projection_;
    const float* x_ = nullptr;
    std::uint64_t row_ = 0;    // how many rows have been set
    std::uint64_t epoch_ = 0;  // how many rows and numberings have been set
    RankRange outcome_;
    std::vector<std::uint8_t> variable_of_;  // by bit of a set
    std::vector<std::uint8_t> bit_of_;       // by variable of the projection
    Set known_ = 0;                          // the variables that some tree splits on
    std::vector<Set> in_order_;              // see sets_in_order
    bool has_few_outcomes_;
    std::vector<TreeView> trees_;
    std::uint8_t visited_variable_[8 * sizeof(Set)];  // by member of the set that was visited last
    std::uint8_t is_effective_[8 * sizeof(Set)];      // whether it has an effect
    WeightSum weight_sum_;
    Departures::Scratch scratch_;
    CellFinder finder_;
    double last_share_ = -1.0;  // of the cell that was found last; negative if it is not known
};

}  // namespace suffice
