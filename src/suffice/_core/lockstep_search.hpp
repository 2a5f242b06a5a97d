// The sufficient sets of many rows at once: the search of search.hpp, with all rows in step.
//
// All rows are searched size by size, and all their sets of one size go through the trees together, tree by tree, so
// that rows and sets share their walks (shared_walks.hpp). Every row has the answers that search.hpp gives it, to the
// bit: sums are those of the same shares in the order of the trees, and no row has an effect on another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "rounding.hpp"
#include "rows.hpp"
#include "searched_sets.hpp"
#include "shared_walks.hpp"
#include "squared_weights.hpp"

namespace suffice {

// How many rows are searched in step. Rows have few sets each, and their trees are not too small: in small trees, the
// shares that search.hpp keeps are faster.
struct LockstepPlan {
    std::size_t n_together = 1;  // 1: each row alone
    std::size_t least_rows = 0;  // for fewer rows, each row alone is faster

    // Measured alone and in step: on bank (150 splits a tree, 200 rows), on flights (1,480 splits, 300,000 training
    // rows, 20 trees; 200 rows in step take 0.9 of the time, 1,500 take 0.6), and on bike, whose outcomes are numbers
    // (1,000 rows are equally fast, 2,000 take 0.7). What a set costs is shared by the rows that have it: on the switch
    // model, in which rows choose 10 of 100 variables, nearly each row has sets of its own, and 5,000 take 1.2 times as
    // long.
    static constexpr std::size_t kMaxSets = 4096;  // of a row
    static constexpr std::size_t kSetsTogether = std::size_t{1} << 20;
    static constexpr std::size_t kMostRows = 4096;
    static constexpr std::size_t kManySplits = 64;    // of a tree
    static constexpr std::size_t kMostSplits = 8192;  // the splits below each of them take 16 MiB
    static constexpr std::size_t kFewOutcomes = 64;
    static constexpr std::size_t kLeastRows = 200, kLeastRowsOfNumbers = 2000;
    static constexpr double kRowsOfSet = 30.0;
    static constexpr std::size_t kUsualSize = 4;

    LockstepPlan(const Projection& projection, const SearchOptions& options) {
        const std::size_t n_variables = projection.n_variables;
        const std::size_t n = options.n_by_row == 0 ? n_variables : std::min(options.n_by_row, n_variables);
        const std::size_t largest = std::min(options.max_size, n_variables);
        if (options.min_size > largest || projection.trees.empty()) return;
        double n_sets = 0.0, n_of_size = 1.0, most_of_size = 0.0;
        for (std::size_t size = 0; size <= std::min(largest, n); ++size) {
            n_sets += n_of_size;
            most_of_size = std::max(most_of_size, n_of_size);
            n_of_size *= static_cast<double>(n - size) / static_cast<double>(size + 1);
        }
        if (n_sets > static_cast<double>(kMaxSets)) return;
        std::size_t n_splits = 0, most_splits = 0;
        bool has_bits = true;
        for (const CodedTree& tree : projection.trees) {
            n_splits += tree.nodes.size();
            most_splits = std::max(most_splits, tree.nodes.size());
            has_bits = has_bits && tree.has_bits();
        }
        if (n_splits < kManySplits * projection.trees.size() || most_splits > kMostSplits) return;
        // The ranks of numbers are gone through in every cell, of which large trees have large ones.
        const bool are_numbers = projection.forest->y_values.size() > kFewOutcomes;
        if (are_numbers && !has_bits) return;
        double share_of_rows = 1.0;  // that have a set of the usual size, if rows choose their variables at random
        for (std::size_t i = 0; i < std::min(kUsualSize, n); ++i)
            share_of_rows *= static_cast<double>(n - i) / static_cast<double>(n_variables - i);
        const double worth = kRowsOfSet / share_of_rows;
        const std::size_t n_of_row = static_cast<std::size_t>(most_of_size) + n_variables;
        const std::size_t most_rows = std::clamp<std::size_t>(kSetsTogether / n_of_row, 2, kMostRows);
        if (worth > static_cast<double>(most_rows)) return;
        n_together = most_rows;
        least_rows = std::max(are_numbers ? kLeastRowsOfNumbers : kLeastRows, static_cast<std::size_t>(worth));
    }
};

template <class Set>
class LockstepSearch {
  public:
    LockstepSearch(const Projection& projection, const SearchOptions& options)
        : options_(options),
          n_trees_(projection.trees.size()),
          n_first_(options.n_first_of(n_trees_)),
          tie_(kRounding * static_cast<double>(n_trees_)),
          every_(projection.n_variables),
          walks_(projection, options.min_node_size),
          squared_weights_(projection, options.min_node_size) {
        std::iota(every_.begin(), every_.end(), std::uint8_t{0});
    }

