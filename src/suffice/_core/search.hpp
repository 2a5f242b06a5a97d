// The sufficient sets of a row: the sets of candidates are searched by size, and a set is dropped as soon as it can no
// longer reach the level.
//
// A sum of shares is exact if they are added in the order of the trees, since its last bit depends on the order. While
// sets are compared they may take the trees in any order; what is returned is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "row_view.hpp"
#include "rows.hpp"
#include "search_space.hpp"
#include "thresholds.hpp"

namespace suffice {

template <class Set>
class Search {
  public:
    Search(const Projection& projection, const SearchOptions& options, RowView<Set>& row)
        : options_(options),
          projection_(projection),
          n_trees_(projection.trees.size()),
          row_(row),
          every_(projection.n_variables),
          order_(n_trees_) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    SearchResult run(const Rows& rows, std::size_t number, const StopFlag& stop) {
        stop_ = &stop;
        x_ = rows.row(number);
        row_.set_row(x_, rows.outcome(number));
        row_.number_as_projection();
        std::iota(order_.begin(), order_.end(), 0u);
        singles_ = chosen_ = every_;
        is_chosen_ = false;
        chain_.clear();
        sums_.clear();
        base_ = 0;
        race_.start(every_.size());
        SearchResult result;
        const std::size_t n_searched =
            find_sufficient({options_.pi, options_.minimal_only, options_.least_sdp}, result.at_level);
        if (result.at_level.sufficient.empty() && options_.needs_best) find_best(n_searched, result.at_level);
        if (options_.step > 0) search_below(result);
        name_variables(result.at_level);
        name_variables(result.below);
        return result;
    }

  private:
    // How many sets go through the trees together, so that the rows of a tree stay in the cache for all of them. Not
    // tuned.
    static constexpr std::size_t kChunk = 4096;
    // How many sets a tree tells apart on average if the sums of all sets are computed together. Not tuned.
    static constexpr std::size_t kFewSets = 64;
    // From this many trees on, their order is worth what it costs: one share of each. Not tuned.
    static constexpr std::size_t kManyTrees = 50;
    // How many trees are added before rivals are compared again. Not tuned.
    static constexpr std::size_t kTreesBetweenChecks = 8;

    using Candidates = std::vector<Candidate<Set>>;

    // What a sufficient set must reach.
    struct Level {
        double pi;
        bool minimal_only;  // stop after the first size that has a sufficient set
        std::span<const double> least_sdp;
    };

    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    Candidate<Set> candidate(Set set) { return {set, static_cast<std::uint32_t>(row_.count_votes(set))}; }

