// The sufficient sets of one row: the sets of candidates are searched by size, and a set is dropped as soon as it can
// no longer reach pi.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "rounding.hpp"
#include "row_view.hpp"
#include "rows.hpp"
#include "searched_sets.hpp"
#include "single_sums.hpp"

namespace suffice {

template <class Set>
class Search {
  public:
    // From this many rows on, enough of them share the values of single variables.
    static constexpr std::size_t kManyRows = 100;

    // `n_rows` is the number of rows that will be searched: for many, what is known of single variables is kept.
    Search(const Projection& projection, const SearchOptions& options, std::size_t n_rows)
        : options_(options),
          is_kept_(n_rows >= kManyRows),
          row_(projection, options.min_node_size),
          single_sums_(projection, projection.forest->y_values.size()),
          every_(projection.n_variables),
          order_(projection.trees.size()) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    // Searches from here on with other options. Returns false if that takes another Search.
    bool set_options(const SearchOptions& options) {
        if (options.min_node_size != options_.min_node_size) return false;
        options_ = options;
        return true;
    }

    SearchResult run(const float* x, const RankRange& outcome, const StopFlag& stop) {
        stop_ = &stop;
        row_.set_row(x, outcome);
        x_ = x;
        outcome_ = outcome;
        bound_alone_.assign(every_.size(), -1.0);
        chain_.clear();
        sums_.clear();
        variables_ = every_;
        if (names_ != every_) {
            names_ = every_;
            row_.set_variables(names_);
        }
        std::iota(order_.begin(), order_.end(), 0u);
        SearchResult result;
        find_sufficient(result);
        if (result.sufficient.empty() && !options_.needs_nearest) return result;
        if (result.sufficient.empty()) {
            const std::size_t n = options_.longest_chain(n_searched_, variables_.size());
            if (chain_.empty()) make_chain(n);
            result.best = best_of_chain(std::span(chain_).first(std::min(chain_.size(), n + 1)), options_.min_size);
        } else {
            result.best = result.sufficient.front();
        }
        result.nearly = needs_nearer(result) ? nearest(result.best) : result.best;
        result.best_squares = squares(result.best);
        result.nearly_squares =
            result.nearly.variables == result.best.variables ? result.best_squares : squares(result.nearly);
        for (ScoredSet& set : result.sufficient) set.variables = named(static_cast<Set>(set.variables));
        result.best.variables = named(static_cast<Set>(result.best.variables));
        result.nearly.variables = named(static_cast<Set>(result.nearly.variables));
        return result;
    }

  private:
    // A set and the sum of its shares over the first trees, in the order in which its trees are taken.
    struct Partial {
        Set variables;
        double sum;
        std::size_t n_trees;
    };

    // How many sets go through the trees together, so that the rows of a tree stay in the cache for all of them.
    static constexpr std::size_t kBatch = 4096;
    // How many sets a tree tells apart on average if the sums of all sets are computed together.
    static constexpr std::size_t kFewSets = 64;
    // From this many trees on, their order is worth what it costs.
    static constexpr std::size_t kManyTrees = 50;
    // How many trees are added before the variables to choose from are compared again.
    static constexpr std::size_t kTreesBetweenChecks = 8;
    // An order in which sets share the first steps of their walks through a tree is worth what it costs for this part
    // of all sets of at most so many variables.
    static constexpr std::size_t kWorthAnOrder = 8;
    static constexpr std::size_t kMaxOrdered = 12;
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
    void find_sufficient(SearchResult& result) {
        std::vector<ScoredSet>& sufficient = result.sufficient;
        n_seen_ = n_searched_ = 0;
        bool is_chosen = false;
        for (std::size_t size = options_.min_size; size <= last_size() && !is_stopped(); ++size) {
            if (size > 1 && !is_chosen) {  // where one variable is sufficient, the choice may not be needed
                sort_trees();
                choose_variables(sufficient);
                sum_all_sets();
                is_chosen = true;
                if (size > last_size()) return;
            }
            const std::size_t n_smaller = sufficient.size();
            const bool has_new_sets = search_size(size, result);
            if (result.is_complete) n_searched_ = size;
            std::stable_sort(sufficient.begin() + static_cast<std::ptrdiff_t>(n_smaller), sufficient.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
            // Without a new set of this size, every larger set has a sufficient subset as well.
            if (!has_new_sets || !result.is_complete || (options_.minimal_only && !sufficient.empty())) return;
            if (size == 1)  // a larger set with a variable that is sufficient alone need not be searched
                for (const ScoredSet& set : sufficient)
                    std::erase_if(variables_, [&](std::uint8_t v) { return set.variables == WideSet{1} << v; });
        }
    }

    // Sets of two and more take the trees first whose share is lowest when all variables are known: there most sets
    // lose most, and are dropped after fewer trees. Few trees drop them soon in any order.
    void sort_trees() {
        if (order_.size() < kManyTrees) return;
        Set all = 0;
        for (const std::uint8_t v : variables_) all |= Set{1} << v;
        share_of_all_.resize(order_.size());
        for (std::size_t t = 0; t < order_.size() && !is_stopped(); ++t) share_of_all_[t] = row_.share(t, all);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return share_of_all_[a] != share_of_all_[b] ? share_of_all_[a] < share_of_all_[b] : a < b;
        });
    }

