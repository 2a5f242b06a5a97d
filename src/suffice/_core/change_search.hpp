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

struct ChangeOptions {
    double pi = 0.9;
    double min_plausibility = 0.05;
    bool everywhere = true;    // every point of a box must have the wanted outcome, not only its rows on average
    bool votes = false;        // with `everywhere`: a leaf says what its tree predicts, not what its rows have
    bool minimal_only = true;  // stop at the smallest size that has a change
    std::size_t min_size = 1;  // of a set
    std::size_t max_size = 3;
    std::size_t n_changes = 3;      // boxes to return
    std::size_t n_candidates = 10;  // without `everywhere`: variables of which sets of two and more are made
    std::size_t min_node_size = 1;
    std::size_t max_sets = 1 << 20;
    std::size_t max_nodes = 10'000;     // branches to look at for one box
    std::size_t max_regions = 500'000;  // regions to check in the proofs for one set, as for rules; not tuned
};

struct ChangeResult {
    std::vector<Change> changes;  // best first
    bool has_miss = false;        // if there are none: whether there is a nearest miss
    bool is_too_rare = false;     // the miss has the wanted outcome, but is not plausible enough
    bool is_complete = true;      // whether all sets were searched
    Change miss;
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
        reach_.emplace(space_, forest_columns_, *shares_,
                       ReachOptions{options_.everywhere, options_.min_node_size, options_.max_size, needed_},
                       std::move(region), std::move(limits));
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
    struct Candidate {
        double value;
        std::size_t order;
        std::uint64_t set;
        std::size_t n_forbidden;  // boxes that were returned when it was searched
        FoundChange found;
        bool operator<(const Candidate& other) const {
            return value != other.value ? value < other.value : order > other.order;
        }
    };

    // A box must have more.
    double least_value() const { return std::max(0.0, options_.min_plausibility - kRounding); }

    template <class Do>
    void for_each_set(std::size_t size, const std::vector<std::size_t>& variables, const Do& act) {
        if (size > variables.size()) return;
        std::vector<std::size_t> chosen(size);
        for (std::size_t i = 0; i < size; ++i) chosen[i] = i;
        for (;;) {
            std::uint64_t S = 0;
            for (const std::size_t i : chosen) S |= std::uint64_t{1} << variables[i];
            if (!act(S)) return;
            std::size_t i = size;
            while (i-- > 0 && chosen[i] == variables.size() - size + i) {
            }
            if (i == static_cast<std::size_t>(-1)) return;
            ++chosen[i];
            for (std::size_t j = i + 1; j < size; ++j) chosen[j] = chosen[j - 1] + 1;
        }
    }

