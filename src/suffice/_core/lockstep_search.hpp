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

    // Measured on tables of 600 to 5,000 training rows, whose trees store bits. The least number of rows for larger
    // trees is an estimate: with 300,000 training rows, 60 rows in step took longer than 6 others alone.
    // The splits of a tree are gone through once for each set, so that enough rows must have the set: on bank, 200 rows
    // of which 15 % have a set of four, with 150 splits, are as fast in step as alone. On flights, with 1,480 splits
    // and sets that 7 % of the rows have, counted on 10,000 of them, 400 rows in step took three times as long as 199
    // alone.
    static constexpr std::size_t kMaxSets = 4096;  // of a row
    static constexpr std::size_t kSetsTogether = std::size_t{1} << 20;
    static constexpr std::size_t kMostRows = 4096;
    static constexpr std::size_t kManySplits = 64;  // of a tree
    static constexpr std::size_t kFewOutcomes = 64;
    static constexpr std::size_t kLeastRows = 200, kLeastRowsOfLargeTrees = 1000;
    static constexpr double kSplitsOfRow = 5.0;  // of a tree, for each row that has a set
    static constexpr std::size_t kUsualSize = 4;

    LockstepPlan(const Projection& projection, const SearchOptions& options) {
        const std::size_t n_variables = projection.n_variables;
        const std::size_t n = options.n_by_row == 0 ? n_variables : std::min(options.n_by_row, n_variables);
        const std::size_t largest = std::min(options.max_size, n_variables);
        if (options.min_size > largest || projection.trees.empty()) return;
        double n_sets = 0.0, n_of_size = 1.0;
        for (std::size_t size = 0; size <= std::min(largest, n); ++size) {
            n_sets += n_of_size;
            n_of_size *= static_cast<double>(n - size) / static_cast<double>(size + 1);
        }
        if (n_sets > static_cast<double>(kMaxSets)) return;
        std::size_t n_splits = 0;
        bool has_bits = true;
        for (const CodedTree& tree : projection.trees) {
            n_splits += tree.nodes.size();
            has_bits = has_bits && tree.has_bits();
        }
        if (n_splits < kManySplits * projection.trees.size()) return;
        // Ranks of many outcomes are sorted in every cell: numbers took three times as long in step as each row alone.
        if (projection.forest->y_values.size() > kFewOutcomes) return;
        const std::size_t n_of_row = static_cast<std::size_t>(n_sets) + n_variables;
        n_together = std::clamp<std::size_t>(kSetsTogether / n_of_row, 2, kMostRows);
        least_rows = has_bits ? kLeastRows : kLeastRowsOfLargeTrees;
        double share_of_rows = 1.0;  // that have a set of the usual size, if rows choose their variables at random
        for (std::size_t i = 0; i < std::min(kUsualSize, n); ++i)
            share_of_rows *= static_cast<double>(n - i) / static_cast<double>(n_variables - i);
        const double mean_splits = static_cast<double>(n_splits) / static_cast<double>(projection.trees.size());
        const double worth = mean_splits / (kSplitsOfRow * share_of_rows);
        if (worth > static_cast<double>(n_together))
            n_together = 1;
        else
            least_rows = std::max(least_rows, static_cast<std::size_t>(worth));
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
        find_best();
        find_near();
        for (std::size_t i = 0; i < of_row_.size() && !is_stopped(); ++i) find_squares(i);
    }

  private:
    // A set of one row; sums_ has the sum of its shares over the first trees.
    struct Partial {
        Set variables;
        std::uint32_t row;
        std::uint32_t n_trees;
    };

    // What is known about one row.
    struct OfRow {
        std::vector<std::uint8_t> variables;  // that sets are made of
        std::uint64_t n_seen = 0;             // how many sets have been searched
        bool is_chosen = false;               // whether `variables` are those chosen at the row
        bool is_done = false;                 // whether its sufficient sets are known
        Set chosen = 0;                       // variables chosen so far
        std::uint8_t likely = 0;              // the one that is likely to be chosen next
    };

    // A variable that may be chosen next at a row, and the place of its set with those chosen before.
    struct Rival {
        std::uint8_t variable;
        std::uint32_t place;
    };

    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }
    SearchResult& result(std::size_t row) { return results_[chosen_rows_[row]]; }
    // The highest sum over the first n trees that a set can reach.
    double bound(std::size_t place, std::size_t n) const {
        return sums_[place] + static_cast<double>(n - sets_[place].n_trees);
    }
    double bound(std::size_t place) const { return bound(place, n_trees_); }
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
            const std::size_t first = sets_.size();
            bool is_over = true;
            for (std::size_t i = 0; i < of_row_.size(); ++i) {
                if (of_row_[i].is_done) continue;
                is_over = false;
                needed_[i] = needed - kOrderRounding * static_cast<double>(n_trees_);
                append_sets(i, size);
            }
            if (is_over) return;
            places_.resize(sets_.size() - first);
            std::iota(places_.begin(), places_.end(), static_cast<std::uint32_t>(first));
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
    // can reach the sum that its row needs. Those that do remain.
    void go_through_trees(std::size_t n) {
        std::sort(places_.begin(), places_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return sets_[a].variables != sets_[b].variables ? sets_[a].variables < sets_[b].variables : a < b;
        });
        for (std::size_t t = 0; t <= n && !is_stopped(); ++t) {
            std::erase_if(places_, [&](std::uint32_t place) { return bound(place, n) < needed_[sets_[place].row]; });
            if (t == n || places_.empty()) break;
            list_walks(t);
            walks_.add_shares(t, walking_, groups_, list_.data(), sums_.data(), *stop_);
            for (const SharedWalk& walk : list_) ++sets_[walk.place].n_trees;
        }
    }

    // Lists the walks of the sets of `places_` that have the first t trees, and their groups by set.
    void list_walks(std::size_t t) {
        list_.clear();
        groups_.clear();
        for (const std::uint32_t place : places_) {
            const Partial& set = sets_[place];
            if (set.n_trees != t) continue;
            const auto at = static_cast<std::uint32_t>(list_.size());
            if (groups_.empty() || groups_.back().set != set.variables) groups_.push_back({set.variables, at, at});
            ++groups_.back().end;
            list_.push_back({set.row, place});
        }
    }

    // Chooses the variables of the rows that need larger sets: one after the other, the next is the one with which
    // those before have the highest SDP. Among equals, the first in the projection is chosen.
    void choose_variables(std::size_t size) {
        choosing_.clear();
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            OfRow& row = of_row_[i];
            if (row.is_done || row.is_chosen) continue;
            row.is_chosen = true;
            if (options_.n_by_row == 0 || options_.n_by_row >= row.variables.size()) continue;
            choosing_.push_back(static_cast<std::uint32_t>(i));
        }
        guess_first();
        for (std::size_t n = 0; n < options_.n_by_row && !choosing_.empty() && !is_stopped(); ++n) choose_next();
        for (const std::uint32_t i : choosing_)
            std::erase_if(of_row_[i].variables, [&](std::uint8_t v) { return !(of_row_[i].chosen >> v & 1); });
        for (OfRow& row : of_row_) row.is_done = row.is_done || size > last_size(row);
    }

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
                if (of_row_[i].chosen >> v & 1) continue;
                rivals_[j].push_back({v, static_cast<std::uint32_t>(sets_.size())});
                append(of_row_[i].chosen | Set{1} << v, i);
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
        row.chosen |= Set{1} << best;
        if (second == best)
            for (const std::uint8_t v : row.variables)
                if (!(row.chosen >> v & 1)) second = v;
        row.likely = second;
    }

    // Whether a set comes first among sets with the same SDP: the smaller one, then the first.
    static bool comes_before(Set a, Set b) {
        const std::size_t n_a = count_members(a), n_b = count_members(b);
        return n_a != n_b ? n_a < n_b : a < b;
    }

    // The best set of every row: the first sufficient one; if there is none, the set of highest SDP.
    void find_best() {
        by_row_.assign(of_row_.size() + 1, 0);  // the sets of row i begin at by_row_[i] in ordered_
        for (const Partial& set : sets_) ++by_row_[set.row + 1];
        std::partial_sum(by_row_.begin(), by_row_.end(), by_row_.begin());
        ordered_.resize(sets_.size());
        std::vector<std::size_t> next(by_row_.begin(), by_row_.end() - 1);
        for (std::size_t place = 0; place < sets_.size(); ++place)
            ordered_[next[sets_[place].row]++] = static_cast<std::uint32_t>(place);
        std::vector<std::uint32_t> without;
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            SearchResult& out = result(i);
            if (!out.sufficient.empty())
                out.best = out.nearly = out.sufficient.front();
            else if (options_.needs_nearest && by_row_[i] < by_row_[i + 1])
                without.push_back(static_cast<std::uint32_t>(i));
        }
        // The sets with the highest bounds are good guesses: they are completed first, so that others are dropped.
        places_.clear();
        for (const std::uint32_t i : without) {
            needed_[i] = -std::numeric_limits<double>::infinity();
            const std::span<std::uint32_t> own = places_of(i);
            const std::size_t n_first = std::min(kFirstGuesses, own.size());
            std::partial_sort(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n_first), own.end(),
                              [&](std::uint32_t a, std::uint32_t b) {
                                  const double bound_a = bound(a), bound_b = bound(b);
                                  return bound_a != bound_b ? bound_a > bound_b : a < b;
                              });
            places_.insert(places_.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n_first));
        }
        go_through_trees(n_trees_);
        places_.clear();
        for (const std::uint32_t i : without) {
            needed_[i] = highest_sum(i) - tie_;
            const std::span<std::uint32_t> own = places_of(i);
            places_.insert(places_.end(), own.begin(), own.end());
        }
        go_through_trees(n_trees_);
        if (is_stopped()) return;
        for (const std::uint32_t i : without) {
            const double enough = highest_sum(i) - tie_;
            result(i).best = first_with(i, enough, [](Set) { return true; });
        }
    }

    std::span<std::uint32_t> places_of(std::size_t i) {
        return std::span(ordered_).subspan(by_row_[i], by_row_[i + 1] - by_row_[i]);
    }

    // The highest sum among the sets of a row that have all trees.
    double highest_sum(std::size_t i) {
        double highest = -1.0;
        for (const std::uint32_t place : places_of(i))
            if (has_all_trees(place)) highest = std::max(highest, sums_[place]);
        return highest;
    }

    // The first of the sets of a row with all trees and at least this sum, among those for which `test` holds.
    template <class Test>
    ScoredSet first_with(std::size_t i, double sum, const Test& test) {
        ScoredSet first{0, -1.0};
        for (const std::uint32_t place : places_of(i)) {
            const Set set = sets_[place].variables;
            if (!has_all_trees(place) || sums_[place] < sum || !test(set)) continue;
            if (first.sdp < 0.0 || comes_before(set, static_cast<Set>(first.variables))) first = {set, sdp_at(place)};
        }
        return first;
    }

    // The smallest set of every row that comes near its best one; among sets of one size, that of the highest SDP.
    void find_near() {
        std::vector<std::uint32_t> rows;
        std::size_t largest = 0;
        for (std::size_t i = 0; i < of_row_.size(); ++i) {
            SearchResult& out = result(i);
            out.nearly = out.best;
            const std::size_t size = count_members(static_cast<Set>(out.best.variables));
            if (out.sufficient.empty() ? !options_.needs_nearest : size <= kMany) continue;
            needed_[i] = sum_to_reach(kNearly * out.best.sdp, n_trees_);
            rows.push_back(static_cast<std::uint32_t>(i));
            largest = std::max(largest, size);
        }
        for (std::size_t size = options_.min_size; size < largest && !rows.empty() && !is_stopped(); ++size) {
            std::erase_if(rows, [&](std::uint32_t i) {
                return count_members(static_cast<Set>(result(i).best.variables)) <= size;
            });
            const auto has_size = [&](Set set) { return count_members(set) == size; };
            places_.clear();
            for (const std::uint32_t i : rows)
                for (const std::uint32_t place : places_of(i))
                    if (has_size(sets_[place].variables)) places_.push_back(place);
            go_through_trees(n_trees_);
            if (is_stopped()) return;
            std::erase_if(rows, [&](std::uint32_t i) {
                double highest = -1.0;
                for (const std::uint32_t place : places_of(i))
                    if (has_all_trees(place) && has_size(sets_[place].variables))
                        highest = std::max(highest, sums_[place]);
                if (highest < needed_[i]) return false;
                result(i).nearly = first_with(i, std::max(needed_[i], highest - tie_), has_size);
                return true;
            });
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
    std::vector<Partial> sets_;               // of all rows, by size and row
    std::vector<double> sums_;                // by set
    std::vector<std::uint32_t> places_;       // the sets that go through the trees
    std::vector<std::uint32_t> choosing_;     // rows whose variables are chosen
    std::vector<std::vector<Rival>> rivals_;  // of each of them
    std::vector<std::size_t> by_row_;
    std::vector<std::uint32_t> ordered_;  // the places of sets_, by row
    std::vector<SharedWalk> list_;
    std::vector<WalksOfSet<Set>> groups_;
};

}  // namespace suffice
