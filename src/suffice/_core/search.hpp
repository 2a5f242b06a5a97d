// The sufficient sets of one row: the sets of candidates are searched by size, and a set is dropped as soon as it can
// no longer reach pi.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "rounding.hpp"
#include "row_view.hpp"
#include "rows.hpp"

namespace suffice {

struct SearchOptions {
    double pi = 0.9;
    std::size_t min_node_size = 1;
    std::size_t min_size = 1;
    std::size_t max_size = kMaxVariables;
    bool minimal_only = false;                   // stop after the first size that has a sufficient set
    std::uint64_t max_sets = ~std::uint64_t{0};  // the search of a row ends after this many sets
    // How many variables the sets of two and more are made of, chosen at each row by their SDP there. 0: all of them.
    std::size_t n_by_row = 0;
    // The SDP that a set of n effective rows (1 / sum of squared weights, rounded down) must reach besides pi, so that
    // its lower bound reaches pi. The last entry is for more rows as well. Empty: none.
    std::vector<double> least_sdp;
};

struct ScoredSet {
    WideSet variables;
    double sdp;
};

struct SearchResult {
    std::vector<ScoredSet> sufficient;  // by size, then by falling SDP, then by variables
    ScoredSet best{0, 0.0};             // the first sufficient set or, if there is none, the set of highest SDP
    double best_squares = 1.0;          // the sum of the squared weights behind its SDP
    // The smallest set that keeps nearly all of the SDP of `best`; `best` itself if that is sufficient and small.
    ScoredSet nearly{0, 0.0};
    double nearly_squares = 1.0;
    bool is_complete = true;  // whether all sets were searched; false if there are more than `max_sets`
};

// All sets of `size` of the variables (ascending numbers), in ascending order of their masks.
template <class Set>
class SetsOfSize {
  public:
    SetsOfSize(std::span<const std::uint8_t> variables, std::size_t size)
        : variables_(variables), chosen_(size), is_done_(size > variables.size()) {
        for (std::size_t i = 0; i < size && !is_done_; ++i) choose(i, i);
    }
    bool is_done() const { return is_done_; }
    Set set() const { return set_; }
    // Always inlined: the loops over sets then keep the whole state in registers.
    [[gnu::always_inline]] void advance() {
        // The first that can move up by one does so; those before it start again.
        std::size_t j = 0;
        while (j + 1 < chosen_.size() && chosen_[j] + 1 == chosen_[j + 1]) ++j;
        is_done_ = chosen_.empty() || chosen_[j] + 1 == variables_.size();
        if (is_done_) return;
        for (std::size_t i = 0; i <= j; ++i) set_ &= ~bit(chosen_[i]);
        choose(j, chosen_[j] + 1);
        for (std::size_t i = 0; i < j; ++i) choose(i, i);
    }

  private:
    Set bit(std::size_t position) const { return Set{1} << variables_[position]; }
    void choose(std::size_t i, std::size_t position) {
        chosen_[i] = position;
        set_ |= bit(position);
    }

    std::span<const std::uint8_t> variables_;
    std::vector<std::size_t> chosen_;  // positions in `variables_`, ascending
    bool is_done_;
    Set set_ = 0;
};

template <class Mask>
class Search {
  public:
    using Set = SetOf<Mask>;

    Search(const Projection& projection, const SearchOptions& options, const StopFlag& stop)
        : options_(options), stop_(stop), row_(projection), every_(projection.n_variables) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    SearchResult run(const float* x, const RankRange& outcome) {
        row_.set_row(x, outcome);
        dropped_.clear();
        variables_ = every_;
        SearchResult result;
        find_sufficient(result);
        if (result.sufficient.empty()) {
            result.best = nearest();
            result.nearly = smallest_near(result.best);
        } else {
            result.nearly = result.best = result.sufficient.front();
            if (count(static_cast<Set>(result.best.variables)) > kMany) result.nearly = smallest_near(result.best);
        }
        result.best_squares = squares(result.best);
        result.nearly_squares =
            result.nearly.variables == result.best.variables ? result.best_squares : squares(result.nearly);
        return result;
    }

  private:
    // A set and the sum of its shares over the first trees.
    struct Partial {
        Set variables;
        double sum;
        std::size_t n_trees;
    };

