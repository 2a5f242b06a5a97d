// What would change the outcome of a row, or of the rows of a region: the smallest sets of variables that have a box
// with the wanted outcome, and the most plausible boxes of these sets (docs/method.md, 7).
#pragma once

#include "change_everywhere.hpp"
#include "change_mean.hpp"

namespace suffice {

struct ChangeResult {
    std::vector<Change> changes;  // best first
    std::optional<Change> miss;   // if there are no changes: the nearest miss, if there is one
    bool is_too_rare = false;     // the miss has the wanted outcome, but is not plausible enough
    bool is_complete = true;      // whether all sets were searched
};

class ChangeSearch {
  public:
    ChangeSearch(const ChangeSpace& space, const ChangeOptions& options, const StopFlag& stop)
        : space_(space), options_(options), needed_(sum_to_reach(options.pi, space.forest.trees.size())), stop_(stop) {}
    ChangeSearch(const ChangeSearch&) = delete;
    ChangeSearch& operator=(const ChangeSearch&) = delete;

    // `wanted` has one flag for each rank.
    ChangeResult run(const std::uint8_t* wanted, ValueBox region, ValueBox limits) {
        reach_.emplace(space_, wanted, options_, std::move(region), std::move(limits));
        ChangeResult result;
        n_sets_ = 0;
        rare_.clear();
        found_sets_.clear();
        for (std::size_t size = options_.min_size; size <= options_.max_size && !stop_; ++size) {
            search_size(size, result);
            if (result.changes.size() >= options_.n_changes || !result.is_complete) break;
            if (!result.changes.empty() && options_.minimal_only) break;
        }
        if (!result.changes.empty()) return result;
        if (options_.everywhere) result.miss = find_rare_box();
        result.is_too_rare = result.miss.has_value();
        if (!result.miss) result.miss = options_.everywhere ? find_best_point() : find_highest_cdp();
        return result;
    }

  private:
    using SharedSet = std::shared_ptr<const FreeSet>;
    using BoundedSets = std::vector<std::pair<double, std::uint64_t>>;

    // One set with its best box, while the sets of one size compete.
    struct Candidate : Queued {
        SharedSet free;
        FoundChange found;
    };

    // In the order of their first variables, then of their second ones, and so on. Ends if act(S) is false.
    template <class Do>
    void for_each_set(std::size_t min_size, std::size_t max_size, const Do& act) {
        for (std::size_t size = min_size; size <= max_size; ++size) {
            const std::vector<std::size_t> variables = variables_for(size);
            if (size > variables.size()) return;
            std::vector<std::uint8_t> is_chosen(variables.size(), 0);
            std::fill_n(is_chosen.begin(), size, std::uint8_t{1});
            do {
                std::uint64_t S = 0;
                for (std::size_t i = 0; i < variables.size(); ++i) S |= std::uint64_t{is_chosen[i]} << variables[i];
                if (stop_ || !act(S)) return;
            } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
        }
    }

