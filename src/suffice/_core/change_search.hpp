// What would change the outcome of a row, or of the rows of a region: the smallest sets of variables that have a box
// with the wanted outcome, and the most plausible boxes of these sets (docs/method.md, 7).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "change_everywhere.hpp"
#include "change_mean.hpp"
#include "change_proof.hpp"
#include "forest.hpp"
#include "forest_column.hpp"
#include "parallel.hpp"
#include "reach.hpp"
#include "rounding.hpp"

namespace suffice {

struct ChangeOptions {
    double pi = 0.9;
    double min_plausibility = 0.05;
    bool everywhere = true;         // every point of a box must have the wanted outcome, not only its rows on average
    bool minimal_only = true;       // stop at the smallest size that has a change
    std::size_t max_size = 3;       // of a set
    std::size_t n_changes = 3;      // boxes to return
    std::size_t n_candidates = 10;  // without `everywhere`: variables of which sets of two and more are made
    std::size_t min_node_size = 1;
    std::size_t max_sets = 1 << 20;
    std::size_t max_nodes = 10'000;     // branches to look at for one box
    std::size_t max_regions = 500'000;  // regions to check in the proofs for one set
};

// One box, or the nearest miss.
struct Change {
    std::uint64_t set = 0;
    ValueBox box;                     // over the columns of the set, in their order
    double cdp = 0.0;                 // P(wanted | what does not change)
    double plausibility = 0.0;        // P(in the box | what does not change)
    double bound = 0.0;               // no box of the set has a larger plausibility
    double mean = 0.0;                // P(wanted | in the box, what does not change)
    double probability = 0.0;         // the nearest miss: what the forest says at its point
    std::vector<std::uint32_t> rows;  // training rows with a weight in the box
    std::vector<double> weights;      // their weights
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
          forest_(space.forest),
          forest_columns_(forest_columns),
          options_(options),
          needed_(sum_to_reach(options.pi, forest_.trees.size())),
          stop_(stop),
          reach_(space),
          reached_(forest_.trees.size()),
          share_(forest_.trees.size()),
          most_shares_(forest_.trees.size()),
          weight_(forest_.X.n_rows, 0.0) {
        for (const Tree& tree : forest_.trees) cells_.emplace_back(tree, forest_.X, options.min_node_size);
    }
    ChangeSearch(const ChangeSearch&) = delete;
    ChangeSearch& operator=(const ChangeSearch&) = delete;

