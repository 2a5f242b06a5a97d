// What is searched, what was found, and the sets that are gone through.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "projection.hpp"
#include "thresholds.hpp"

namespace suffice {

// The sum of squared weights is rounded: six equal weights must not count as fewer than six rows. Any
// value between the rounding errors (1e-13) and 1 / rows would do.
inline constexpr double kSlightlyMore = 1.0 + 1e-9;
// More than two sums of the same shares in different orders differ, by tree: 1e-13 for 1,000 trees.
inline constexpr double kOrderRounding = 1e-12;

// How many variables are compared over all trees, if all of them were compared over the first trees.
// With three, after 25 trees, .636 of the rows have a set; with all variables over all trees .638
// (docs/evidence/tables.md).
inline constexpr std::size_t kFinalists = 3;

struct SearchOptions {
    double pi = 0.9;
    std::size_t min_node_size = 1;
    std::size_t min_size = 1;
    std::size_t max_size = kMaxVariables;
    bool minimal_only = false;                   // stop after the first size that has a sufficient set
    std::uint64_t max_sets = ~std::uint64_t{0};  // the search of a row ends after this many sets
    // How many variables the sets of two and more are made of, chosen at each row by their SDP there. 0: all of them.
    std::size_t n_by_row = 0;
    // How many of them are those whose splits gain most on the row's own paths. The chain of a row has the others.
    std::size_t n_by_paths = 0;
    // Over so many trees, the first ones, all variables are compared in this choice, and over all trees only the best
    // of them. 0: all variables are compared over all trees.
    std::size_t n_first_trees = 0;
    // The SDP that a set of n effective rows (1 / sum of squared weights, rounded down) must reach besides pi, so that
    // its lower bound reaches pi. The last entry is for more rows as well. Empty: none.
    std::vector<double> least_sdp;
    bool needs_best = true;  // whether rows without a sufficient set get the best set of their chain
    // Rows without a sufficient set get sets of a lower level, a multiple of this; rows whose sufficient sets have more
    // than `many` variables get smaller ones of a level that is lower by this. 0: neither.
    double step = 0.0;
    std::size_t many = kMaxVariables;
    // `least_sdp` of the multiples of the step, and of pi - step. Empty: none.
    std::vector<std::pair<double, std::vector<double>>> least_below;

    std::size_t n_first_of(std::size_t n_trees) const { return n_first_trees < n_trees ? n_first_trees : 0; }

    // How many variables the largest set of a row's chain has: it is no larger than the largest sets that were all
    // searched, so that no set of the chain is sufficient without being found.
    std::size_t longest_chain(std::size_t n_searched, std::size_t n_variables) const {
        const std::size_t most = n_by_row == 0 ? n_variables : std::min(n_by_row - n_by_paths, n_variables);
        return std::min({std::max(n_searched, min_size), max_size, most});
    }

    std::span<const double> least_of(double level) const {
        for (const auto& [of_level, least] : least_below)
            if (of_level == level) return least;
        return {};
    }
};

// The SDP that a set with this sum of squared weights must reach; not for an empty `least_sdp`.
inline double least_sdp_of(std::span<const double> least_sdp, double squares) {
    const double n_rows = kSlightlyMore / squares;
    const std::size_t last = least_sdp.size() - 1;
    return least_sdp[n_rows < static_cast<double>(last) ? static_cast<std::size_t>(n_rows) : last];
}

struct ScoredSet {
    WideSet variables;
    double sdp;
};

// The sets that reach a level.
struct FoundSets {
    std::vector<ScoredSet> sufficient;  // by size, then by falling SDP, then by variables
    ScoredSet best{0, 0.0};             // the first sufficient set or, if there is none, the best of the chain
    bool is_complete = true;            // whether all sets were searched; false if there are more than `max_sets`
};

struct SearchResult {
    FoundSets at_level;
    FoundSets below;           // at a lower level
    double level_below = 0.0;  // 0 if there are none
};

// A set on its way through the trees.
template <class Set>
struct Candidate {
    Set variables;
    std::uint32_t n_votes;      // how many trees vote on it
    double sum = 0.0;           // of the shares of those that have voted
    std::uint32_t n_trees = 0;  // that it has gone through
    std::uint32_t n_voted = 0;  // those of them that vote

    // Whether a tree votes that splits on these variables.
    bool has_vote_of(Set variables_of_tree, std::size_t n_all) const {
        return n_votes == n_all || (variables_of_tree & variables) != 0;
    }
    void add(double share) { sum += share, ++n_voted; }
    // After all trees have been asked: the SDP. Before: the mean of those that have voted, -1 if there are none.
    double mean() const { return n_voted > 0 ? sum / n_voted : -1.0; }
    // The highest SDP that it can reach.
    double bound() const { return (sum + (n_votes - n_voted)) / n_votes; }
    bool can_reach(double sdp) const { return sum + (n_votes - n_voted) >= sdp * n_votes; }
};

// What candidates must reach to go on, and how far the others could have come.
template <class Set>
class Race {
  public:
    double needed = 0.0;  // an SDP

    void start(std::size_t n_variables) { bound_.assign(n_variables, -1.0); }
    void forget_bounds() { std::fill(bound_.begin(), bound_.end(), -1.0); }

    // The highest SDP that `base` and one more variable can reach; -1 if it is not known.
    double& bound_of(const Candidate<Set>& set, Set base) { return bound_[Members<Set>(set.variables & ~base)[0]]; }
    // Remembers the bound of a candidate that is dropped.
    void drop(const Candidate<Set>& set, Set base) {
        const Set added = set.variables & ~base;
        if (added != 0 && (added & (added - 1)) == 0) bound_of(set, base) = set.bound();
    }

  private:
    std::vector<double> bound_;  // by variable
};

// All sets of `size` of the variables, in ascending order of their masks if the variables are ascending.
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

// Whether `set` contains one of the first n sufficient sets.
template <class Set>
bool has_subset(const std::vector<ScoredSet>& sufficient, std::size_t n, Set set) {
    for (std::size_t i = 0; i < n; ++i)
        if ((static_cast<Set>(sufficient[i].variables) & ~set) == 0) return true;
    return false;
}

template <class Set>
std::size_t count_members(Set set) {
    int n = std::popcount(static_cast<std::uint64_t>(set));
    if constexpr (sizeof(Set) > 8) n += std::popcount(static_cast<std::uint64_t>(set >> 64));
    return static_cast<std::size_t>(n);
}

// The set of highest SDP in a chain, whose set of n variables is chain[n]. Among equals, the smallest wins.
inline ScoredSet best_of_chain(std::span<const ScoredSet> chain, std::size_t min_size) {
    if (min_size >= chain.size()) return {0, 0.0};
    ScoredSet best = chain[min_size];
    for (const ScoredSet& set : chain.subspan(min_size))
        if (set.sdp > best.sdp + kRounding) best = set;
    return best;
}

}  // namespace suffice