    // Where most trees split on few of the variables, the sums of all sets together take less time than those of some
    // dozens one by one.
    void sum_all_sets() {
        const std::size_t n = variables_.size();
        if (n == 0 || n > RowView<Set>::kMaxSummed || variables_.back() + 1u != n || is_stopped()) return;
        if (row_.count_sets(n) <= kFewSets * row_.n_trees()) row_.sum_shares(n, sums_);
    }

    // Keeps the variables that matter most at the row: those of its chain.
    void choose_variables(std::vector<ScoredSet>& sufficient) {
        if (options_.n_by_row == 0 || options_.n_by_row >= variables_.size()) return;
        make_chain(options_.n_by_row);
        if (is_stopped()) return;
        std::vector<std::uint8_t> chosen;
        for (const std::uint8_t v : variables_)
            if (static_cast<Set>(chain_.back().variables) >> v & 1) chosen.push_back(v);
        number_first(chosen, sufficient);
    }

    // Makes the chain of the row, up to a set of n variables: they are added one after the other, and the next is the
    // one with which those before have the highest SDP. Among equals, the first in the projection is taken.
    void make_chain(std::size_t n) {
        std::vector<std::uint8_t> left = variables_;
        Set chosen = 0;
        const std::size_t n_first = options_.n_first_of(row_.n_trees());
        later_trees_.clear();
        std::copy_if(order_.begin(), order_.end(), std::back_inserter(later_trees_),
                     [&](std::uint32_t t) { return t >= n_first; });
        share_of_chosen_.resize(row_.n_trees());
        for (std::size_t t = 0; t < row_.n_trees() && !is_stopped(); ++t) share_of_chosen_[t] = row_.share(t, chosen);
        append_to_chain(chosen);
        std::uint8_t likely = 0;  // from the second round on: the second of the round before
        if (n > 0) likely = surest_alone(left);
        while (chain_.size() <= n && !is_stopped()) {
            const auto [best, second] = choose_next(chosen, left, likely);
            likely = second;
            chosen |= Set{1} << best;
            for (std::size_t t = 0; t < row_.n_trees(); ++t)
                if (row_.variables(t) >> best & 1) share_of_chosen_[t] = row_.share(t, chosen);
            append_to_chain(chosen);
            std::erase(left, best);
        }
    }

    // Sums are added in the order of the trees: the last bit depends on it.
    void append_to_chain(Set chosen) {
        const double sum = std::accumulate(share_of_chosen_.begin(), share_of_chosen_.end(), 0.0);
        chain_.push_back({chosen, sum / static_cast<double>(row_.n_trees())});
    }

    // Numbers the variables anew, these first: sets of the first ones are the fastest. The sets so far follow.
    void number_first(const std::vector<std::uint8_t>& variables, std::vector<ScoredSet>& sufficient) {
        names_ = variables;
        for (const std::uint8_t v : every_)
            if (std::find(variables.begin(), variables.end(), v) == variables.end()) names_.push_back(v);
        std::vector<std::uint8_t> number(names_.size());
        for (std::size_t i = 0; i < names_.size(); ++i) number[names_[i]] = static_cast<std::uint8_t>(i);
        const auto renumbered = [&](Set set) {
            Set out = 0;
            const Members<Set> members(set);
            for (std::size_t j = 0; j < members.size(); ++j) out |= Set{1} << number[members[j]];
            return out;
        };
        for (ScoredSet& set : chain_) set.variables = renumbered(static_cast<Set>(set.variables));
        for (ScoredSet& set : sufficient) set.variables = renumbered(static_cast<Set>(set.variables));
        variables_.resize(variables.size());
        std::iota(variables_.begin(), variables_.end(), std::uint8_t{0});
        row_.set_variables(names_);
    }