    // Writes the results of some of the rows: those of row i to results[i].
    void run(const Rows& rows, std::span<const std::uint32_t> chosen, SearchResult* results, const StopFlag& stop) {
        stop_ = &stop;
        all_rows_ = &rows;
        chosen_rows_ = chosen;
        results_ = results;
        walking_.set(rows, chosen);
        needed_.assign(chosen.size(), 0.0);
        of_row_.assign(chosen.size(), {});
        for (OfRow& row : of_row_) row.variables = every_, row.is_done = options_.min_size > last_size(row);
        sets_.clear();
        sums_.clear();
        find_sufficient();
        if (!is_stopped()) find_best();
        if (!is_stopped()) find_nearest();
        for (std::size_t i = 0; i < of_row_.size() && !is_stopped(); ++i) find_squares(i);
    }

  private:
    // A set of one row; sums_ has the sum of its shares over the first trees.
    struct Partial {
        Set variables;
        std::uint32_t row;
        std::uint32_t n_trees;
    };

    // A set that goes through the trees, and its place among the others of all rows.
    struct Living {
        Set variables;
        std::uint32_t row;
        std::uint32_t n_trees;
        std::uint32_t place;
    };

    // What is known about one row.
    struct OfRow {
        std::vector<std::uint8_t> variables;     // that sets are made of
        std::uint64_t n_seen = 0;                // how many sets have been searched
        bool is_chosen = false;                  // whether `variables` are those chosen at the row
        bool is_done = false;                    // whether its sufficient sets are known
        std::size_t n_searched = 0;              // the largest size of which all sets have been searched
        std::vector<ScoredSet> chain{{0, 0.0}};  // by size; the SDP of the empty set is known only where it is searched
        std::uint8_t likely = 0;                 // the one that is likely to be chosen next
    };

    // A variable that may be chosen next at a row, and the place of its set with those chosen before.
    struct Rival {
        std::uint8_t variable;
        std::uint32_t place;
    };

    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    SearchResult& result(std::size_t row) { return results_[chosen_rows_[row]]; }
    // The highest sum that a set can reach.
    double bound(std::size_t place) const {
        return sums_[place] + static_cast<double>(n_trees_ - sets_[place].n_trees);
    }
    bool has_all_trees(std::size_t place) const { return sets_[place].n_trees == n_trees_; }
    double sdp_at(std::size_t place) const { return sums_[place] / static_cast<double>(n_trees_); }
    void append(Set set, std::size_t row) {
        sets_.push_back({set, static_cast<std::uint32_t>(row), 0});
        sums_.push_back(0.0);
    }
    std::size_t last_size(const OfRow& row) const { return std::min(options_.max_size, row.variables.size()); }

    void find_sufficient() {
        const double needed = sum_to_reach(options_.pi, n_trees_);
        for (std::size_t size = options_.min_size; !is_stopped(); ++size) {
            if (size > 1) choose_variables(size);
            sets_.clear();
            sums_.clear();
            bool is_over = true;
            for (std::size_t i = 0; i < of_row_.size(); ++i) {
                if (of_row_[i].is_done) continue;
                is_over = false;
                needed_[i] = needed - kOrderRounding * static_cast<double>(n_trees_);
                append_sets(i, size);
            }
            if (is_over) return;
            take_all_places();
            go_through_trees(n_trees_);
            take_sufficient(needed);
            for (OfRow& row : of_row_) end_size(row, size);
        }
    }

