// What would change the outcome of a row, or of the rows of a region: the smallest sets of variables that have a box
// with the wanted outcome, and the most plausible boxes of these sets (docs/method.md, 7).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "change_everywhere.hpp"
#include "change_mean.hpp"
#include "forest_column.hpp"
#include "free_set.hpp"
#include "parallel.hpp"
#include "reach.hpp"
#include "thresholds.hpp"

namespace suffice {

struct ChangeResult {
    std::vector<Change> changes;  // best first
    bool is_too_rare = false;     // the miss has the wanted outcome, but is not plausible enough
    bool is_complete = true;      // whether all sets were searched
    std::optional<Change> miss;   // if there are no changes: the nearest miss, if there is one
};

class ChangeSearch {
  public:
    ChangeSearch(const ChangeSpace& space, const ForestColumns& forest_columns, const ChangeOptions& options,
                 const StopFlag& stop)
        : space_(space),
          forest_columns_(forest_columns),
          options_(options),
          n_trees_(space.forest.trees.size()),
          needed_(sum_to_reach(options.pi, n_trees_)),
          stop_(stop) {}
    ChangeSearch(const ChangeSearch&) = delete;
    ChangeSearch& operator=(const ChangeSearch&) = delete;

    // `wanted` has one flag for each rank. What is known of the leaves is kept for the next row that wants the same.
    ChangeResult run(const std::uint8_t* wanted, ValueBox region, ValueBox limits) {
        if (!shares_ || shares_->wanted() != wanted)
            shares_.emplace(space_, options_.everywhere && options_.votes, wanted);
        reach_.emplace(space_, forest_columns_, *shares_, options_, std::move(region), std::move(limits));
        ChangeResult result;
        n_sets_ = 0;
        rare_.clear();
        std::vector<std::uint64_t> found_sets;
        for (std::size_t size = options_.min_size; size <= options_.max_size && !stop_; ++size) {
            search_size(size, found_sets, result);
            if (result.changes.size() >= options_.n_changes) break;
            if (!result.changes.empty() && options_.minimal_only) break;
            if (!result.is_complete) break;
        }
        if (result.changes.empty()) find_miss(result);
        return result;
    }

  private:
    // One set with its best box, while the sets of one size compete.
    struct Candidate : Queued {
        std::uint64_t set;
        std::size_t n_forbidden;  // boxes that were returned when it was searched
        FoundChange found;
    };

    // A box must have more.
    double least_value() const { return std::max(0.0, options_.min_plausibility - kRounding); }

    // In the order of their first variables, then of their second ones, and so on. Ends if act(S) is false.
    template <class Do>
    void for_each_set(std::size_t size, const std::vector<std::size_t>& variables, const Do& act) {
        if (size > variables.size()) return;
        std::vector<std::uint8_t> is_chosen(variables.size(), 0);
        std::fill_n(is_chosen.begin(), size, std::uint8_t{1});
        do {
            std::uint64_t S = 0;
            for (std::size_t i = 0; i < variables.size(); ++i) S |= std::uint64_t{is_chosen[i]} << variables[i];
            if (!act(S)) return;
        } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
    }

