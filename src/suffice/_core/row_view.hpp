// The SDP of sets of variables at one row, tree by tree.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
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

    std::size_t min_node_size() const { return finder_.min_node_size(); }

    static constexpr std::size_t kMaxSummed = 12;  // `sum_shares` takes 64 KiB of the stack for it; not tuned

    // A row with the values of the one before is taken for the same.
    void set_row(const float* x, const RankRange& outcome = {}) {
        const std::size_t n = projection_.forest->X.n_columns;
        const auto is_same = [](float a, float b) { return a == b || (a != a && b != b); };
        const bool is_new = x_.size() != n || !std::equal(x, x + n, x_.begin(), is_same);
        if (!is_new && outcome == outcome_) return;
        x_.assign(x, x + n);
        outcome_ = outcome;
        row_ += is_new;
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

    void number_as_projection() {
        if (!std::is_sorted(variable_of_.begin(), variable_of_.end())) {
            std::sort(variable_of_.begin(), variable_of_.end());
            set_variables(std::vector<std::uint8_t>(variable_of_));
        }
    }

    // By variable of the projection: its bit in a set.
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
        for (std::size_t j = 0; j < members.size(); ++j) member_[j] = variable_of_[members[j]];
        return projection_.count_votes(std::span<const std::uint8_t>(member_, members.size()));
    }

    // The variables that a tree splits on.
    Set variables(std::size_t t) {
        TreeView& view = trees_[t];
        if (view.epoch != epoch_) prepare(t, view);
        return view.variables;
    }

    // Adds to gain[v], for each of the rivals v that the tree splits on, what the share gains if v is known besides S,
    // and `new_vote` to n_voted[v].
    void add_gains(std::size_t t, Set S, double share_of_S, Set rivals, bool new_vote, double* gain,
                   std::uint32_t* n_voted) {
        const Members<Set> members(rivals & variables(t));
        asked_.clear();
        for (const std::uint8_t v : members) asked_.push_back(S | Set{1} << v);
        const std::span<const double> share = shares(t, asked_);
        for (std::size_t j = 0; j < members.size(); ++j) {
            gain[members[j]] += share[j] - share_of_S;
            n_voted[members[j]] += new_vote;
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
            asked_.assign(1, 0);
            place[0] = 0;
            for (std::size_t set = 1; set < n_sets; ++set) {
                place[set] = place[set & (set - 1)] | std::size_t{1}
                                                          << members[static_cast<std::size_t>(std::countr_zero(set))];
                asked_.push_back(static_cast<Set>(place[set]));
            }
            std::copy_n(shares(t, asked_).data(), n_sets, term);
            if (!all_vote()) term[0] = 0.0;
            for (std::size_t step = 1; step < n_sets; step *= 2)
                for (std::size_t begin = step; begin < n_sets; begin += 2 * step)
                    for (std::size_t set = begin; set < begin + step; ++set) term[set] -= term[set - step];
            for (std::size_t set = 0; set < n_sets; ++set) sums[place[set]] += term[set];
        }
        for (std::size_t step = 1; step < sums.size(); step *= 2)
            for (std::size_t begin = step; begin < sums.size(); begin += 2 * step)
                for (std::size_t set = begin; set < begin + step; ++set) sums[set] += sums[set - step];
    }

    // The share of the rows with the outcome in the cell of x for each of the sets, in one tree. Valid until the next
    // call.
    std::span<const double> shares(std::size_t t, std::span<const Set> sets) {
        TreeView& view = trees_[t];
        if (view.epoch != epoch_) prepare(t, view);
        shares_.resize(sets.size());
        walking_.clear();
        for (std::uint32_t i = 0; i < sets.size(); ++i) {
            // Variables on which the tree does not split have no effect.
            const Set S = sets[i] & view.variables;
            const auto [share, is_known] = known_share(t, view, S);
            if (is_known)
                shares_[i] = *share;
            else
                walking_.push_back({S, i});
        }
        if (walking_.empty()) return shares_;
        find_cells(t, [&](const WalkingSet<Set>& set, const Cell& cell) {
            shares_[set.number] = *known_share(t, view, set.variables).first = cell.share();
        });
        return shares_;
    }
    double share(std::size_t t, Set S) { return shares(t, {&S, 1})[0]; }

    // Calls act(t, cell) for the cell of x for S in each tree that votes on S, and returns how many these are.
    template <class Do>
    std::size_t for_each_cell(Set S, const Do& act) {
        const WideSet variables = named(S);
        const std::size_t n_votes = count_votes(S);
        for (std::size_t t = 0; t < n_trees(); ++t) {
            if (n_votes < n_trees() && !(projection_.trees[t].variables & variables)) continue;
            walking_.assign(1, {S, 0});
            find_cells(t, [&](const WalkingSet<Set>&, const Cell& cell) { act(t, cell); });
        }
        return n_votes;
    }

    double sdp(Set S) {
        double sum = 0.0;
        const std::size_t n_votes = count_votes(S);
        for (std::size_t t = 0; t < n_trees(); ++t)
            if (n_votes == n_trees() || (variables(t) & S)) sum += share(t, S);
        return sum / static_cast<double>(n_votes);
    }

    // The sum of the squared weights of the training rows (docs/method.md, 1.2) at x for S. Rows that no split on the
    // set tells apart have the same sum, which is computed once.
    double squared_weights(Set S) {
        key_.clear();
        for (const std::uint8_t i : Members<Set>(S)) {
            key_.push_back(variable_of_[i]);
            for (const std::int32_t column : projection_.columns[variable_of_[i]])
                key_.push_back(projection_.code(column, x_[static_cast<std::size_t>(column)]));
        }
        if (squares_.size() > kMaxSquares) squares_.clear();
        const auto [at, is_new] = squares_.try_emplace(key_, 0.0);
        if (!is_new) return at->second;
        const std::size_t n_votes =
            for_each_cell(S, [&](std::size_t t, const Cell& cell) { weight_sum_.add(t, cell); });
        return at->second = weight_sum_.take_squares(n_votes);
    }

  private:
    static Set first_variables(std::size_t n) { return (Set{1} << n) - 1; }

    static constexpr std::size_t kMaxSquares = 1 << 14;  // about 2 MiB; not tuned
    // Rows with few distinct outcomes have the same shares in small trees. Not tuned.
    static constexpr std::size_t kFewOutcomes = 64;

    // What is known about one tree, at the row that was set last when it was needed.
    struct TreeView {
        std::uint64_t epoch = 0;
        Set variables = 0;        // those that the tree splits on
        std::uint64_t n_row = 0;  // the row of `departures` and `has_outcome`
        Departures departures;
        RankRange outcome;
        std::vector<std::uint64_t> has_outcome;                       // one bit for each row of the tree
        std::unordered_map<std::size_t, std::vector<double>> of_one;  // by column: see share_of_one
        ShareMemo<Set> memo;
        // Small trees.
        bool is_small = false;
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

    // Where the share of a set of the tree's variables is kept, and whether it is there already.
    std::pair<double*, bool> known_share(std::size_t t, TreeView& view, Set S) {
        if (view.is_small) return is_there(view.small.share(small_set(view, S)));
        if (S != 0 && (S & (S - 1)) == 0 && has_few_outcomes_ && outcome_.lo == outcome_.hi)
            if (double* const share = share_of_one(t, view, S)) return is_there(*share);
        const auto [share, is_known] = view.memo.find(S, epoch_);
        if (!is_known)
            *share = std::numeric_limits<double>::quiet_NaN();  // asked for, perhaps twice, before it is found
        return is_there(*share);
    }
    static std::pair<double*, bool> is_there(double& share) { return {&share, share == share}; }

    // The share of one variable depends on the row only by its outcome and by the thresholds around its value: many
    // rows have the same. Null for a variable of several columns.
    double* share_of_one(std::size_t t, TreeView& view, Set S) {
        const CodedTree& tree = projection_.trees[t];
        const std::uint8_t v = variable_of_[Members<Set>(S)[0]];
        if (projection_.columns[v].size() != 1) return nullptr;
        const std::int32_t column = projection_.columns[v][0];
        const auto c = static_cast<std::size_t>(std::find(tree.columns.begin(), tree.columns.end(), column) -
                                                tree.columns.begin());
        const std::vector<float>& thresholds = tree.thresholds[c];
        const float value = x_[column];
        const std::size_t code = value == value ? code_of(thresholds, value) : thresholds.size() + 1;
        std::vector<double>& known = view.of_one.try_emplace(c).first->second;
        const std::size_t n_codes = thresholds.size() + 2;
        if (known.empty())
            known.resize(projection_.forest->y_values.size() * n_codes, std::numeric_limits<double>::quiet_NaN());
        return &known[outcome_.lo * n_codes + code];
    }

    // Finds the cells of the sets in walking_.
    template <class Do>
    void find_cells(std::size_t t, const Do& act) {
        TreeView& view = trees_[t];
        look_at_row(t, view);
        finder_.find(projection_.trees[t], view.departures, view.has_outcome.data(), variable_of_, bit_of_, walking_,
                     act);
    }

    void look_at_row(std::size_t t, TreeView& view) {
        const CodedTree& tree = projection_.trees[t];
        if (view.n_row != row_) {
            view.n_row = row_;
            view.departures.find(tree, projection_.n_variables, x_.data(), scratch_);
        }
        if (view.outcome == outcome_ && !view.has_outcome.empty()) return;  // many rows have the same outcome
        view.outcome = outcome_;
        view.has_outcome.resize(tree.n_row_words);
        kernels().outcome(tree.rank, tree.n_rows, outcome_.lo, outcome_.hi, view.has_outcome.data());
    }

    const Projection& projection_;
    std::vector<float> x_;
    std::uint64_t row_ = 0;    // how many rows have been set
    std::uint64_t epoch_ = 0;  // how many rows and numberings have been set
    RankRange outcome_;
    std::vector<std::uint8_t> variable_of_;  // by bit of a set
    std::vector<std::uint8_t> bit_of_;       // by variable of the projection
    Set known_ = 0;                          // the variables that some tree splits on
    bool has_few_outcomes_;
    std::vector<TreeView> trees_;
    std::uint8_t member_[8 * sizeof(Set)];  // the variables of a set in the numbers of the projection
    WeightSum weight_sum_;
    std::vector<std::uint32_t> key_;
    std::map<std::vector<std::uint32_t>, double> squares_;  // by variables and codes
    Departures::Scratch scratch_;
    CellFinder<Set> finder_;
    std::vector<WalkingSet<Set>> walking_;  // sets whose cells are found next
    std::vector<Set> asked_;
    std::vector<double> shares_;
};

}  // namespace suffice