    // Appends the sets of one size of a row that have no sufficient subset.
    void append_sets(std::size_t i, std::size_t size) {
        OfRow& row = of_row_[i];
        SearchResult& out = result(i);
        const std::size_t n_before = sets_.size();
        if (size <= last_size(row)) {
            for (SetsOfSize<Set> sets(row.variables, size); !sets.is_done(); sets.advance()) {
                out.is_complete = row.n_seen < options_.max_sets;
                if (!out.is_complete) break;
                ++row.n_seen;
                if (!has_subset(out.sufficient, out.sufficient.size(), sets.set())) append(sets.set(), i);
            }
        }
        if (out.is_complete) row.n_searched = size;
        // Without a new set of this size, every larger set has a sufficient subset as well.
        row.is_done = sets_.size() == n_before || !out.is_complete;
    }

    // Appends the sets of `places_` that are sufficient to those of their rows.
    void take_sufficient(double needed) {
        std::sort(places_.begin(), places_.end());
        for (std::size_t begin = 0, end; begin < places_.size() && !is_stopped(); begin = end) {
            const std::uint32_t row = sets_[places_[begin]].row;
            std::vector<ScoredSet>& sufficient = result(row).sufficient;
            const auto n_smaller = static_cast<std::ptrdiff_t>(sufficient.size());
            for (end = begin; end < places_.size() && sets_[places_[end]].row == row; ++end) {
                const std::uint32_t place = places_[end];
                if (sums_[place] >= needed && is_certain(place))
                    sufficient.push_back({sets_[place].variables, sdp_at(place)});
            }
            std::stable_sort(sufficient.begin() + n_smaller, sufficient.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
        }
    }

    // Whether the lower bound of a set reaches pi.
    bool is_certain(std::size_t place) {
        if (options_.least_sdp.empty()) return true;
        const double squares_of_set = squares(sets_[place].row, sets_[place].variables);
        return sums_[place] >= sum_to_reach(options_.least_sdp_of(squares_of_set), n_trees_);
    }

    void end_size(OfRow& row, std::size_t size) {
        const std::vector<ScoredSet>& sufficient = result(static_cast<std::size_t>(&row - of_row_.data())).sufficient;
        if (row.is_done) return;
        row.is_done = options_.minimal_only && !sufficient.empty();
        if (size == 1)  // a larger set with a variable that is sufficient alone need not be searched
            for (const ScoredSet& set : sufficient)
                std::erase_if(row.variables, [&](std::uint8_t v) { return set.variables == WideSet{1} << v; });
        row.is_done = row.is_done || size >= last_size(row);
    }

    // Sends the sets of `places_` through the first n trees, each from the tree on at which it stopped, as long as it
    // can reach the sum that its row needs. Those that do remain, ordered by set.
    void go_through_trees(std::size_t n) {
        list_living();
        for (std::size_t t = 0; !is_stopped(); ++t) {
            drop_and_list_walks(t, n);
            if (t == n || living_.empty()) break;
            walks_.add_shares(t, walking_, groups_, list_.data(), living_sums_.data(), *stop_);
        }
        places_.clear();
        for (std::size_t i = 0; i < living_.size(); ++i) {
            write_back(i);
            places_.push_back(living_[i].place);
        }
    }

    // Copies the sets of `places_`, so that those that remain stay side by side: every tree goes through all of them.
    void list_living() {
        living_.clear();
        for (const std::uint32_t place : places_)
            living_.push_back({sets_[place].variables, sets_[place].row, sets_[place].n_trees, place});
        std::sort(living_.begin(), living_.end(), [](const Living& a, const Living& b) {
            return a.variables != b.variables ? a.variables < b.variables : a.place < b.place;
        });
        living_sums_.resize(living_.size());
        for (std::size_t i = 0; i < living_.size(); ++i) living_sums_[i] = sums_[living_[i].place];
    }

    // Drops the sets that cannot reach what their rows need over the first n trees, and lists the walks of the others
    // that come to tree t next, by set.
    void drop_and_list_walks(std::size_t t, std::size_t n) {
        list_.clear();
        groups_.clear();
        std::uint32_t n_living = 0;
        for (std::size_t i = 0; i < living_.size(); ++i) {
            Living& set = living_[i];
            if (living_sums_[i] + static_cast<double>(n - set.n_trees) < needed_[set.row]) {
                write_back(i);
                continue;
            }
            if (set.n_trees == t && t < n) {
                const auto at = static_cast<std::uint32_t>(list_.size());
                if (groups_.empty() || groups_.back().set != set.variables) groups_.push_back({set.variables, at, at});
                ++groups_.back().end;
                list_.push_back({set.row, n_living});
                ++set.n_trees;
            }
            living_sums_[n_living] = living_sums_[i];
            living_[n_living++] = set;
        }
        living_.resize(n_living);
    }

    void write_back(std::size_t i) {
        sets_[living_[i].place].n_trees = living_[i].n_trees;
        sums_[living_[i].place] = living_sums_[i];
    }

    // Chooses the variables of the rows that need larger sets: those of their chains.
    void choose_variables(std::size_t size) {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            OfRow& row = of_row_[i];
            if (row.is_done || row.is_chosen) continue;
            row.is_chosen = true;
            if (options_.n_by_row == 0 || options_.n_by_row >= row.variables.size()) continue;
            rows.push_back(static_cast<std::uint32_t>(i));
        }
        extend_chains(rows, [&](std::uint32_t) { return options_.n_by_row; });
        for (const std::uint32_t i : rows)
            std::erase_if(of_row_[i].variables, [&](std::uint8_t v) { return !(last_of_chain(i) >> v & 1); });
        for (OfRow& row : of_row_) row.is_done = row.is_done || size > last_size(row);
    }