    std::vector<std::size_t> variables_for(std::size_t size) {
        std::vector<std::size_t> all(reach_->n_variables());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = v;
        if (options_.everywhere || size == 1 || all.size() <= space_.n_candidates) return all;
        std::vector<double> cdp;
        for (const std::size_t v : all) cdp.push_back(reach_->weigh(std::uint64_t{1} << v).cdp);
        std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return cdp[a] > cdp[b]; });
        all.resize(space_.n_candidates);
        std::sort(all.begin(), all.end());
        return all;
    }

    void search_size(std::size_t size, std::vector<std::uint64_t>& found_sets, ChangeResult& result) {
        const double least = least_value();
        std::priority_queue<Candidate> queue;
        std::priority_queue<double, std::vector<double>, std::greater<>> values;  // of the best boxes of sets
        const std::size_t n_wanted = options_.n_changes - result.changes.size();
        std::size_t order = 0;
        const auto offer = [&](std::uint64_t S, FoundChange found) {
            if (found.exists) queue.push({{found.value, order++}, S, result.changes.size(), std::move(found)});
        };
        for_each_set(size, variables_for(size), [&](std::uint64_t S) {
            if (stop_) return false;
            for (const std::uint64_t part : found_sets)
                if (!(part & ~S)) return true;
            if (++n_sets_ > options_.max_sets) {
                result.is_complete = false;
                return false;
            }
            if (options_.everywhere && reach_->most_sum(S, needed_) < needed_) return true;
            const double needed = values.size() < n_wanted ? least : std::max(least, values.top());
            FoundChange found = search_set(S, result.changes, needed);
            if (!found.exists) return true;
            values.push(found.value);
            if (values.size() > n_wanted) values.pop();
            offer(S, std::move(found));
            return true;
        });
        while (!queue.empty() && result.changes.size() < options_.n_changes && !stop_) {
            const Candidate best = queue.top();
            queue.pop();
            if (!overlaps_later(best, result.changes)) {
                result.changes.push_back(finish(best.set, best.found, result.changes));
                found_sets.push_back(best.set);
            }
            offer(best.set, search_set(best.set, result.changes, least));
        }
    }

    // Whether the box of a candidate meets one that was returned after it was searched.
    bool overlaps_later(const Candidate& candidate, const std::vector<Change>& changes) {
        if (candidate.n_forbidden == changes.size()) return false;
        const FreeSet free(*reach_, reach_->weigh(candidate.set));
        for (std::size_t i = candidate.n_forbidden; i < changes.size(); ++i) {
            CodeBox taken;
            if (free.taken_by(changes[i], taken) && meet(candidate.found.box, taken.data())) return true;
        }
        return false;
    }

    // Calls act(search) with a search for boxes that meet no change that was found before.
    template <class Do>
    auto with_search(const FreeSet& free, const std::vector<Change>& changes, const Do& act) {
        const WeightedPoints points = free.points();
        const CodeBoxes forbidden = free.forbidden_by(changes);
        if (options_.everywhere) {
            EverywhereSearch search(free, points, forbidden, options_, stop_);
            return act(search);
        }
        MeanSearch search(free, points, forbidden, options_, stop_);
        return act(search);
    }

    // The best box of a set that has more than `least` and meets no change that was found before.
    FoundChange search_set(std::uint64_t S, const std::vector<Change>& changes, double least) {
        SetWeights weights = reach_->weigh(S);
        if (!options_.everywhere && weights.cdp / (options_.pi - kRounding) <= least) return {};
        const FreeSet free(*reach_, std::move(weights));
        if (free.has_empty_axis()) return {};
        return with_search(free, changes, [&](auto& search) {
            const double most = search.most();
            if (most > 0.0 && changes.empty()) rare_.push_back({most, S});
            return most > least ? search.run(least) : FoundChange{};
        });
    }

    // Places the ends of a box, and measures it.
    Change finish(std::uint64_t S, const FoundChange& found, const std::vector<Change>& changes) {
        const FreeSet free(*reach_, reach_->weigh(S));
        CodeBox box = found.box;
        with_search(free, changes, [&](auto& search) { search.grow(box, free.start()); });
        Change change = free.measure(box);
        change.bound = std::max(found.bound, change.plausibility);
        return change;
    }

    // --- if there is no change --------------------------------------------------------------------------------------

    void find_miss(ChangeResult& result) {
        if (!options_.everywhere) {
            find_highest_cdp(result);
            return;
        }
        std::stable_sort(rare_.begin(), rare_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        double most = 0.0;
        for (const auto& [bound, S] : std::vector<std::pair<double, std::uint64_t>>(rare_)) {
            if (bound <= most || stop_) break;
            const FoundChange found = search_set(S, {}, most);
            if (!found.exists) continue;
            most = found.value;
            result.is_too_rare = true;
            result.miss = finish(S, found, {});
        }
        if (!result.miss) find_best_point(result);
    }

    // The point with the highest probability among those that a row like this one has.
    void find_best_point(ChangeResult& result) {
        std::vector<std::pair<double, std::uint64_t>> sets;
        std::size_t n_sets = 0;
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, variables_for(size), [&](std::uint64_t S) {
                if (stop_ || ++n_sets > options_.max_sets) return false;
                sets.emplace_back(reach_->most_sum(S, 0.0), S);
                return true;
            });
        std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        double most = 0.0;
        for (const auto& [bound, S] : sets) {
            if (bound <= most + kRounding || stop_) break;
            const FreeSet free(*reach_, reach_->weigh(S));
            if (free.has_empty_axis()) continue;
            const WeightedPoints points = free.points();
            const ChangeProof proof(free.leaves(), needed_, options_.max_regions, stop_);
            for (std::size_t p = 0; p < points.size(); ++p) {
                if (free.has_start() && meet(free.start(), points[p])) continue;
                const double sum = proof.most(points[p]);
                if (sum <= most + kRounding) continue;
                most = sum;
                result.miss = free.measure(CodeBox(points[p], points[p] + free.whole().size()));
                result.miss->probability = sum / static_cast<double>(n_trees_);
            }
        }
    }

    void find_highest_cdp(ChangeResult& result) {
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, variables_for(size), [&](std::uint64_t S) {
                if (stop_) return false;
                SetWeights weights = reach_->weigh(S);
                if (result.miss && weights.cdp <= result.miss->cdp + kRounding) return true;
                const FreeSet free(*reach_, std::move(weights));
                if (free.has_empty_axis()) return true;
                result.miss = free.measure(free.whole());
                result.miss->probability = result.miss->cdp;
                return true;
            });
    }

    const ChangeSpace& space_;
    const ForestColumns& forest_columns_;
    ChangeOptions options_;
    std::size_t n_trees_;
    double needed_;
    const StopFlag& stop_;
    std::optional<LeafShares> shares_;
    std::optional<RegionReach> reach_;  // of the present row
    std::size_t n_sets_ = 0;
    std::vector<std::pair<double, std::uint64_t>> rare_;  // sets with good points, and the weight of these
};

}  // namespace suffice
