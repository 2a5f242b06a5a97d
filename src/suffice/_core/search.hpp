// The sufficient sets of rows: the sets of candidates are searched by size, and a set is dropped as soon as it can no
// longer reach pi.
//
// The search is the same for a row alone and for rows batched. It decides which sets are looked at and what their sums
// mean; an executor adds up the shares of sets, tree by tree: RowAlone (row_alone.hpp) those of one row, RowsBatched
// (rows_batched.hpp) those of many rows together. An executor has these members; a row is a number in [0, n):
//
//     set_rows(rows, numbers, stop)         from here on, row i is numbers[i] of `rows`
//     count_votes(set)                   how many trees vote on the set
//     keep_reaching(candidates, race)    adds the shares of all trees that vote, and erases the candidates that cannot
//                                        reach what `race` needs; the sums of the others are exact
//     keep_highest(candidates, race)     the same, but of each row only the candidates with the highest SDP must remain
//     compare(candidates, n, race)       the same over the first n trees, for candidates that add one variable to the
//                                        chain of their row; sums need not be exact
//     start_chains(candidates, n_first)  exact sums of the empty sets with which chains begin
//     extend_chain(candidate)            makes the candidate the last set of the chain, and returns its exact sum
//     begin_larger(variables)            before the sets of two and more, and before their variables are chosen
//     end_choice(variables)              after their variables were chosen
//     number_first(variables)            may number these variables first; returns the new numbers, or nothing
//     named(set)                         the set in the numbers of the projection
//     squared_weights(row, set)          the sum of the squared weights behind the SDP of the set
//
// A sum is exact if its shares are added in the order of the trees, since its last bit depends on the order. All
// results are the same bits with both executors, and no row has an effect on another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "parallel.hpp"
#include "projection.hpp"
#include "rows.hpp"
#include "search_space.hpp"
#include "thresholds.hpp"

namespace suffice {

template <class Set, class Executor>
class Search {
  public:
    Search(const Projection& projection, const SearchOptions& options)
        : options_(options),
          projection_(projection),
          n_trees_(projection.trees.size()),
          every_(projection.n_variables),
          executor_(projection, options.min_node_size) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    // Searches from here on with other options. Returns false if that takes another Search.
    bool set_options(const SearchOptions& options) {
        if (options.min_node_size != options_.min_node_size) return false;
        options_ = options;
        return true;
    }

    // Fills in the results of some of the rows, those of row i in results[i], which are empty before.
    void run(const Rows& rows, std::span<const std::uint32_t> numbers, SearchResult* results, const StopFlag& stop) {
        stop_ = &stop;
        all_rows_ = &rows;
        numbers_ = numbers;
        results_ = results;
        executor_.set_rows(rows, numbers, stop);
        race_.start(numbers.size(), every_.size());
        if (rows_.size() < numbers.size()) rows_.resize(numbers.size());
        for (std::size_t i = 0; i < n_rows(); ++i) {
            rows_[i].start(every_);
            rows_[i].is_done = options_.min_size > last_size(rows_[i]);
        }
        find_sufficient();
        if (!is_stopped()) find_best();
        for (std::size_t i = 0; i < n_rows() && !is_stopped(); ++i) finish(i);
    }

  private:
    // How many sets of a row go through the trees together, so that the rows of a tree stay in the cache for all of
    // them. Not tuned.
    static constexpr std::size_t kChunk = 4096;

    // What is known about one row.
    struct RowState {
        std::vector<std::uint8_t> variables;  // that sets are made of
        std::vector<ScoredSet> chain;         // by size, from the empty set on; empty if it is not known
        std::uint64_t n_seen = 0;             // how many sets have been searched
        std::size_t n_searched = 0;           // the largest size of which all sets have been searched
        std::size_t n_smaller = 0;            // how many sufficient sets are smaller than the present size
        bool has_new_sets = false;            // whether a set of the present size has no sufficient subset
        bool is_done = false;                 // whether its sufficient sets are known

        // Starts anew, and keeps the memory.
        void start(const std::vector<std::uint8_t>& every) {
            variables = every;
            chain.clear();
            n_seen = n_searched = 0;
        }
    };

    // The sets of the present size of a row that are still to be looked at.
    struct SetsOfRow {
        std::uint32_t row;
        SetsOfSize<Set> sets;
        bool is_over = false;
    };

