// Adds up the shares of sets of one row (see search.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "row_view.hpp"
#include "rows.hpp"
#include "search_space.hpp"

namespace suffice {

template <class Set>
class RowAlone {
  public:
    using Candidates = std::vector<Candidate<Set>>;

    RowAlone(const Projection& projection, std::size_t min_node_size)
        : row_(projection, min_node_size), every_(projection.n_variables), order_(projection.trees.size()) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    void set_rows(const Rows& rows, std::span<const std::uint32_t> numbers, const StopFlag& stop) {
        stop_ = &stop;
        row_.set_row(rows.row(numbers[0]), rows.outcome(numbers[0]));
        if (row_.names() != every_) row_.set_variables(every_);
        std::iota(order_.begin(), order_.end(), 0u);
        n_ordered_ = every_.size() <= kMaxOrdered ? every_.size() : 0;
        sums_.clear();
    }

    void keep_reaching(Candidates& sets, Race<Set>& race) {
        const double needed = race.needed[0];
        take_known_sums(sets, race);
        for (std::size_t l = 0; l < n_trees() && !sets.empty() && !is_stopped(); ++l) {
            advance_all(sets, l);
            keep_if(sets, race, [&](const Candidate<Set>& set) { return set.can_reach(needed); });
        }
        for (std::size_t i = 0; i < sets.size() && !is_stopped(); ++i) sum_in_order(sets[i]);
    }

    void keep_highest(Candidates& sets, Race<Set>& race) {
        double least = race.needed[0];
        std::size_t n_kept = 0;
        for (Candidate<Set>& set : sets) {
            if (!sum_in_order(set, least) || set.mean() < least) continue;
            least = set.mean();
            sets[n_kept++] = set;
        }
        sets.resize(n_kept);
    }

    void start_chains(Candidates& empty, std::size_t n_first) {
        base_ = 0;
        first_trees_.resize(n_first);
        std::iota(first_trees_.begin(), first_trees_.end(), 0u);
        later_trees_.clear();
        std::copy_if(order_.begin(), order_.end(), std::back_inserter(later_trees_),
                     [&](std::uint32_t t) { return t >= n_first; });
        sum_in_order(empty[0]);
        sum_of_empty_ = empty[0].sum;
        share_of_base_.assign(n_trees(), 0.0);
        for (std::size_t t = 0; t < n_trees() && row_.all_vote() && !is_stopped(); ++t)
            share_of_base_[t] = row_.share(t, base_);
    }

    // A tree that does not split on a variable votes the same with it as without it: only gains are added. Over the
    // first trees, all rivals are compared, and none is dropped.
    void compare(Candidates& rivals, std::size_t n, Race<Set>& race) {
        const std::vector<std::uint32_t>& trees = n < n_trees() ? first_trees_ : later_trees_;
        Set left = 0;
        gain_.assign(every_.size(), 0.0);
        n_voted_.assign(every_.size(), 0);
        for (const Candidate<Set>& rival : rivals) {
            left |= rival.variables & ~base_;
            gain_[added(rival)] = rival.sum;
            n_voted_[added(rival)] = rival.n_voted;
        }
        double sum = 0.0;  // of the base
        std::uint32_t n_voted = 0;
        const auto total = [&](Candidate<Set> rival, std::size_t n_added) {
            rival.sum = sum + gain_[added(rival)];
            rival.n_voted = n_voted + n_voted_[added(rival)];
            rival.n_trees += static_cast<std::uint32_t>(n_added);
            if (row_.is_informed(rival.variables)) return rival;
            if (n < n_trees()) {
                rival.sum = 0.0;
                for (const std::uint32_t t : trees) rival.sum += row_.share(t, Set{0});
                rival.n_voted = static_cast<std::uint32_t>(n);
            } else {
                complete(rival, sum_of_empty_);
            }
            return rival;
        };
        for (std::size_t l = 0; l < trees.size() && !is_stopped(); ++l) {
            const std::size_t t = trees[l];
            const bool votes = row_.all_vote() || (row_.variables(t) & base_) != 0;
            sum += share_of_base_[t];
            n_voted += votes;
            row_.add_gains(t, base_, share_of_base_[t], left, !votes, gain_.data(), n_voted_.data());
            if (l % kTreesBetweenChecks != 0 || n < n_trees()) continue;
            keep_if(rivals, race, [&](Candidate<Set>& rival) {
                if (total(rival, l + 1).can_reach(race.needed[0])) return true;
                rival = total(rival, l + 1);
                left &= ~(rival.variables & ~base_);
                return false;
            });
        }
        for (Candidate<Set>& rival : rivals) rival = total(rival, trees.size());
    }