    std::vector<std::size_t> variables_for(std::size_t size) {
        std::vector<std::size_t> all(reach_->n_variables());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = v;
        if (options_.everywhere || size == 1 || all.size() <= options_.n_candidates) return all;
        std::vector<double> cdp;
        for (const std::size_t v : all) cdp.push_back(reach_->weigh(std::uint64_t{1} << v).cdp);
        std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return cdp[a] > cdp[b]; });
        all.resize(options_.n_candidates);
        std::sort(all.begin(), all.end());
        return all;
    }

    void search_size(std::size_t size, std::vector<std::uint64_t>& found_sets, ChangeResult& result) {
        const double least = least_value();
        std::priority_queue<Candidate> queue;
        std::vector<double> values;  // of the best boxes of sets, as a heap with the smallest first
        const std::size_t n_wanted = options_.n_changes - result.changes.size();
        std::size_t order = 0;
        const std::size_t n_before = result.changes.size();
        for_each_set(size, variables_for(size), [&](std::uint64_t S) {
            if (stop_) return false;
            for (const std::uint64_t part : found_sets)
                if (!(part & ~S)) return true;
            if (++n_sets_ > options_.max_sets) {
                result.is_complete = false;
                return false;
            }
            if (options_.everywhere && reach_->most_sum(S, needed_) < needed_) return true;
            const double needed = values.size() < n_wanted ? least : std::max(least, values.front());
            FoundChange found = search_set(S, result.changes, needed);
            if (!found.exists) return true;
            values.push_back(found.value);
            std::push_heap(values.begin(), values.end(), std::greater<>());
            if (values.size() > n_wanted) {
                std::pop_heap(values.begin(), values.end(), std::greater<>());
                values.pop_back();
            }
            const double value = found.value;
            queue.push({value, order++, S, n_before, std::move(found)});
            return true;
        });
        while (!queue.empty() && result.changes.size() < options_.n_changes && !stop_) {
            Candidate best = queue.top();
            queue.pop();
            if (best.n_forbidden < result.changes.size() && overlaps_later(best, result.changes)) {
                FoundChange found = search_set(best.set, result.changes, least);
                const double value = found.value;
                if (found.exists) queue.push({value, order++, best.set, result.changes.size(), std::move(found)});
                continue;
            }
            result.changes.push_back(finish(best.set, best.found, result.changes));
            found_sets.push_back(best.set);
            FoundChange next = search_set(best.set, result.changes, least);
            const double value = next.value;
            if (next.exists) queue.push({value, order++, best.set, result.changes.size(), std::move(next)});
        }
    }

    // Whether the box of a candidate meets one that was returned after it was searched.
    bool overlaps_later(const Candidate& candidate, const std::vector<Change>& changes) {
        const FreeSet free(*reach_, reach_->weigh(candidate.set));
        for (std::size_t i = candidate.n_forbidden; i < changes.size(); ++i) {
            CodeBox taken;
            if (free.taken_by(changes[i], taken) && meet(candidate.found.box, taken.data())) return true;
        }
        return false;
    }

    // The best box of a set that has more than `least` and meets no change that was found before.
    FoundChange search_set(std::uint64_t S, const std::vector<Change>& changes, double least) {
        SetWeights weights = reach_->weigh(S);
        if (!options_.everywhere && weights.cdp / (options_.pi - kRounding) <= least) return {};
        const FreeSet free(*reach_, std::move(weights));
        if (free.has_empty_axis()) return {};
        const WeightedPoints points = free.points();
        const CodeBoxes forbidden = free.forbidden_by(changes);
        if (options_.everywhere) {
            EverywhereSearch search(needed_, options_.max_nodes, options_.max_regions, stop_);
            const double most = search.set_points(free.whole(), points, free.leaves());
            if (most > 0.0 && changes.empty()) rare_.push_back({most, S});
            search.forbid(forbidden);
            return most > least ? search.run(least) : FoundChange{};
        }
        MeanSearch search(options_.pi, options_.max_nodes, stop_);
        const double most = search.set_points(free.whole(), points);
        return most > least ? search.run(forbidden, least) : FoundChange{};
    }

    // Places the ends of a box, and measures it.
    Change finish(std::uint64_t S, const FoundChange& found, const std::vector<Change>& changes) {
        const FreeSet free(*reach_, reach_->weigh(S));
        const WeightedPoints points = free.points();
        const CodeBoxes forbidden = free.forbidden_by(changes);
        CodeBox box = found.box;
        if (options_.everywhere) {
            EverywhereSearch search(needed_, options_.max_nodes, options_.max_regions, stop_);
            search.set_points(free.whole(), points, free.leaves());
            search.forbid(forbidden);
            search.grow(box, free.start());
        } else {
            MeanSearch search(options_.pi, options_.max_nodes, stop_);
            search.set_points(free.whole(), points);
            search.grow(box, free.start(), forbidden);
        }
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
            result.has_miss = result.is_too_rare = true;
            result.miss = finish(S, found, {});
        }
        if (!result.has_miss) find_best_point(result);
    }

    // The point with the highest probability among those that a row like this one has.
    void find_best_point(ChangeResult& result) {
        std::vector<std::pair<double, std::uint64_t>> sets;
        std::vector<std::size_t> all(reach_->n_variables());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = v;
        std::size_t n_sets = 0;
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, all, [&](std::uint64_t S) {
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
            ChangeProof proof(needed_, options_.max_regions, stop_);
            proof.set_leaves(free.leaves());
            for (std::size_t p = 0; p < points.size(); ++p) {
                if (free.has_start() && meet(free.start(), points[p])) continue;
                const double sum = proof.most(points[p]);
                if (sum <= most + kRounding) continue;
                most = sum;
                result.has_miss = true;
                result.miss = free.measure(CodeBox(points[p], points[p] + points.n_axes));
                result.miss.probability = sum / static_cast<double>(n_trees_);
            }
        }
    }

    void find_highest_cdp(ChangeResult& result) {
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, variables_for(size), [&](std::uint64_t S) {
                if (stop_) return false;
                SetWeights weights = reach_->weigh(S);
                if (result.has_miss && weights.cdp <= result.miss.cdp + kRounding) return true;
                const FreeSet free(*reach_, std::move(weights));
                if (free.has_empty_axis()) return true;
                result.has_miss = true;
                result.miss = free.measure(free.whole());
                result.miss.probability = result.miss.cdp;
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