    // A set in the numbers of the projection.
    WideSet named(Set set) const {
        WideSet out = 0;
        const Members<Set> members(set);
        for (std::size_t j = 0; j < members.size(); ++j) out |= WideSet{1} << names_[members[j]];
        return out;
    }

    // The variable that stayed surest when each was searched alone; the first if they were not.
    std::uint8_t surest_alone(const std::vector<std::uint8_t>& variables) const {
        return *std::max_element(variables.begin(), variables.end(),
                                 [&](std::uint8_t a, std::uint8_t b) { return bound_alone_[a] < bound_alone_[b]; });
    }

    // The variable that has the highest SDP together with those chosen before, and the next best of those known. A tree
    // that does not split on a variable has the same share with it as without it.
    std::pair<std::uint8_t, std::uint8_t> choose_next(Set chosen, const std::vector<std::uint8_t>& left,
                                                      std::uint8_t likely) {
        const std::size_t k = row_.n_trees(), n_first = options_.n_first_of(k);
        const double tie = kRounding * static_cast<double>(k);
        Set rivals = 0;
        for (const std::uint8_t v : left) rivals |= Set{1} << v;
        gain_.assign(every_.size(), 0.0);
        double sum = 0.0;  // of the variables chosen before, over the trees so far
        for (std::size_t t = 0; t < n_first && !is_stopped(); ++t) {
            sum += share_of_chosen_[t];
            row_.add_gains(t, chosen, share_of_chosen_[t], rivals, gain_.data());
        }
        if (n_first > 0) {
            likely = surest_by_gain(left, rivals, tie);
            rivals = finalists(left, rivals, tie);
        }
        // The likely one is computed first: the others are dropped when they can no longer reach it.
        double enough = -2 * tie;
        for (std::size_t t = 0; t < k && !is_stopped(); ++t) enough += row_.share(t, chosen | Set{1} << likely);
        for (std::size_t l = 0; l < later_trees_.size() && !is_stopped(); ++l) {
            const std::size_t t = later_trees_[l];
            sum += share_of_chosen_[t];
            row_.add_gains(t, chosen, share_of_chosen_[t], rivals, gain_.data());
            if (l % kTreesBetweenChecks != 0) continue;
            const Members<Set> alive(rivals);
            for (std::size_t j = 0; j < alive.size(); ++j)
                if (alive[j] != likely &&
                    sum + gain_[alive[j]] + static_cast<double>(later_trees_.size() - 1 - l) < enough)
                    rivals &= ~(Set{1} << alive[j]);
        }
        double best_gain = -2.0 * static_cast<double>(k), second_gain = best_gain;
        std::uint8_t best = likely, second = likely;
        for (const std::uint8_t v : left) {
            if (!(rivals >> v & 1)) continue;
            if (gain_[v] > best_gain + tie) {
                second = best;
                second_gain = best_gain;
                best_gain = gain_[v];
                best = v;
            } else if (gain_[v] > second_gain) {
                second_gain = gain_[v];
                second = v;
            }
        }
        if (second == best)  // the others were dropped: any of them will do
            for (const std::uint8_t v : left)
                if (v != best) second = v;
        return {best, second};
    }

    // The first of the rivals whose gain no other exceeds.
    std::uint8_t surest_by_gain(const std::vector<std::uint8_t>& left, Set rivals, double tie) const {
        double highest = -2.0 * static_cast<double>(row_.n_trees());
        std::uint8_t surest = left.front();
        for (const std::uint8_t v : left)
            if ((rivals >> v & 1) && gain_[v] > highest + tie) {
                highest = gain_[v];
                surest = v;
            }
        return surest;
    }

    // The rivals with the highest gains.
    Set finalists(const std::vector<std::uint8_t>& left, Set rivals, double tie) const {
        Set out = 0;
        for (std::size_t i = 0; i < std::min(kFinalists, left.size()); ++i)
            out |= Set{1} << surest_by_gain(left, rivals & ~out, tie);
        return out;
    }