    double extend_chain(const Candidate<Set>& best) {
        const std::uint8_t v = added(best);
        base_ = best.variables;
        for (std::size_t t = 0; t < n_trees(); ++t)
            if (row_.variables(t) >> v & 1) share_of_base_[t] = row_.share(t, base_);
        if (!row_.is_informed(base_)) return sum_of_empty_;
        return std::accumulate(share_of_base_.begin(), share_of_base_.end(), 0.0);
    }

    std::size_t count_votes(Set set) { return row_.count_votes(set); }

    // Sets of two and more take the trees first whose share is lowest when all variables are known: there most sets
    // lose most, and are dropped after fewer trees. Few trees drop them soon in any order.
    void begin_larger(const std::vector<std::uint8_t>& variables) {
        if (order_.size() < kManyTrees) return;
        Set all = 0;
        for (const std::uint8_t v : variables) all |= Set{1} << v;
        share_of_all_.resize(order_.size());
        for (std::size_t t = 0; t < order_.size() && !is_stopped(); ++t) share_of_all_[t] = row_.share(t, all);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return share_of_all_[a] != share_of_all_[b] ? share_of_all_[a] < share_of_all_[b] : a < b;
        });
    }

    // Where most trees split on few of the variables, the sums of all sets together take less time than those of some
    // dozens one by one.
    void end_choice(const std::vector<std::uint8_t>& variables) {
        n_ordered_ = 0;
        const std::size_t n = variables.size();
        if (n == 0 || variables.back() + 1u != n || is_stopped()) return;
        if (n <= kMaxOrdered) n_ordered_ = n;
        if (n <= RowView<Set>::kMaxSummed && row_.count_sets(n) <= kFewSets * n_trees()) row_.sum_shares(n, sums_);
    }

    // Sets of the first variables are the fastest.
    std::vector<std::uint8_t> number_first(const std::vector<std::uint8_t>& variables) {
        std::vector<std::uint8_t> names = variables;
        for (const std::uint8_t v : every_)
            if (std::find(variables.begin(), variables.end(), v) == variables.end()) names.push_back(v);
        row_.set_variables(names);
        return row_.numbers();
    }
    WideSet named(Set set) const { return row_.named(set); }

    double squared_weights(std::size_t, Set set) { return row_.squared_weights(set); }

  private:
    // How many sets a tree tells apart on average if the sums of all sets are computed together. Not tuned.
    static constexpr std::size_t kFewSets = 64;
    // From this many trees on, their order is worth what it costs: one share of each. Not tuned.
    static constexpr std::size_t kManyTrees = 50;
    // How many trees are added before the rivals are compared again. Not tuned.
    static constexpr std::size_t kTreesBetweenChecks = 8;
    // An order in which sets share the first steps of their walks through a tree is worth what it costs for this part
    // of all sets of at most so many variables. Not tuned.
    static constexpr std::size_t kWorthAnOrder = 8;
    static constexpr std::size_t kMaxOrdered = 12;
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    std::size_t n_trees() const { return order_.size(); }
    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    std::uint8_t added(const Candidate<Set>& rival) const { return Members<Set>(rival.variables & ~base_)[0]; }
    void complete(Candidate<Set>& set, double sum) const {
        set.sum = sum;
        set.n_voted = set.n_votes;
        set.n_trees = static_cast<std::uint32_t>(n_trees());
    }

    template <class IsKept>
    static void keep_if(Candidates& sets, Race<Set>& race, const IsKept& is_kept) {
        std::size_t n_kept = 0;
        for (Candidate<Set>& set : sets)
            if (is_kept(set))
                sets[n_kept++] = set;
            else
                race.drop(set);
        sets.resize(n_kept);
    }

    // Adds the share of the tree that comes at l to the sets that have l trees.
    void advance_all(Candidates& sets, std::size_t l) {
        if (n_ordered_ == 0 || kWorthAnOrder * sets.size() < std::size_t{1} << n_ordered_ ||
            !row_.is_worth_an_order(order_[l])) {
            for (Candidate<Set>& set : sets)
                if (set.n_trees == l) advance(set);
            return;
        }
        position_.resize(std::size_t{1} << n_ordered_, kNowhere);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            if (sets[i].n_trees != l) continue;
            if (tree_of(sets[i]) == order_[l] && sets[i].variables < position_.size())
                position_[static_cast<std::size_t>(sets[i].variables)] = static_cast<std::uint32_t>(i);
            else
                advance(sets[i]);
        }
        for (const Set set : row_.sets_in_order(order_[l], n_ordered_)) {
            std::uint32_t& position = position_[static_cast<std::size_t>(set)];
            if (position != kNowhere) advance(sets[position]);
            position = kNowhere;
        }
    }

    void advance(Candidate<Set>& set) {
        const std::size_t t = tree_of(set);
        if (set.has_vote_of(row_.variables(t), n_trees())) set.add(row_.share(t, set.variables));
        ++set.n_trees;
    }
    // The tree that comes next. Sets of up to one variable are searched before the trees are sorted.
    std::size_t tree_of(const Candidate<Set>& set) const {
        return (set.variables & (set.variables - 1)) == 0 ? set.n_trees : order_[set.n_trees];
    }

    // Completes the sets whose sums are known already, and drops those that are too low.
    void take_known_sums(Candidates& sets, Race<Set>& race) {
        keep_if(sets, race, [&](Candidate<Set>& set) {
            const bool is_summed = set.variables < sums_.size() && row_.is_informed(set.variables);
            if (is_summed) complete(set, sums_[static_cast<std::size_t>(set.variables)]);
            return set.can_reach(race.needed[0]);
        });
    }

    // Computes the exact sum. Returns false as soon as the SDP cannot reach `least`.
    bool sum_in_order(Candidate<Set>& set, double least = -1.0) {
        set.sum = 0.0;
        set.n_trees = set.n_voted = 0;
        for (std::size_t t = 0; t < n_trees(); ++t) {
            if (!set.has_vote_of(row_.variables(t), n_trees())) continue;
            if (!set.can_reach(least)) return false;
            set.add(row_.share(t, set.variables));
        }
        set.n_trees = static_cast<std::uint32_t>(n_trees());
        return true;
    }

    const StopFlag* stop_ = nullptr;
    RowView<Set> row_;
    std::vector<std::uint8_t> every_;         // all variables
    std::size_t n_ordered_ = 0;               // sets of so many variables, the first ones, may go in an order; 0: none
    std::vector<std::uint32_t> order_;        // the trees, in the order in which sets of two and more take them
    std::vector<double> share_of_all_;        // by tree, if all variables are known
    Set base_ = 0;                            // the last set of the chain
    double sum_of_empty_ = 0.0;               // the sum of the empty set
    std::vector<double> share_of_base_;       // by tree; 0 if it does not vote
    std::vector<std::uint32_t> first_trees_;  // those over which all variables are compared
    std::vector<std::uint32_t> later_trees_;  // the others, as in `order_`
    std::vector<double> gain_;                // by variable: what the sum of the shares gains with it
    std::vector<std::uint32_t> n_voted_;      // by variable: the trees that vote because of it
    std::vector<double> sums_;                // by set: the sum over all trees; empty if they are not known
    std::vector<std::uint32_t> position_;     // by set, among those that go through a tree together
};

}  // namespace suffice