    // Appends the sets that reach a level, by size, then by falling SDP. Returns the largest size of which all sets
    // have been searched.
    std::size_t find_sufficient(const Level& level, FoundSets& out) {
        std::size_t n_searched = 0;
        std::uint64_t n_seen = 0;
        for (std::size_t size = options_.min_size; !is_stopped(); ++size) {
            if (size > 1 && !is_chosen_) {
                // A larger set with a variable that is sufficient alone need not be searched.
                for (const ScoredSet& one : out.sufficient)
                    std::erase_if(chosen_, [&](std::uint8_t v) { return one.variables == WideSet{1} << v; });
                if (size <= std::min(options_.max_size, chosen_.size())) choose_variables(out);
            }
            const std::vector<std::uint8_t>& variables = size < 2 ? singles_ : chosen_;
            if (size > std::min(options_.max_size, variables.size())) break;
            const std::size_t n_smaller = out.sufficient.size();
            const bool has_new = search_size(SetsOfSize<Set>(variables, size), level, n_seen, out);
            if (out.is_complete) n_searched = size;
            std::stable_sort(out.sufficient.begin() + static_cast<std::ptrdiff_t>(n_smaller), out.sufficient.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
            // Without a new set of this size, every larger set has a sufficient subset as well.
            if (!has_new || !out.is_complete || (level.minimal_only && !out.sufficient.empty())) break;
        }
        if (!out.sufficient.empty()) out.best = out.sufficient.front();
        return n_searched;
    }

    // Appends the sufficient sets of one size. Returns whether any set of it has no smaller sufficient subset.
    bool search_size(SetsOfSize<Set> sets, const Level& level, std::uint64_t& n_seen, FoundSets& out) {
        const std::size_t n_smaller = out.sufficient.size();
        bool has_new = false;
        race_.needed = level.pi - kRounding - kOrderRounding;
        while (!sets.is_done() && out.is_complete && !is_stopped()) {
            candidates_.clear();
            for (; !sets.is_done() && candidates_.size() < kChunk; sets.advance()) {
                out.is_complete = n_seen < options_.max_sets;
                if (!out.is_complete) break;
                ++n_seen;
                if (!has_subset(out.sufficient, n_smaller, sets.set())) candidates_.push_back(candidate(sets.set()));
            }
            has_new |= !candidates_.empty();
            keep_reaching(candidates_);
            for (const Candidate<Set>& set : candidates_)
                if (set.sum >= sum_to_reach(level.pi, set.n_votes) && is_certain(set, level.least_sdp))
                    out.sufficient.push_back({set.variables, set.mean()});
                else
                    race_.drop(set, base_);
        }
        return has_new;
    }

    // Whether the lower bound of a set reaches the level.
    bool is_certain(const Candidate<Set>& set, std::span<const double> least_sdp) {
        if (least_sdp.empty()) return true;
        const double squares = row_.squared_weights(set.variables);
        return set.sum >= sum_to_reach(least_sdp_of(least_sdp, squares), set.n_votes);
    }

    // Erases the sets that cannot reach what is needed. The sums of the others are exact.
    void keep_reaching(Candidates& sets) {
        take_known_sums(sets);
        for (std::size_t l = 0; l < n_trees_ && !sets.empty() && !is_stopped(); ++l) {
            advance(sets, l);
            keep_if(sets, [&](const Candidate<Set>& set) { return set.can_reach(race_.needed); });
        }
        for (std::size_t i = 0; i < sets.size() && !is_stopped(); ++i) sum_in_order(sets[i]);
    }

    // Completes the sets whose sums are known already, and drops those that are too low.
    void take_known_sums(Candidates& sets) {
        keep_if(sets, [&](Candidate<Set>& set) {
            const bool is_summed = set.variables < sums_.size() && row_.is_informed(set.variables);
            if (is_summed) complete(set, sums_[static_cast<std::size_t>(set.variables)]);
            return set.can_reach(race_.needed);
        });
    }

    template <class IsKept>
    void keep_if(Candidates& sets, const IsKept& is_kept) {
        std::size_t n_kept = 0;
        for (Candidate<Set>& set : sets)
            if (is_kept(set))
                sets[n_kept++] = set;
            else
                race_.drop(set, base_);
        sets.resize(n_kept);
    }

    // Adds the share of the tree that comes at l to the sets, of one size, that have l trees. Sets of up to one
    // variable are searched before the trees are sorted.
    void advance(Candidates& sets, std::size_t l) {
        const std::size_t t = (sets[0].variables & (sets[0].variables - 1)) == 0 ? l : order_[l];
        asked_.clear();
        for (Candidate<Set>& set : sets)
            if (set.n_trees == l && set.has_vote_of(row_.variables(t), n_trees_)) asked_.push_back(set.variables);
        const std::span<const double> shares = row_.shares(t, asked_);
        std::size_t i = 0;
        for (Candidate<Set>& set : sets) {
            if (set.n_trees != l) continue;
            if (set.has_vote_of(row_.variables(t), n_trees_)) set.add(shares[i++]);
            ++set.n_trees;
        }
    }

    // Computes the exact sum. Returns false as soon as the SDP cannot reach `least`.
    bool sum_in_order(Candidate<Set>& set, double least = -1.0) {
        set.sum = 0.0;
        set.n_trees = set.n_voted = 0;
        for (std::size_t t = 0; t < n_trees_; ++t) {
            if (!set.has_vote_of(row_.variables(t), n_trees_)) continue;
            if (!set.can_reach(least)) return false;
            set.add(row_.share(t, set.variables));
        }
        set.n_trees = static_cast<std::uint32_t>(n_trees_);
        return true;
    }

    void complete(Candidate<Set>& set, double sum) const {
        set.sum = sum;
        set.n_voted = set.n_votes;
        set.n_trees = static_cast<std::uint32_t>(n_trees_);
    }

    // Chooses the variables of sets of two and more: those of the chain, and those that gain most on the row's paths.
    void choose_variables(FoundSets& found) {
        is_chosen_ = true;
        sort_trees();
        if (options_.n_by_row != 0 && options_.n_by_row < chosen_.size()) {
            make_chain(options_.n_by_row - options_.n_by_paths);
            if (is_stopped()) return;
            keep_chosen(add_by_paths(base_), found);
        }
        // Where most trees split on few of the variables, the sums of all sets together take less time than those of
        // some dozens one by one.
        const std::size_t n = chosen_.size();
        if (n > 0 && n <= RowView<Set>::kMaxSummed && chosen_.back() + 1u == n &&
            row_.count_sets(n) <= kFewSets * n_trees_ && !is_stopped())
            row_.sum_shares(n, sums_);
    }

    // Sets of two and more take the trees first whose share is lowest when all variables are known: there most sets
    // lose most, and are dropped after fewer trees. Few trees drop them soon in any order.
    void sort_trees() {
        if (n_trees_ < kManyTrees) return;
        Set all = 0;
        for (const std::uint8_t v : chosen_) all |= Set{1} << v;
        share_of_all_.resize(n_trees_);
        for (std::size_t t = 0; t < n_trees_ && !is_stopped(); ++t) share_of_all_[t] = row_.share(t, all);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return share_of_all_[a] != share_of_all_[b] ? share_of_all_[a] < share_of_all_[b] : a < b;
        });
    }