    // Appends the sufficient sets of one size, and returns whether there was a set without a sufficient subset.
    bool search_size(std::size_t size, SearchResult& result) {
        std::vector<ScoredSet>& sufficient = result.sufficient;
        const std::size_t n_smaller = sufficient.size();
        bool has_new_sets = false;
        for (SetsOfSize<Set> sets(variables_, size); !sets.is_done() && !is_stopped() && result.is_complete;) {
            living_.clear();
            for (; !sets.is_done() && living_.size() < kBatch; sets.advance()) {
                result.is_complete = n_seen_ < options_.max_sets && !is_stopped();
                if (!result.is_complete) break;
                ++n_seen_;
                if (!has_subset(sufficient, n_smaller, sets.set())) living_.push_back({sets.set(), 0.0, 0});
            }
            has_new_sets = has_new_sets || !living_.empty();
            drop_insufficient();
            if (!options_.least_sdp.empty()) drop_uncertain();
            for (const Partial& set : living_) sufficient.push_back({set.variables, sdp_of(set)});
        }
        return has_new_sets;
    }

    // Removes the sets with SDP < pi from `living_`. After l of k trees, the SDP is at most (sum + k - l) / k.
    void drop_insufficient() {
        const double needed = sum_to_reach(options_.pi, row_.n_trees());
        const double surely_needed = needed - kOrderRounding * static_cast<double>(row_.n_trees());
        take_known_sums(surely_needed);
        for (std::size_t l = 0; l < row_.n_trees() && !living_.empty() && !is_stopped(); ++l) {
            advance_all(living_, l);
            std::size_t n_living = 0;
            for (const Partial& set : living_)
                if (bound(set) >= surely_needed)
                    living_[n_living++] = set;
                else
                    drop(set);
            living_.resize(n_living);
        }
        if (is_stopped()) return;
        std::size_t n_living = 0;
        for (Partial& set : living_) {
            set.sum = sum_in_order(set.variables);
            if (set.sum >= needed)
                living_[n_living++] = set;
            else
                drop(set);
        }
        living_.resize(n_living);
    }