    std::vector<std::size_t> variables_for(std::size_t size) {
        std::vector<std::size_t> all(space_.n_variables);
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (options_.everywhere || size == 1 || all.size() <= options_.n_candidates) return all;
        std::vector<double> cdp;
        for (const std::size_t v : all) cdp.push_back(reach_->weigh(std::uint64_t{1} << v).cdp);
        std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return cdp[a] > cdp[b]; });
        all.resize(options_.n_candidates);
        std::sort(all.begin(), all.end());
        return all;
    }

    void search_size(std::size_t size, ChangeResult& result) {
        std::vector<Change>& changes = result.changes;
        const double least = std::max(0.0, options_.min_plausibility - kRounding);  // a box must have more
        const std::size_t n_wanted = options_.n_changes - changes.size();
        std::vector<Candidate> candidates;  // the best is the last
        std::size_t order = 0;
        const auto offer = [&](const SharedSet& free, double needed) {
            FoundChange found = search_box(*free, changes, needed);
            if (!found.exists) return;
            Candidate candidate{{found.value, order++}, free, std::move(found)};
            const auto at = std::upper_bound(candidates.begin(), candidates.end(), candidate);
            candidates.insert(at, std::move(candidate));
        };
        for_each_set(size, size, [&](std::uint64_t S) {
            for (const std::uint64_t part : found_sets_)
                if (!(part & ~S)) return true;
            result.is_complete = ++n_sets_ <= options_.max_sets;
            if (!result.is_complete) return false;
            if (options_.everywhere && reach_->most_sum(S, needed_) < needed_) return true;
            const double needed =
                candidates.size() < n_wanted ? least : std::max(least, candidates[candidates.size() - n_wanted].value);
            if (const SharedSet free = free_set(S, needed)) offer(free, needed);
            return true;
        });
        while (!candidates.empty() && changes.size() < options_.n_changes && !stop_) {
            const Candidate best = std::move(candidates.back());
            candidates.pop_back();
            if (!best.free->forbidden_by(changes).any_meets(best.found.box)) {
                changes.push_back(finish(*best.free, best.found, changes));
                found_sets_.push_back(changes.back().set);
            }
            offer(best.free, least);
        }
    }

    // A set, unless none of its boxes can have more than `least`.
    SharedSet free_set(std::uint64_t S, double least) {
        const SetWeights weights = reach_->weigh(S);
        if (!options_.everywhere && weights.cdp / (options_.pi - kRounding) <= least) return nullptr;
        auto free = std::make_shared<const FreeSet>(*reach_, weights);
        return free->has_empty_axis() ? nullptr : free;
    }

    // Calls act(search) with a search for boxes that meet no change that was found before.
    template <class Do>
    auto with_search(const FreeSet& free, const std::vector<Change>& changes, const Do& act) {
        const CodeBoxes forbidden = free.forbidden_by(changes);
        if (options_.everywhere) {
            EverywhereSearch search(free, forbidden, options_, stop_);
            return act(search);
        }
        MeanSearch search(free, forbidden, options_, stop_);
        return act(search);
    }

    // The best box of a set that has more than `least` and meets no change that was found before.
    FoundChange search_box(const FreeSet& free, const std::vector<Change>& changes, double least) {
        return with_search(free, changes, [&](auto& search) {
            const double most = search.most();
            if (most > 0.0 && changes.empty()) rare_.emplace_back(most, free.set);
            return most > least ? search.run(least) : FoundChange{};
        });
    }

    // Places the ends of a box, and measures it.
    Change finish(const FreeSet& free, const FoundChange& found, const std::vector<Change>& changes) {
        CodeBox box = found.box;
        with_search(free, changes, [&](auto& search) { search.grow(box); });
        Change change = free.measure(box);
        change.bound = std::max(found.bound, change.plausibility);
        return change;
    }

    static void sort_best_first(BoundedSets& sets) {
        std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    }

    // The most plausible box that is too rare.
    std::optional<Change> find_rare_box() {
        BoundedSets sets = std::exchange(rare_, {});
        sort_best_first(sets);
        std::optional<Change> miss;
        double most = 0.0;
        for (const auto& [bound, S] : sets) {
            if (bound <= most || stop_) break;
            const SharedSet free = free_set(S, most);
            const FoundChange found = search_box(*free, {}, most);
            if (!found.exists) continue;
            most = found.value;
            miss = finish(*free, found, {});
        }
        return miss;
    }

    // The point with the highest probability among those that a row like this one has.
    std::optional<Change> find_best_point() {
        BoundedSets sets;
        for_each_set(1, options_.max_size, [&](std::uint64_t S) {
            if (sets.size() == options_.max_sets) return false;
            sets.emplace_back(reach_->most_sum(S, 0.0), S);
            return true;
        });
        sort_best_first(sets);
        std::optional<Change> miss;
        double most = 0.0;
        for (const auto& [bound, S] : sets) {
            if (bound <= most + kRounding || stop_) break;
            const SharedSet free = free_set(S, 0.0);
            if (!free) continue;
            const CodeBoxes region = free->forbidden_by({});
            const ChangeProof proof(free->leaves, needed_, stop_);
            for (std::size_t p = 0; p < free->points.size(); ++p) {
                const double sum = proof.sum_at(free->points[p], most + kRounding);
                const CodeBox point(free->points[p], free->points[p + 1]);
                if (sum <= most + kRounding || region.any_meets(point)) continue;
                most = sum;
                miss = free->measure(point);
                miss->probability = sum / static_cast<double>(space_.forest.trees.size());
            }
        }
        return miss;
    }

    std::optional<Change> find_highest_cdp() {
        std::optional<Change> miss;
        for_each_set(1, options_.max_size, [&](std::uint64_t S) {
            const SetWeights weights = reach_->weigh(S);
            if (miss && weights.cdp <= miss->cdp + kRounding) return true;
            const FreeSet free(*reach_, weights);
            if (free.has_empty_axis()) return true;
            miss = free.measure(free.whole);
            miss->probability = miss->cdp;
            return true;
        });
        return miss;
    }

    const ChangeSpace& space_;
    ChangeOptions options_;
    double needed_;
    const StopFlag& stop_;
    std::optional<RegionReach> reach_;  // of the present row
    std::size_t n_sets_ = 0;
    BoundedSets rare_;                       // sets with good points, and the weight of these
    std::vector<std::uint64_t> found_sets_;  // those with a change
};

}  // namespace suffice