    // Adds the variables whose splits gain most on the paths of the row, among equals the first.
    Set add_by_paths(Set chosen) {
        gain_.assign(every_.size(), 0.0);
        for (const Tree& tree : projection_.forest->trees)
            for (std::size_t at = 0; !tree.nodes[at].is_leaf(); at = tree.child_at(at, x_)) {
                const std::int32_t v = projection_.variable_of[static_cast<std::size_t>(tree.nodes[at].column)];
                if (v != kNoVariable) gain_[static_cast<std::size_t>(v)] += tree.gain[at];
            }
        for (std::size_t n = 0; n < options_.n_by_paths; ++n) {
            std::size_t best = every_.size();
            for (const std::uint8_t v : chosen_)
                if (!(chosen >> v & 1) && (best == every_.size() || gain_[v] > gain_[best])) best = v;
            if (best < every_.size()) chosen |= Set{1} << best;
        }
        return chosen;
    }

    // Keeps the chosen variables, and gives them the first numbers: sets of these are the fastest.
    void keep_chosen(Set chosen, FoundSets& found) {
        std::vector<std::uint8_t> names, others;
        for (const std::uint8_t v : every_) (chosen >> v & 1 ? names : others).push_back(v);
        chosen_.resize(names.size());
        std::iota(chosen_.begin(), chosen_.end(), std::uint8_t{0});
        names.insert(names.end(), others.begin(), others.end());
        row_.set_variables(names);
        const std::vector<std::uint8_t>& number = row_.numbers();
        for (std::vector<ScoredSet>* sets : {&chain_, &found.sufficient})
            for (ScoredSet& set : *sets) {
                const Members<Set> members(static_cast<Set>(set.variables));
                set.variables = 0;
                for (const std::uint8_t v : members) set.variables |= WideSet{1} << number[v];
            }
        base_ = static_cast<Set>(chain_.back().variables);
        for (std::uint8_t& v : singles_) v = number[v];
    }

    // The chain of the row: sets that grow by one variable at a time up to n of them, always by the one with which
    // those before have the highest SDP. Among equals, the first is taken.
    void make_chain(std::size_t n) {
        start_chain();
        while (chain_.size() <= n && !is_stopped()) choose_next();
    }