    // The sum of squared weights is rounded: six equal weights must not count as fewer than six rows.
    static constexpr double kSlightlyMore = 1.0 + 1e-9;
    // How many sets go through the trees together, so that the rows of a tree stay in the cache for all of them.
    static constexpr std::size_t kBatch = 4096;
    // How many dropped sets are kept, in case that none is sufficient (24 bytes each).
    static constexpr std::size_t kMaxDropped = 1 << 16;
    // The share of the highest SDP that a set must keep to come near it.
    static constexpr double kNearly = 0.95;
    // A sufficient set of more variables than a person holds in mind: a smaller one that comes near it is looked for.
    static constexpr int kMany = 4;

    void find_sufficient(SearchResult& result) {
        std::vector<ScoredSet>& sufficient = result.sufficient;
        n_seen_ = 0;
        bool is_chosen = false;
        for (std::size_t size = options_.min_size; size <= last_size() && !stop_; ++size) {
            if (size > 1 && !is_chosen) {  // where one variable is sufficient, the choice may not be needed
                choose_variables();
                is_chosen = true;
                if (size > last_size()) return;
            }
            const std::size_t n_smaller = sufficient.size();
            const bool has_new_sets = search_size(size, result);
            std::stable_sort(sufficient.begin() + static_cast<std::ptrdiff_t>(n_smaller), sufficient.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
            // Without a new set of this size, every larger set has a sufficient subset as well.
            if (!has_new_sets || !result.is_complete || (options_.minimal_only && !sufficient.empty())) return;
            if (size == 1)  // a larger set with a variable that is sufficient alone need not be searched
                for (const ScoredSet& set : sufficient)
                    std::erase_if(variables_, [&](std::uint8_t v) { return set.variables == WideSet{1} << v; });
        }
    }

    // Keeps the variables that matter most at the row, chosen one after the other: the next is the one with which those
    // before have the highest SDP. Among equals, the first in the projection is chosen.
    void choose_variables() {
        if (options_.n_by_row == 0 || options_.n_by_row >= variables_.size()) return;
        const double tie = kRounding * static_cast<double>(row_.n_trees());
        std::vector<std::uint8_t> left = std::move(variables_);
        variables_.clear();
        Set chosen = 0;
        while (variables_.size() < options_.n_by_row && !stop_) {
            double best_sum = -1.0;
            std::size_t best = 0;
            for (std::size_t i = 0; i < left.size() && !stop_; ++i) {
                Partial set{chosen | Set{1} << left[i], 0.0, 0};
                while (set.n_trees < row_.n_trees() && bound(set) > best_sum + tie) advance(set);
                if (set.n_trees < row_.n_trees() || set.sum <= best_sum + tie) continue;
                best_sum = set.sum;
                best = i;
            }
            chosen |= Set{1} << left[best];
            variables_.push_back(left[best]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
        }
        std::sort(variables_.begin(), variables_.end());
    }

    // Appends the sufficient sets of one size, and returns whether there was a set without a sufficient subset.
    bool search_size(std::size_t size, SearchResult& result) {
        std::vector<ScoredSet>& sufficient = result.sufficient;
        const std::size_t n_smaller = sufficient.size();
        bool has_new_sets = false;
        for (SetsOfSize<Set> sets(variables_, size); !sets.is_done() && !stop_ && result.is_complete;) {
            living_.clear();
            for (; !sets.is_done() && living_.size() < kBatch; sets.advance()) {
                result.is_complete = n_seen_ < options_.max_sets && !stop_;
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
        for (std::size_t tree = 0; tree < row_.n_trees() && !living_.empty() && !stop_; ++tree) {
            std::size_t n_living = 0;
            for (Partial& set : living_) {
                advance(set);
                if (bound(set) >= needed)
                    living_[n_living++] = set;
                else if (dropped_.size() <= kMaxDropped)
                    dropped_.push_back(set);
            }
            living_.resize(n_living);
        }
    }

    // Removes the sets whose lower bound does not reach pi from `living_`, whose SDPs are complete.
    void drop_uncertain() {
        std::size_t n_living = 0;
        for (const Partial& set : living_) {
            if (stop_) break;
            const double n_rows = kSlightlyMore / row_.squared_weights(set.variables, options_.min_node_size);
            const std::size_t last = options_.least_sdp.size() - 1;
            const std::size_t n = n_rows < static_cast<double>(last) ? static_cast<std::size_t>(n_rows) : last;
            if (set.sum >= sum_to_reach(options_.least_sdp[n], row_.n_trees()))
                living_[n_living++] = set;
            else if (dropped_.size() <= kMaxDropped)
                dropped_.push_back(set);
        }
        living_.resize(n_living);
    }

    // The set of highest SDP. Among equals, the smallest set wins, then the first.
    ScoredSet nearest() {
        if (dropped_.empty()) return {0, 0.0};
        // The last set that was dropped is a good first guess: it stayed longest, or it is the largest.
        Partial best = dropped_.back();
        while (best.n_trees < row_.n_trees() && !stop_) advance(best);
        for_each_dropped([&](Partial& set) { challenge(best, set); });
        return {best.variables, sdp_of(best)};
    }

    // The smallest set that keeps nearly all of the highest SDP; among sets of one size, that of the highest SDP.
    ScoredSet smallest_near(const ScoredSet& highest) {
        const double needed = sum_to_reach(kNearly * highest.sdp, row_.n_trees());
        Partial best{static_cast<Set>(highest.variables), highest.sdp * static_cast<double>(row_.n_trees()),
                     row_.n_trees()};
        for_each_dropped([&](Partial& set) {
            const int size = count(set.variables);
            if (size >= count(static_cast<Set>(highest.variables)) || size > count(best.variables)) return;
            if (size == count(best.variables)) return challenge(best, set);
            while (bound(set) >= needed && set.n_trees < row_.n_trees() && !stop_) advance(set);
            if (set.n_trees == row_.n_trees() && set.sum >= needed) best = set;
        });
        return {best.variables, sdp_of(best)};
    }

    // Calls `visit` with each set that was searched and dropped.
    template <class Visit>
    void for_each_dropped(const Visit& visit) {
        if (dropped_.size() <= kMaxDropped) {
            for (Partial& set : dropped_) visit(set);
            return;
        }
        std::uint64_t n_left = n_seen_;
        for (std::size_t size = options_.min_size; size <= last_size(); ++size)
            // Every variable was searched alone. None was enough, or this would not be called: all are there still.
            for (SetsOfSize<Set> sets(size == 1 ? every_ : variables_, size); !sets.is_done() && n_left && !stop_;
                 sets.advance()) {
                Partial set{sets.set(), 0.0, 0};
                visit(set);
                --n_left;
            }
    }

    double squares(const ScoredSet& set) {
        return stop_ ? 1.0 : row_.squared_weights(static_cast<Set>(set.variables), options_.min_node_size);
    }

    // Replaces `best` by `set` if that is better; stops as soon as it cannot be.
    void challenge(Partial& best, Partial& set) {
        const double tie = kRounding * static_cast<double>(row_.n_trees());
        while (bound(set) >= best.sum - tie) {
            if (set.n_trees == row_.n_trees()) {
                if (set.sum > best.sum + tie || comes_before(set, best)) best = set;
                return;
            }
            if (stop_) return;
            advance(set);
        }
    }

    static bool comes_before(const Partial& a, const Partial& b) {
        const int n_a = count(a.variables), n_b = count(b.variables);
        return n_a != n_b ? n_a < n_b : a.variables < b.variables;
    }

    static int count(Set set) {
        int n = std::popcount(static_cast<std::uint64_t>(set));
        if constexpr (sizeof(Set) > 8) n += std::popcount(static_cast<std::uint64_t>(set >> 64));
        return n;
    }

    void advance(Partial& set) { set.sum += row_.share(set.n_trees++, set.variables, options_.min_node_size); }
    double bound(const Partial& set) const { return set.sum + static_cast<double>(row_.n_trees() - set.n_trees); }
    double sdp_of(const Partial& set) const { return set.sum / static_cast<double>(row_.n_trees()); }
    std::size_t last_size() const { return std::min(options_.max_size, variables_.size()); }

    // Whether `set` contains one of the first n sufficient sets.
    static bool has_subset(const std::vector<ScoredSet>& sufficient, std::size_t n, Set set) {
        for (std::size_t i = 0; i < n; ++i)
            if ((static_cast<Set>(sufficient[i].variables) & ~set) == 0) return true;
        return false;
    }

    SearchOptions options_;
    const StopFlag& stop_;
    RowView<Mask> row_;
    std::vector<std::uint8_t> every_;      // all variables
    std::vector<std::uint8_t> variables_;  // the variables that sets are made of
    std::uint64_t n_seen_ = 0;             // how many sets have been searched
    std::vector<Partial> living_, dropped_;
};

}  // namespace suffice