    // Adds variables to the chains of some rows, until the largest set of row i has n_of(i) of them: the next is the
    // one with which those before have the highest SDP. Among equals, the first in the projection is taken.
    template <class Size>
    void extend_chains(const std::vector<std::uint32_t>& rows, const Size& n_of) {
        choosing_ = rows;
        guess_first();
        while (!is_stopped()) {
            std::erase_if(choosing_, [&](std::uint32_t i) { return of_row_[i].chain.size() > n_of(i); });
            if (choosing_.empty()) return;
            choose_next();
        }
    }

    Set last_of_chain(std::size_t i) const { return static_cast<Set>(of_row_[i].chain.back().variables); }

    // Guesses the first variable of each row: the one with the highest bound when each was searched alone.
    void guess_first() {
        for (const std::uint32_t i : choosing_) of_row_[i].likely = of_row_[i].variables.front();
        std::vector<double> highest(of_row_.size(), -1.0);
        for (std::size_t place = 0; place < sets_.size(); ++place) {
            const Partial& set = sets_[place];
            OfRow& row = of_row_[set.row];
            if (count_members(set.variables) != 1 || bound(place) <= highest[set.row]) continue;
            const std::uint8_t v = Members<Set>(set.variables)[0];
            if (std::find(row.variables.begin(), row.variables.end(), v) == row.variables.end()) continue;
            highest[set.row] = bound(place);
            row.likely = v;
        }
    }