    void start_chain() {
        Candidate<Set> empty = candidate(0);
        sum_in_order(empty);
        sum_of_empty_ = empty.sum;
        chain_.push_back({0, empty.mean()});
        share_of_base_.assign(n_trees_, 0.0);
        for (std::size_t t = 0; t < n_trees_ && row_.all_vote() && !is_stopped(); ++t)
            share_of_base_[t] = row_.share(t, base_);
        first_trees_.resize(options_.n_first_of(n_trees_));
        std::iota(first_trees_.begin(), first_trees_.end(), 0u);
        later_trees_.clear();
        std::copy_if(order_.begin(), order_.end(), std::back_inserter(later_trees_),
                     [&](std::uint32_t t) { return t >= first_trees_.size(); });
    }

    // Adds one variable to the chain.
    void choose_next() {
        candidates_.clear();
        race_.needed = -std::numeric_limits<double>::infinity();
        for (const std::uint8_t v : chosen_)
            if (!(base_ >> v & 1)) candidates_.push_back(candidate(base_ | Set{1} << v));
        if (!first_trees_.empty()) {
            compare(candidates_, first_trees_, true);
            keep_finalists();
        }
        // The most likely one is computed first: the others are dropped when they can no longer reach it.
        const auto likely = std::max_element(candidates_.begin(), candidates_.end(), [&](const auto& a, const auto& b) {
            return race_.bound_of(a, base_) < race_.bound_of(b, base_);
        });
        Candidate<Set> first = *likely;
        candidates_.erase(likely);
        sum_in_order(first);
        if (is_stopped()) return;
        race_.forget_bounds();
        race_.needed = first.mean() - 2 * kRounding;
        compare(candidates_, later_trees_, false);
        if (is_stopped()) return;
        const auto is_before = [](const auto& a, const auto& b) { return a.variables < b.variables; };
        candidates_.insert(std::lower_bound(candidates_.begin(), candidates_.end(), first, is_before), first);
        for (const Candidate<Set>& set : candidates_) race_.drop(set, base_);  // their SDPs, for the next guess
        extend_chain(*highest(candidates_.begin(), candidates_.end()));
    }

    // Adds up what the rivals of the chain's next variable gain over some trees: a tree that does not split on a
    // variable votes the same with it as without it. Over the first trees none is dropped.
    void compare(Candidates& rivals, const std::vector<std::uint32_t>& trees, bool are_first) {
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
            if (are_first) {
                rival.sum = 0.0;
                for (const std::uint32_t t : trees) rival.sum += row_.share(t, Set{0});
                rival.n_voted = static_cast<std::uint32_t>(trees.size());
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
            if (l % kTreesBetweenChecks != 0 || are_first) continue;
            keep_if(rivals, [&](Candidate<Set>& rival) {
                if (total(rival, l + 1).can_reach(race_.needed)) return true;
                rival = total(rival, l + 1);
                left &= ~(rival.variables & ~base_);
                return false;
            });
        }
        for (Candidate<Set>& rival : rivals) rival = total(rival, trees.size());
    }

    std::uint8_t added(const Candidate<Set>& rival) const { return Members<Set>(rival.variables & ~base_)[0]; }

    // Makes the candidate the last set of the chain.
    void extend_chain(const Candidate<Set>& best) {
        const std::uint8_t v = added(best);
        base_ = best.variables;
        for (std::size_t t = 0; t < n_trees_; ++t)
            if (row_.variables(t) >> v & 1) share_of_base_[t] = row_.share(t, base_);
        const double sum = row_.is_informed(base_) ? std::accumulate(share_of_base_.begin(), share_of_base_.end(), 0.0)
                                                   : sum_of_empty_;
        chain_.push_back({base_, sum / best.n_votes});
    }

    // The first candidate whose SDP no other exceeds.
    template <class Iterator>
    static Iterator highest(Iterator begin, Iterator end) {
        Iterator best = begin;
        for (Iterator set = begin; set != end; ++set)
            if (set->mean() > best->mean() + kRounding) best = set;
        return best;
    }