    std::size_t n_rows() const { return numbers_.size(); }
    SearchResult& result(std::size_t i) { return results_[numbers_[i]]; }
    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    std::size_t last_size(const RowState& row) const { return std::min(options_.max_size, row.variables.size()); }
    Candidate<Set> candidate(Set set, std::uint32_t row) {
        return {set, row, static_cast<std::uint32_t>(executor_.count_votes(set))};
    }

    void find_sufficient() {
        bool is_chosen = false;
        for (std::size_t size = options_.min_size; !is_stopped(); ++size) {
            if (size > 1 && !is_chosen) {  // where one variable is sufficient, the choice may not be needed
                choose_variables(size);
                is_chosen = true;
            }
            if (is_stopped() || !search_size(size)) return;
        }
    }

    // Appends the sufficient sets of one size. Returns false if no row needs a set of this size.
    bool search_size(std::size_t size) {
        open_.clear();
        for (std::uint32_t i = 0; i < n_rows(); ++i) {
            RowState& row = rows_[i];
            if (row.is_done) continue;
            race_.needed[i] = options_.pi - kRounding - kOrderRounding;
            row.n_smaller = result(i).sufficient.size();
            row.has_new_sets = false;
            open_.push_back({i, SetsOfSize<Set>(row.variables, size)});
        }
        if (open_.empty()) return false;
        while (!open_.empty() && !is_stopped()) {
            candidates_.clear();
            for (SetsOfRow& sets : open_) append_candidates(sets);
            executor_.keep_reaching(candidates_, race_);
            if (is_stopped()) return false;
            for (const Candidate<Set>& set : candidates_)
                if (set.sum >= sum_to_reach(options_.pi, set.n_votes) && is_certain(set))
                    result(set.row).sufficient.push_back({set.variables, set.mean()});
                else
                    race_.drop(set);
            std::erase_if(open_, [](const SetsOfRow& sets) { return sets.is_over; });
        }
        for (std::size_t i = 0; i < n_rows(); ++i)
            if (!rows_[i].is_done) end_size(i, size);
        return true;
    }

    // Appends the next sets of a row that have no sufficient subset.
    void append_candidates(SetsOfRow& of_row) {
        RowState& row = rows_[of_row.row];
        SearchResult& out = result(of_row.row);
        const std::size_t n_before = candidates_.size();
        SetsOfSize<Set> sets = std::move(of_row.sets);  // a local variable can stay in registers
        for (; !sets.is_done() && candidates_.size() < n_before + kChunk; sets.advance()) {
            out.is_complete = row.n_seen < options_.max_sets;
            if (!out.is_complete) break;
            ++row.n_seen;
            if (!has_subset(out.sufficient, row.n_smaller, sets.set()))
                candidates_.push_back(candidate(sets.set(), of_row.row));
        }
        row.has_new_sets |= candidates_.size() > n_before;
        of_row.is_over = sets.is_done() || !out.is_complete;
        of_row.sets = std::move(sets);
    }

    // Whether the lower bound of a set reaches pi.
    bool is_certain(const Candidate<Set>& set) {
        if (options_.least_sdp.empty()) return true;
        const double squares = executor_.squared_weights(set.row, set.variables);
        return set.sum >= sum_to_reach(options_.least_sdp_of(squares), set.n_votes);
    }