    // Adds one variable to those chosen at each row.
    void choose_next() {
        const std::size_t first = sets_.size();
        rivals_.resize(choosing_.size());
        places_.clear();
        for (std::size_t j = 0; j < choosing_.size(); ++j) {
            const std::uint32_t i = choosing_[j];
            rivals_[j].clear();
            needed_[i] = -std::numeric_limits<double>::infinity();
            for (const std::uint8_t v : of_row_[i].variables) {
                if (last_of_chain(i) >> v & 1) continue;
                rivals_[j].push_back({v, static_cast<std::uint32_t>(sets_.size())});
                append(last_of_chain(i) | Set{1} << v, i);
            }
        }
        if (n_first_ > 0) {
            places_.resize(sets_.size() - first);
            std::iota(places_.begin(), places_.end(), static_cast<std::uint32_t>(first));
            go_through_trees(n_first_);
            for (std::size_t j = 0; j < choosing_.size(); ++j) keep_finalists(of_row_[choosing_[j]], rivals_[j]);
        }
        // The likely ones are computed first: the others are dropped when they can no longer reach them.
        const auto add_places = [&](bool likely) {
            places_.clear();
            for (std::size_t j = 0; j < choosing_.size(); ++j)
                for (const Rival& rival : rivals_[j])
                    if ((rival.variable == of_row_[choosing_[j]].likely) == likely) places_.push_back(rival.place);
        };
        add_places(true);
        const std::vector<std::uint32_t> of_likely = places_;
        go_through_trees(n_trees_);
        for (std::size_t j = 0; j < choosing_.size(); ++j) needed_[choosing_[j]] = sums_[of_likely[j]] - 2 * tie_;
        add_places(false);
        go_through_trees(n_trees_);
        for (std::size_t j = 0; j < choosing_.size(); ++j) choose_at(of_row_[choosing_[j]], rivals_[j]);
        sets_.resize(first);
        sums_.resize(first);
    }

    // Keeps the rivals with the highest sums. The first of them is the likely one.
    void keep_finalists(OfRow& row, std::vector<Rival>& rivals) {
        const auto surest = [&] {
            std::size_t best = 0;
            for (std::size_t r = 1; r < rivals.size(); ++r)
                if (sums_[rivals[r].place] > sums_[rivals[best].place] + tie_) best = r;
            return best;
        };
        std::vector<Rival> finalists;
        while (finalists.size() < kFinalists && !rivals.empty()) {
            const std::size_t best = surest();
            if (finalists.empty()) row.likely = rivals[best].variable;
            finalists.push_back(rivals[best]);
            rivals.erase(rivals.begin() + static_cast<std::ptrdiff_t>(best));
        }
        std::sort(finalists.begin(), finalists.end(),
                  [](const Rival& a, const Rival& b) { return a.variable < b.variable; });
        rivals = std::move(finalists);
    }

    // Chooses among the rivals of a row, and guesses the one to be chosen next.
    void choose_at(OfRow& row, const std::vector<Rival>& rivals) {
        double best_sum = -1.0, second_sum = -1.0;
        std::uint8_t best = row.likely, second = row.likely;
        for (const Rival& rival : rivals) {
            if (has_all_trees(rival.place) && sums_[rival.place] > best_sum + tie_) {
                second = best;
                second_sum = best_sum;
                best_sum = sums_[rival.place];
                best = rival.variable;
            } else if (bound(rival.place) > second_sum) {
                second_sum = bound(rival.place);
                second = rival.variable;
            }
        }
        const Set chosen = static_cast<Set>(row.chain.back().variables) | Set{1} << best;
        row.chain.push_back({chosen, best_sum / static_cast<double>(n_trees_)});
        if (second == best)
            for (const std::uint8_t v : row.variables)
                if (!(chosen >> v & 1)) second = v;
        row.likely = second;
    }

    // The best set of every row: the first sufficient one; if there is none, the best of the row's chain.
    void find_best() {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            SearchResult& out = result(i);
            if (!out.sufficient.empty())
                out.best = out.sufficient.front();
            else if (options_.needs_nearest)
                rows.push_back(static_cast<std::uint32_t>(i));
        }
        const auto longest = [&](std::uint32_t i) {
            return options_.longest_chain(of_row_[i].n_searched, of_row_[i].variables.size());
        };
        extend_chains(rows, longest);
        if (options_.min_size == 0) sum_empty_sets(rows);
        for (const std::uint32_t i : rows) {
            const std::span<const ScoredSet> chain = of_row_[i].chain;
            result(i).best = best_of_chain(chain.first(std::min(chain.size(), longest(i) + 1)), options_.min_size);
        }
    }