    // Keeps the rivals with the highest SDPs, in their order. The first of them is the most likely one.
    void keep_finalists() {
        race_.bound_of(*highest(candidates_.begin(), candidates_.end()), base_) =
            std::numeric_limits<double>::infinity();
        Set finalists = 0;
        Candidates rivals = candidates_;
        for (std::size_t n = 0; n < kFinalists && !rivals.empty(); ++n) {
            const auto best = highest(rivals.begin(), rivals.end());
            finalists |= best->variables & ~base_;
            rivals.erase(best);
        }
        std::erase_if(candidates_, [&](const Candidate<Set>& set) { return !(set.variables & finalists); });
    }

    // The best set of a row without a sufficient one is the best of its chain.
    void find_best(std::size_t n_searched, FoundSets& out) {
        const std::size_t longest = options_.longest_chain(n_searched, chosen_.size());
        if (chain_.empty()) make_chain(longest);
        if (is_stopped()) return;
        const std::span<const ScoredSet> chain = chain_;
        out.best = best_of_chain(chain.first(std::min(chain.size(), longest + 1)), options_.min_size);
    }

    // Searches sets of a lower level: for a row without a sufficient set those of the highest multiple of `step` that
    // one of its sets is known to reach, and beside sets of many variables smaller ones, one step below.
    void search_below(SearchResult& result) {
        const FoundSets& found = result.at_level;
        if (!found.sufficient.empty()) {
            if (count_members(found.best.variables) <= options_.many) return;
            result.level_below = options_.pi - options_.step;
            find_sufficient({result.level_below, true, options_.least_of(result.level_below)}, result.below);
            return;
        }
        for (double level = highest_level(found.best); level > result.level_below && !is_stopped();) {
            FoundSets at_level;
            find_sufficient({level, true, options_.least_of(level)}, at_level);
            if (at_level.sufficient.empty()) return;
            result.level_below = level;
            result.below = std::move(at_level);
            // A set that is found at a level may reach a higher one.
            for (const ScoredSet& set : result.below.sufficient) level = std::max(level, highest_level(set));
        }
    }

    // The highest multiple of the step that a set reaches; with a confidence, that its lower bound reaches.
    double highest_level(const ScoredSet& set) {
        const double n_steps = std::round(1.0 / options_.step);
        const double reached = std::floor(set.sdp * n_steps + 1e-9);
        if (options_.least_below.empty()) return reached / n_steps;
        const double squares = row_.squared_weights(static_cast<Set>(set.variables));
        for (double k = std::min(reached, n_steps - 1); k > 0; --k)
            if (set.sdp >= least_sdp_of(options_.least_of(k / n_steps), squares) - kRounding) return k / n_steps;
        return 0.0;
    }

    void name_variables(FoundSets& out) const {
        for (ScoredSet& set : out.sufficient) set.variables = row_.named(static_cast<Set>(set.variables));
        out.best.variables = row_.named(static_cast<Set>(out.best.variables));
    }

    const SearchOptions& options_;
    const Projection& projection_;
    std::size_t n_trees_;
    RowView<Set>& row_;
    std::vector<std::uint8_t> every_;  // all variables
    const StopFlag* stop_ = nullptr;
    const float* x_ = nullptr;
    std::vector<std::uint32_t> order_;            // the trees, in the order in which sets of two and more take them
    std::vector<std::uint8_t> singles_, chosen_;  // the variables of sets of up to one, and of two and more
    bool is_chosen_ = false;
    Candidates candidates_;
    std::vector<Set> asked_;
    Race<Set> race_;
    std::vector<double> sums_;          // by set: the sum over all trees; empty if they are not known
    std::vector<double> share_of_all_;  // by tree, if all variables are known
    // The chain.
    std::vector<ScoredSet> chain_;  // by size, from the empty set on; empty if it is not known
    Set base_ = 0;                  // its last set
    double sum_of_empty_ = 0.0;
    std::vector<double> share_of_base_;       // by tree; 0 if it does not vote
    std::vector<std::uint32_t> first_trees_;  // those over which all variables are compared
    std::vector<std::uint32_t> later_trees_;  // the others, as in `order_`
    std::vector<double> gain_;                // by variable
    std::vector<std::uint32_t> n_voted_;      // by variable: the trees that vote because of it
};

}  // namespace suffice