    // The wanted outcomes: one flag for each rank.
    void set_wanted(const std::uint8_t* wanted) {
        if (wanted_ == wanted) return;
        wanted_ = wanted;
        std::vector<std::uint32_t> n_before;
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            const Tree& tree = forest_.trees[t];
            n_before.assign(tree.rows.size() + 1, 0);
            for (std::size_t i = 0; i < tree.rows.size(); ++i) n_before[i + 1] = n_before[i] + wanted[tree.rank[i]];
            share_[t].resize(tree.nodes.size());
            for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
                const Node& node = tree.nodes[i];
                share_[t][i] = node.begin == node.end ? 0.0
                                                      : static_cast<double>(n_before[node.end] - n_before[node.begin]) /
                                                            static_cast<double>(node.end - node.begin);
            }
        }
    }

    ChangeResult run(const ValueBox& region, const ValueBox& limits) {
        region_ = &region;
        limits_ = &limits;
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            reach_.find(forest_.trees[t], region, limits, options_.max_size, reached_[t]);
            cells_[t].clear();
            find_most_shares(t);
        }
        ChangeResult result;
        n_sets_ = 0;
        rare_.clear();
        std::vector<std::uint64_t> found_sets;
        for (std::size_t size = 1; size <= options_.max_size && !stop_; ++size) {
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

    std::size_t n_variables() const { return space_.columns.size(); }

    // For each mask of reached leaves the largest share, so that sets without a change are found fast.
    void find_most_shares(std::size_t t) {
        auto& most = most_shares_[t];
        most.clear();
        for (const ReachedLeaf& leaf : reached_[t].leaves) {
            const auto at = std::find_if(most.begin(), most.end(), [&](const auto& m) { return m.first == leaf.mask; });
            if (at == most.end())
                most.emplace_back(leaf.mask, share_[t][leaf.node]);
            else
                at->second = std::max(at->second, share_[t][leaf.node]);
        }
    }

    // A bound of the sum of the shares at any point that S can reach; less than `needed` if that is certain early.
    double most_sum(std::uint64_t S, double needed) const {
        const std::size_t n_trees = forest_.trees.size();
        double sum = 0.0;
        for (std::size_t t = 0; t < n_trees; ++t) {
            double most = 0.0;
            for (const auto& [mask, share] : most_shares_[t])
                if (!(mask & ~S) && share > most) most = share;
            sum += most;
            if (sum + static_cast<double>(n_trees - 1 - t) < needed) return sum;
        }
        return sum;
    }

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
        std::vector<std::size_t> all(n_variables());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = v;
        if (options_.everywhere || size == 1 || all.size() <= options_.n_candidates) return all;
        std::vector<double> cdp;
        for (const std::size_t v : all) {
            weigh(std::uint64_t{1} << v);
            cdp.push_back(cdp_);
        }
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
            if (options_.everywhere && most_sum(S, needed_) < needed_) return true;
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
        build(candidate.set);
        for (std::size_t i = candidate.n_forbidden; i < changes.size(); ++i) {
            CodeBox taken;
            if (taken_by(changes[i], taken) && meet(candidate.found.box, taken.data())) return true;
        }
        return false;
    }

    // --- one set ----------------------------------------------------------------------------------------------------

    // Computes weight_ of the training rows given what does not change, and cdp_.
    void weigh(std::uint64_t S) {
        for (const std::uint32_t row : rows_) weight_[row] = 0.0;
        rows_.clear();
        const auto n_trees = static_cast<double>(forest_.trees.size());
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            const std::vector<std::uint32_t>& rows = cells_[t].rows(reached_[t], S);
            const double weight = 1.0 / (n_trees * static_cast<double>(rows.size()));
            for (const std::uint32_t row : rows) {
                if (weight_[row] == 0.0) rows_.push_back(row);
                weight_[row] += weight;
            }
        }
        std::sort(rows_.begin(), rows_.end());
        cdp_ = 0.0;
        for (const std::uint32_t row : rows_)
            if (is_wanted(row)) cdp_ += weight_[row];
    }

    bool is_wanted(std::uint32_t row) const { return wanted_[space_.y_rank[row]] != 0; }

    // The axes of a set, what it reaches, and the points of the rows.
    void build(std::uint64_t S) {
        set_ = S;
        axes_.clear();
        const std::size_t n_columns = region_->size();
        axis_of_.assign(n_columns, kNoAxis);
        for (std::uint64_t bits = S; bits; bits &= bits - 1)
            for (const std::int32_t column : space_.columns[static_cast<std::size_t>(std::countr_zero(bits))])
                axis_of_[static_cast<std::size_t>(column)] = 0;
        std::vector<std::vector<float>> ends(n_columns);
        if (options_.everywhere) collect_ends(S, ends);
        for (std::size_t c = 0; c < n_columns; ++c) {  // in the order of the table
            if (axis_of_[c] == kNoAxis) continue;
            axis_of_[c] = axes_.size();
            auto thresholds = options_.everywhere ? std::move(ends[c]) : forest_columns_[c]->thresholds;
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(thresholds), (*limits_)[c], space_.allowed[c]);
            ends[c].clear();
        }
        n_set_axes_ = axes_.size();
        for (std::size_t c = 0; c < n_columns; ++c) {  // what does not change but varies
            if (ends[c].empty()) continue;
            axis_of_[c] = axes_.size();
            axes_.emplace_back(static_cast<std::int32_t>(c), std::move(ends[c]), (*region_)[c], kAnyValue);
        }
        whole_.clear();
        start_.clear();
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            whole_.push_back(axes_[a].everything());
            start_.push_back(axes_[a].positions((*region_)[static_cast<std::size_t>(axes_[a].column)]));
        }
        if (options_.everywhere) place_leaves_of(S);
    }

    static bool is_finite(float value) { return value > -kInfinity && value < kInfinity; }

    // The thresholds of the columns that matter for S, by column.
    void collect_ends(std::uint64_t S, std::vector<std::vector<float>>& ends) const {
        for (const ReachedTree& tree : reached_)
            for (const ReachedLeaf& leaf : tree.leaves) {
                if (leaf.mask & ~S) continue;
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = tree.passages[i];
                    const auto c = static_cast<std::size_t>(passage.column);
                    if (axis_of_[c] == kNoAxis && is_one_way(passage)) continue;
                    if (is_finite(passage.interval.low)) ends[c].push_back(passage.interval.low);
                    if (is_finite(passage.interval.high)) ends[c].push_back(passage.interval.high);
                    if (axis_of_[c] == kNoAxis && ends[c].empty()) ends[c].push_back(0.0f);  // known or missing
                }
            }
        for (auto& of_column : ends) {
            std::sort(of_column.begin(), of_column.end());
            of_column.erase(std::unique(of_column.begin(), of_column.end()), of_column.end());
        }
    }

    // Whether a passage admits the whole region.
    bool is_one_way(const Passage& passage) const {
        const ValueInterval& region = (*region_)[static_cast<std::size_t>(passage.column)];
        const ValueInterval part = common_part(region, passage.interval);
        return part.missing == region.missing && part.has_values == region.has_values &&
               (!part.has_values || (part.low == region.low && part.high == region.high));
    }

    void place_leaves_of(std::uint64_t S) {
        leaves_.n_axes = n_set_axes_;
        leaves_.rest.clear();
        for (std::size_t a = n_set_axes_; a < axes_.size(); ++a) leaves_.rest.push_back(axes_[a].everything());
        leaves_.positions.clear();
        leaves_.share.clear();
        leaves_.begin.assign(1, 0);
        CodeBox box(axes_.size());
        for (std::size_t t = 0; t < reached_.size(); ++t) {
            for (const ReachedLeaf& leaf : reached_[t].leaves) {
                if (leaf.mask & ~S) continue;
                for (std::size_t a = 0; a < axes_.size(); ++a) box[a] = axes_[a].everything();
                bool is_empty = false;
                for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
                    const Passage& passage = reached_[t].passages[i];
                    const std::size_t a = axis_of_[static_cast<std::size_t>(passage.column)];
                    if (a == kNoAxis) continue;
                    box[a] = axes_[a].positions(passage.interval);
                    is_empty |= is_nothing(box[a]);
                }
                if (is_empty) continue;
                leaves_.positions.insert(leaves_.positions.end(), box.begin(), box.end());
                leaves_.share.push_back(share_[t][leaf.node]);
            }
            leaves_.begin.push_back(leaves_.share.size());
        }
    }

    // The values of a row as positions. Returns false if the row lies outside the limits.
    bool find_positions(std::uint32_t row, CodeInterval* out) const {
        for (std::size_t a = 0; a < n_set_axes_; ++a) {
            const auto c = static_cast<std::size_t>(axes_[a].column);
            const float value = forest_.X.row(row)[c];
            if (value != value) {
                if (!axes_[a].missing) return false;
                out[a] = kOnlyMissing;
                continue;
            }
            const ValueInterval& limits = (*limits_)[c];
            if (!limits.has_values || !(limits.low < value && value <= limits.high)) return false;
            const std::vector<float>& allowed = space_.allowed[c];
            if (!allowed.empty() && !std::binary_search(allowed.begin(), allowed.end(), value)) return false;
            const std::uint32_t code = code_of(axes_[a].thresholds, value);
            const auto at = std::lower_bound(axes_[a].codes.begin(), axes_[a].codes.end(), code);
            const auto position = static_cast<std::uint32_t>(at - axes_[a].codes.begin());
            out[a] = {position, position, false};
        }
        return true;
    }

    void find_points() {
        points_.clear(n_set_axes_);
        point_of_.clear();
        CodeBox at(n_set_axes_);
        for (const std::uint32_t row : rows_) {
            if (!find_positions(row, at.data())) continue;
            std::uint64_t hash = 0;
            for (std::size_t a = 0; a < n_set_axes_; ++a)
                hash = (hash ^ (at[a].missing ? kMissing : at[a].lo)) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 32;
            for (;; ++hash) {  // the next place if another point is there
                const auto [place, is_new] = point_of_.try_emplace(hash, points_.size());
                if (is_new) {
                    points_.positions.insert(points_.positions.end(), at.begin(), at.end());
                    points_.wanted.push_back(0.0);
                    points_.other.push_back(0.0);
                } else if (!std::equal(at.begin(), at.end(), points_[place->second])) {
                    continue;
                }
                (is_wanted(row) ? points_.wanted : points_.other)[place->second] += weight_[row];
                break;
            }
        }
    }

    // What a change takes up in the space of the present set. Returns false if it takes up nothing there.
    bool taken_by(const Change& change, CodeBox& out) const {
        out = start_;
        std::size_t i = 0;
        for (std::size_t c = 0; c < region_->size(); ++c) {
            if (!(space_.bit_of[c] & change.set) || space_.bit_of[c] == kUnchangeable) continue;
            const ValueInterval& side = change.box[i++];
            if (axis_of_[c] == kNoAxis || axis_of_[c] >= n_set_axes_) {
                if (common_part(side, (*region_)[c]).is_empty()) return false;
                continue;
            }
            out[axis_of_[c]] = axes_[axis_of_[c]].positions(common_part(side, (*limits_)[c]));
        }
        return std::none_of(out.begin(), out.end(), is_nothing);
    }

    CodeBoxes forbidden_by(const std::vector<Change>& changes) const {
        CodeBoxes forbidden;
        forbidden.clear(n_set_axes_);
        if (std::none_of(start_.begin(), start_.end(), is_nothing)) forbidden.append(start_.data());
        CodeBox taken;
        for (const Change& change : changes)
            if (taken_by(change, taken)) forbidden.append(taken.data());
        return forbidden;
    }

    // The best box of a set that has more than `least` and meets no change that was found before.
    FoundChange search_set(std::uint64_t S, const std::vector<Change>& changes, double least) {
        weigh(S);
        if (!options_.everywhere && cdp_ / (options_.pi - kRounding) <= least) return {};
        build(S);
        for (std::size_t a = 0; a < n_set_axes_; ++a)
            if (axes_[a].is_empty()) return {};
        find_points();
        const CodeBoxes forbidden = forbidden_by(changes);
        if (options_.everywhere) {
            everywhere_ = std::make_unique<EverywhereSearch>(needed_, options_.max_nodes, options_.max_regions, stop_);
            const double most = everywhere_->set_points(whole_, points_, leaves_);
            if (most > 0.0 && changes.empty()) rare_.push_back({most, S});
            everywhere_->forbid(forbidden);
            return most > least ? everywhere_->run(least) : FoundChange{};
        }
        mean_ = std::make_unique<MeanSearch>(options_.pi, options_.max_nodes, stop_);
        const double most = mean_->set_points(whole_, points_);
        return most > least ? mean_->run(forbidden, least) : FoundChange{};
    }

    // Places the ends of a box, and measures it.
    Change finish(std::uint64_t S, const FoundChange& found, const std::vector<Change>& changes) {
        weigh(S);
        build(S);
        find_points();
        const CodeBoxes forbidden = forbidden_by(changes);
        CodeBox box = found.box;
        if (options_.everywhere) {
            everywhere_ = std::make_unique<EverywhereSearch>(needed_, options_.max_nodes, options_.max_regions, stop_);
            everywhere_->set_points(whole_, points_, leaves_);
            everywhere_->forbid(forbidden);
            everywhere_->grow(box, start_);
        } else {
            MeanSearch search(options_.pi, options_.max_nodes, stop_);
            search.set_points(whole_, points_);
            search.grow(box, start_, forbidden);
        }
        Change change = measure(S, box);
        change.bound = std::max(found.bound, change.plausibility);
        return change;
    }

    Change measure(std::uint64_t S, const CodeBox& box) const {
        Change change;
        change.set = S;
        change.cdp = cdp_;
        for (std::size_t a = 0; a < n_set_axes_; ++a) change.box.push_back(axes_[a].values(box[a]));
        CodeBox at(n_set_axes_);
        double wanted = 0.0;
        for (const std::uint32_t row : rows_) {
            if (!find_positions(row, at.data()) || !meet(box, at.data())) continue;
            change.rows.push_back(row);
            change.weights.push_back(weight_[row]);
            change.plausibility += weight_[row];
            if (is_wanted(row)) wanted += weight_[row];
        }
        change.mean = change.plausibility > 0.0 ? wanted / change.plausibility : 0.0;
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
        std::vector<std::size_t> all(n_variables());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = v;
        std::size_t n_sets = 0;
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, all, [&](std::uint64_t S) {
                if (stop_ || ++n_sets > options_.max_sets) return false;
                sets.emplace_back(most_sum(S, 0.0), S);
                return true;
            });
        std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        double most = 0.0;
        for (const auto& [bound, S] : sets) {
            if (bound <= most + kRounding || stop_) break;
            weigh(S);
            build(S);
            if (std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.is_empty(); })) continue;
            find_points();
            ChangeProof proof(needed_, options_.max_regions, stop_);
            proof.set_leaves(leaves_);
            for (std::size_t p = 0; p < points_.size(); ++p) {
                if (std::none_of(start_.begin(), start_.end(), is_nothing) && meet(start_, points_[p])) continue;
                const double sum = proof.most(points_[p]);
                if (sum <= most + kRounding) continue;
                most = sum;
                result.has_miss = true;
                result.miss = measure(S, CodeBox(points_[p], points_[p] + n_set_axes_));
                result.miss.probability = sum / static_cast<double>(forest_.trees.size());
            }
        }
    }

    void find_highest_cdp(ChangeResult& result) {
        for (std::size_t size = 1; size <= options_.max_size; ++size)
            for_each_set(size, variables_for(size), [&](std::uint64_t S) {
                weigh(S);
                if (stop_) return false;
                if (result.has_miss && cdp_ <= result.miss.cdp + kRounding) return true;
                build(S);
                if (std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.is_empty(); }))
                    return true;
                result.has_miss = true;
                result.miss = measure(S, whole_);
                result.miss.probability = cdp_;
                return true;
            });
    }

    static constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    inline static const std::vector<float> kAnyValue{};

    const ChangeSpace& space_;
    const Forest& forest_;
    const ForestColumns& forest_columns_;  // by column of the table; only without `everywhere`
    ChangeOptions options_;
    double needed_;
    const StopFlag& stop_;
    Reach reach_;
    std::vector<ReachedTree> reached_;
    std::vector<FixedCells> cells_;           // by tree
    std::vector<std::vector<double>> share_;  // by tree and node: of the wanted outcomes
    std::vector<std::vector<std::pair<std::uint64_t, double>>> most_shares_;  // by tree: the largest share of a mask
    const std::uint8_t* wanted_ = nullptr;
    const ValueBox* region_ = nullptr;
    const ValueBox* limits_ = nullptr;
    std::size_t n_sets_ = 0;
    std::vector<std::pair<double, std::uint64_t>> rare_;  // sets with good points, and the weight of these

    // What belongs to the set that is searched now.
    std::vector<double> weight_;       // by training row
    std::vector<std::uint32_t> rows_;  // those with a weight
    double cdp_ = 0.0;
    std::uint64_t set_ = 0;
    std::vector<Axis> axes_;  // those of the set, then what varies in the region
    std::size_t n_set_axes_ = 0;
    std::vector<std::size_t> axis_of_;  // by column
    CodeBox whole_, start_;
    LeafBoxes leaves_;
    WeightedPoints points_;
    std::unordered_map<std::uint64_t, std::size_t> point_of_;  // by the hash of its positions
    std::unique_ptr<EverywhereSearch> everywhere_;
    std::unique_ptr<MeanSearch> mean_;
};

}  // namespace suffice