    void sum_empty_sets(const std::vector<std::uint32_t>& rows) {
        sets_.clear();
        sums_.clear();
        for (const std::uint32_t i : rows) {
            needed_[i] = -std::numeric_limits<double>::infinity();
            append(0, i);
        }
        take_all_places();
        go_through_trees(n_trees_);
        for (std::size_t j = 0; j < rows.size(); ++j) of_row_[rows[j]].chain.front().sdp = sdp_at(j);
    }

    // What is left of the best set of a row if variables are taken out as long as it keeps nearly all of its SDP.
    void find_nearest() {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            SearchResult& out = result(i);
            out.nearly = out.best;
            if (!needs_nearer(out) || (out.sufficient.empty() && !options_.needs_nearest)) continue;
            needed_[i] = sum_to_reach(kNearly * out.best.sdp, n_trees_);
            rows.push_back(static_cast<std::uint32_t>(i));
        }
        while (!rows.empty() && !is_stopped()) {
            sets_.clear();
            sums_.clear();
            for (const std::uint32_t i : rows) {
                const Set whole = static_cast<Set>(result(i).nearly.variables);
                const Members<Set> members(whole);
                if (members.size() <= options_.min_size) continue;
                for (std::size_t j = 0; j < members.size(); ++j) append(whole & ~(Set{1} << members[j]), i);
            }
            take_all_places();
            go_through_trees(n_trees_);
            if (is_stopped()) return;
            std::sort(places_.begin(), places_.end());
            rows.clear();
            double highest = -1.0;
            for (const std::uint32_t place : places_) {
                const std::uint32_t i = sets_[place].row;
                if (rows.empty() || rows.back() != i) {
                    rows.push_back(i);
                    highest = -1.0;
                }
                if (sums_[place] <= highest + tie_) continue;
                highest = sums_[place];
                result(i).nearly = {sets_[place].variables, sdp_at(place)};
            }
        }
    }

    void find_squares(std::size_t i) {
        SearchResult& out = result(i);
        if (out.sufficient.empty() && !options_.needs_nearest) return;
        out.best_squares = squares(i, static_cast<Set>(out.best.variables));
        out.nearly_squares = out.nearly.variables == out.best.variables
                                 ? out.best_squares
                                 : squares(i, static_cast<Set>(out.nearly.variables));
    }

    void take_all_places() {
        places_.resize(sets_.size());
        std::iota(places_.begin(), places_.end(), 0u);
    }

    double squares(std::size_t i, Set set) { return squared_weights_.find(all_rows_->row(chosen_rows_[i]), set); }

    SearchOptions options_;
    std::size_t n_trees_;
    std::size_t n_first_;              // over how many all variables of a row are compared; 0: over all
    double tie_;                       // sums that differ by less are equal
    std::vector<std::uint8_t> every_;  // all variables
    SharedWalks<Set> walks_;
    SquaredWeights<Set> squared_weights_;
    const StopFlag* stop_ = nullptr;
    const Rows* all_rows_ = nullptr;
    std::span<const std::uint32_t> chosen_rows_;
    SearchResult* results_ = nullptr;
    WalkingRows walking_;
    std::vector<OfRow> of_row_;
    std::vector<double> needed_;              // by row: what a set must be able to reach to go on
    std::vector<Partial> sets_;               // of one size, by row
    std::vector<double> sums_;                // by set
    std::vector<std::uint32_t> places_;       // the sets that go through the trees
    std::vector<Living> living_;              // those of them that remain, by set
    std::vector<double> living_sums_;         // of their shares
    std::vector<std::uint32_t> choosing_;     // rows whose variables are chosen
    std::vector<std::vector<Rival>> rivals_;  // of each of them
    std::vector<SharedWalk> list_;
    std::vector<WalksOfSet<Set>> groups_;
};

}  // namespace suffice