    void end_size(std::size_t i, std::size_t size) {
        RowState& row = rows_[i];
        std::vector<ScoredSet>& sufficient = result(i).sufficient;
        if (result(i).is_complete) row.n_searched = size;
        std::stable_sort(sufficient.begin() + static_cast<std::ptrdiff_t>(row.n_smaller), sufficient.end(),
                         [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
        // Without a new set of this size, every larger set has a sufficient subset as well.
        row.is_done = !row.has_new_sets || !result(i).is_complete || (options_.minimal_only && !sufficient.empty());
        if (row.is_done) return;
        if (size == 1)  // a larger set with a variable that is sufficient alone need not be searched
            for (const ScoredSet& set : sufficient)
                std::erase_if(row.variables, [&](std::uint8_t v) { return set.variables == WideSet{1} << v; });
        row.is_done = size >= last_size(row);
    }

    // Chooses the variables of sets of two and more, for rows that need such sets: those of their chains.
    void choose_variables(std::size_t size) {
        choosing_.clear();
        for (std::uint32_t i = 0; i < n_rows(); ++i) {
            if (rows_[i].is_done) continue;
            executor_.begin_larger(rows_[i].variables);
            if (options_.n_by_row != 0 && options_.n_by_row < rows_[i].variables.size()) choosing_.push_back(i);
        }
        const std::vector<std::uint32_t> chosen = choosing_;
        make_chains([&](std::uint32_t) { return options_.n_by_row - options_.n_by_paths; });
        if (is_stopped()) return;
        for (const std::uint32_t i : chosen) keep_chosen(i);
        for (std::size_t i = 0; i < n_rows(); ++i) {
            if (!rows_[i].is_done) executor_.end_choice(rows_[i].variables);
            rows_[i].is_done |= size > last_size(rows_[i]);
        }
    }

    // Adds the variables whose splits gain most on the paths of a row, among equals the first.
    Set add_by_paths(Set chosen, std::uint32_t i) {
        gain_.assign(every_.size(), 0.0);
        for (const Tree& tree : projection_.forest->trees) {
            const float* const x = all_rows_->row(numbers_[i]);
            for (std::size_t at = 0; !tree.nodes[at].is_leaf(); at = tree.child_at(at, x)) {
                const std::int32_t v = projection_.variable_of[static_cast<std::size_t>(tree.nodes[at].column)];
                if (v != kNoVariable) gain_[static_cast<std::size_t>(v)] += tree.gain[at];
            }
        }
        for (std::size_t n = 0; n < options_.n_by_paths; ++n) {
            std::size_t best = every_.size();
            for (const std::uint8_t v : rows_[i].variables)
                if (!(chosen >> v & 1) && (best == every_.size() || gain_[v] > gain_[best])) best = v;
            if (best < every_.size()) chosen |= Set{1} << best;
        }
        return chosen;
    }

    // Keeps the chosen variables of a row. If the executor numbers them anew, the sets so far follow.
    void keep_chosen(std::uint32_t i) {
        RowState& row = rows_[i];
        const Set chosen = add_by_paths(race_.base[i], i);
        std::erase_if(row.variables, [&](std::uint8_t v) { return !(chosen >> v & 1); });
        const std::vector<std::uint8_t> number = executor_.number_first(row.variables);
        if (number.empty()) return;
        const auto renumber = [&](ScoredSet& set) {
            const Members<Set> members(static_cast<Set>(set.variables));
            set.variables = 0;
            for (const std::uint8_t v : members) set.variables |= WideSet{1} << number[v];
        };
        for (ScoredSet& set : row.chain) renumber(set);
        for (ScoredSet& set : result(i).sufficient) renumber(set);
        std::iota(row.variables.begin(), row.variables.end(), std::uint8_t{0});
    }

    // Makes the chains of the rows `choosing_`, for row i up to a set of n_of(i) variables: they are added one after
    // the other, and the next is the one with which those before have the highest SDP. Among equals, the first is
    // taken.
    template <class Size>
    void make_chains(const Size& n_of) {
        candidates_.clear();
        for (const std::uint32_t i : choosing_) candidates_.push_back(candidate(0, i));
        if (candidates_.empty()) return;
        race_.need_nothing();
        executor_.start_chains(candidates_, options_.n_first_of(n_trees_));
        for (const Candidate<Set>& empty : candidates_) rows_[empty.row].chain.push_back({0, empty.mean()});
        while (!is_stopped()) {
            std::erase_if(choosing_, [&](std::uint32_t i) { return rows_[i].chain.size() > n_of(i); });
            if (choosing_.empty()) return;
            choose_next();
        }
    }

    // Adds one variable to the chain of each row of `choosing_`.
    void choose_next() {
        candidates_.clear();
        race_.need_nothing();
        for (const std::uint32_t i : choosing_)
            for (const std::uint8_t v : rows_[i].variables)
                if (!(race_.base[i] >> v & 1)) candidates_.push_back(candidate(race_.base[i] | Set{1} << v, i));
        if (const std::size_t n_first = options_.n_first_of(n_trees_); n_first > 0) {
            executor_.compare(candidates_, n_first, race_);
            for_each_row_of_candidates([&](auto begin, auto end) { return keep_finalists(begin, end); });
        }
        // The most likely ones are computed first: the others are dropped when they can no longer reach them.
        likely_.clear();
        for_each_row_of_candidates([&](auto begin, auto end) {
            const auto likely = std::max_element(begin, end, [&](const Candidate<Set>& a, const Candidate<Set>& b) {
                return race_.bound_of(a) < race_.bound_of(b);
            });
            likely_.push_back(*likely);
            return std::move(likely + 1, end, likely);
        });
        executor_.keep_highest(likely_, race_);
        if (is_stopped()) return;
        race_.forget_bounds();
        for (const Candidate<Set>& likely : likely_) race_.needed[likely.row] = likely.mean() - 2 * kRounding;
        executor_.compare(candidates_, n_trees_, race_);
        if (is_stopped()) return;
        candidates_.insert(candidates_.end(), likely_.begin(), likely_.end());
        std::sort(candidates_.begin(), candidates_.end(), [](const Candidate<Set>& a, const Candidate<Set>& b) {
            return a.row != b.row ? a.row < b.row : a.variables < b.variables;
        });
        for_each_row_of_candidates([&](auto begin, auto end) {
            for (auto set = begin; set != end; ++set) race_.drop(*set);  // their SDPs, for the next guess
            const auto best = highest(begin, end);
            const double sum = executor_.extend_chain(*best);
            race_.base[best->row] = best->variables;
            rows_[best->row].chain.push_back({best->variables, sum / best->n_votes});
            return end;
        });
    }

    // Calls keep(begin, end) for the candidates of each row, which returns the end of those that remain.
    template <class Keep>
    void for_each_row_of_candidates(const Keep& keep) {
        auto out = candidates_.begin();
        for (auto begin = candidates_.begin(), end = begin; begin != candidates_.end(); begin = end) {
            end = std::find_if(begin, candidates_.end(), [&](const auto& set) { return set.row != begin->row; });
            const auto kept = keep(begin, end);
            out = out == begin ? kept : std::move(begin, kept, out);
        }
        candidates_.erase(out, candidates_.end());
    }

    // The first candidate whose SDP no other exceeds.
    template <class Iterator>
    Iterator highest(Iterator begin, Iterator end) const {
        Iterator best = begin;
        for (Iterator set = begin; set != end; ++set)
            if (set->mean() > best->mean() + kRounding) best = set;
        return best;
    }

    // Keeps the rivals of a row with the highest SDPs, in their order. The first of them is the most likely one.
    template <class Iterator>
    Iterator keep_finalists(Iterator begin, Iterator end) {
        const Iterator most_likely = highest(begin, end);
        race_.bound_of(*most_likely) = std::numeric_limits<double>::infinity();
        Set finalists = 0;
        rivals_.assign(begin, end);
        for (std::size_t n = 0; n < kFinalists && !rivals_.empty(); ++n) {
            const auto best = highest(rivals_.begin(), rivals_.end());
            finalists |= best->variables & ~race_.base[best->row];
            rivals_.erase(best);
        }
        return std::remove_if(begin, end, [&](const Candidate<Set>& set) { return !(set.variables & finalists); });
    }

    // The best set of every row: the first sufficient one; if there is none, the best of the row's chain.
    void find_best() {
        choosing_.clear();
        for (std::uint32_t i = 0; i < n_rows(); ++i) {
            if (!result(i).sufficient.empty())
                result(i).best = result(i).sufficient.front();
            else if (options_.needs_best && rows_[i].chain.empty())
                choosing_.push_back(i);
        }
        const auto longest = [&](std::uint32_t i) {
            return options_.longest_chain(rows_[i].n_searched, rows_[i].variables.size());
        };
        make_chains(longest);
        for (std::uint32_t i = 0; i < n_rows() && !is_stopped(); ++i) {
            if (!result(i).sufficient.empty() || !options_.needs_best) continue;
            const std::span<const ScoredSet> chain = rows_[i].chain;
            result(i).best = best_of_chain(chain.first(std::min(chain.size(), longest(i) + 1)), options_.min_size);
        }
    }

    // Names the variables of all sets.
    void finish(std::size_t i) {
        SearchResult& out = result(i);
        if (!has_best(out)) return;
        for (ScoredSet& set : out.sufficient) set.variables = executor_.named(static_cast<Set>(set.variables));
        out.best.variables = executor_.named(static_cast<Set>(out.best.variables));
    }

    bool has_best(const SearchResult& out) const { return !out.sufficient.empty() || options_.needs_best; }

    SearchOptions options_;
    const Projection& projection_;
    std::size_t n_trees_;
    std::vector<std::uint8_t> every_;  // all variables
    Executor executor_;
    const StopFlag* stop_ = nullptr;
    const Rows* all_rows_ = nullptr;
    std::span<const std::uint32_t> numbers_;
    SearchResult* results_ = nullptr;
    std::vector<RowState> rows_;
    Race<Set> race_;
    std::vector<SetsOfRow> open_;
    std::vector<Candidate<Set>> candidates_;       // by row
    std::vector<Candidate<Set>> likely_, rivals_;  // see choose_next
    std::vector<std::uint32_t> choosing_;          // rows whose chains are made
    std::vector<double> gain_;                     // by variable: see add_by_paths
};

}  // namespace suffice