    // Adds the share of the tree that comes at l to the sets that have l trees.
    void advance_all(std::vector<Partial>& sets, std::size_t l) {
        const std::size_t n = variables_.size();
        if (n > kMaxOrdered || kWorthAnOrder * sets.size() < std::size_t{1} << n || variables_.back() + 1u != n ||
            !row_.is_worth_an_order(order_[l])) {
            for (Partial& set : sets)
                if (set.n_trees == l) advance(set);
            return;
        }
        position_.resize(std::size_t{1} << n, kNowhere);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            if (sets[i].n_trees != l) continue;
            if (tree_of(sets[i]) == order_[l] && sets[i].variables < position_.size())
                position_[static_cast<std::size_t>(sets[i].variables)] = static_cast<std::uint32_t>(i);
            else
                advance(sets[i]);
        }
        for (const Set set : row_.sets_in_order(order_[l], n)) {
            std::uint32_t& position = position_[static_cast<std::size_t>(set)];
            if (position != kNowhere) advance(sets[position]);
            position = kNowhere;
        }
    }

    // Completes the sets whose sums are known already or are kept for other rows, and drops those that are too low.
    void take_known_sums(double needed) {
        sum_kept();
        if (is_stopped()) return living_.clear();
        std::size_t n_living = 0;
        for (Partial& set : living_) {
            if (set.variables < sums_.size())
                set = {set.variables, sums_[static_cast<std::size_t>(set.variables)], row_.n_trees()};
            if (const double* const sum = kept_sum(set.variables)) set = {set.variables, *sum, row_.n_trees()};
            if (bound(set) >= needed)
                living_[n_living++] = set;
            else
                drop(set);
        }
        living_.resize(n_living);
    }

    // Computes the sums that are kept for other rows and not known yet, all of them tree by tree.
    void sum_kept() {
        unknown_.clear();
        for (const Partial& set : living_)
            if (const double* const sum = kept_sum(set.variables); sum && std::isnan(*sum))
                unknown_.push_back({set.variables, 0.0, 0});
        for (std::size_t t = 0; t < row_.n_trees() && !unknown_.empty() && !is_stopped(); ++t)
            for (Partial& set : unknown_) set.sum += row_.share(t, set.variables);
        if (is_stopped()) return;
        for (const Partial& set : unknown_) *kept_sum(set.variables) = set.sum;
    }

    // Where the sum of a single variable is kept for other rows; nullptr if it is not.
    double* kept_sum(Set set) {
        if (!is_kept_ || !is_single(set) || outcome_.lo != outcome_.hi) return nullptr;
        return single_sums_.find(names_[Members<Set>(set)[0]], x_, outcome_.lo);
    }

    void drop(const Partial& set) {
        if (is_single(set.variables)) bound_alone_[Members<Set>(set.variables)[0]] = bound(set);
    }

    // Removes the sets whose lower bound does not reach pi from `living_`, whose SDPs are complete.
    void drop_uncertain() {
        std::size_t n_living = 0;
        for (const Partial& set : living_) {
            if (is_stopped()) break;
            if (set.sum >= sum_to_reach(options_.least_sdp_of(row_.squared_weights(set.variables)), row_.n_trees()))
                living_[n_living++] = set;
            else
                drop(set);
        }
        living_.resize(n_living);
    }

    // What is left of a set if variables are taken out as long as it keeps nearly all of its SDP.
    ScoredSet nearest(const ScoredSet& best) {
        const double needed = sum_to_reach(kNearly * best.sdp, row_.n_trees());
        const double tie = kRounding * static_cast<double>(row_.n_trees());
        ScoredSet left = best;
        for (std::size_t size = count_members(best.variables); size > options_.min_size && !is_stopped(); --size) {
            const Set whole = static_cast<Set>(left.variables);
            double highest = -1.0;
            const Members<Set> members(whole);
            for (std::size_t j = 0; j < members.size(); ++j) {
                const Set part = whole & ~(Set{1} << members[j]);
                const double sum = sum_in_order(part, std::max(needed, highest));
                if (sum < needed || sum <= highest + tie) continue;
                highest = sum;
                left = {part, sum / static_cast<double>(row_.n_trees())};
            }
            if (highest < 0.0) break;
        }
        return left;
    }

    double squares(const ScoredSet& set) {
        return is_stopped() ? 1.0 : row_.squared_weights(static_cast<Set>(set.variables));
    }

    static bool is_single(Set set) { return set != 0 && (set & (set - 1)) == 0; }

    void advance(Partial& set) { set.sum += row_.share(tree_of(set), set.variables), ++set.n_trees; }
    // The tree that comes next. Sets of up to one variable were searched before the trees were sorted.
    std::size_t tree_of(const Partial& set) const {
        return (set.variables & (set.variables - 1)) == 0 ? set.n_trees : order_[set.n_trees];
    }
    double bound(const Partial& set) const { return set.sum + static_cast<double>(row_.n_trees() - set.n_trees); }
    double sdp_of(const Partial& set) const { return set.sum / static_cast<double>(row_.n_trees()); }
    // The sum over all trees, in their own order: the last bit of a sum depends on its order. It ends as soon as the
    // sum cannot reach `enough`, with a sum below that.
    double sum_in_order(Set set, double enough = -1.0) {
        const std::size_t k = row_.n_trees();
        double sum = 0.0;
        for (std::size_t t = 0; t < k && sum + static_cast<double>(k - t) >= enough; ++t) sum += row_.share(t, set);
        return sum;
    }
    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    std::size_t last_size() const { return std::min(options_.max_size, variables_.size()); }

    SearchOptions options_;
    const StopFlag* stop_ = nullptr;
    bool is_kept_;
    RowView<Set> row_;
    const float* x_ = nullptr;
    RankRange outcome_;
    SingleSums single_sums_;                  // over the trees, by value and outcome
    std::vector<std::uint8_t> every_;         // all variables
    std::vector<std::uint8_t> names_;         // by bit of a set: its variable in the projection
    std::vector<std::uint8_t> variables_;     // the bits that sets are made of
    std::uint64_t n_seen_ = 0;                // how many sets have been searched
    std::size_t n_searched_ = 0;              // the largest size of which all sets have been searched
    std::vector<std::uint32_t> order_;        // the trees, in the order in which sets of two and more take them
    std::vector<double> share_of_all_;        // by tree, if all variables are known
    std::vector<std::uint32_t> later_trees_;  // all but the first ones of the choice at a row, in the same order
    std::vector<double> share_of_chosen_;     // by tree, if the variables chosen so far are known
    std::vector<double> gain_;                // by variable: what the sum of the shares gains with it
    std::vector<double> sums_;                // by set: the sum over all trees; empty if they are not known
    std::vector<std::uint32_t> position_;     // by set, among those that go through a tree together
    std::vector<double> bound_alone_;         // by variable: what its SDP can reach at most, times the trees
    std::vector<ScoredSet> chain_;            // by size, from the empty set on; empty if it is not known
    std::vector<Partial> living_, unknown_;
};

}  // namespace suffice
