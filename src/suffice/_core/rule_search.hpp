// The maximal sufficient rule of a row: the box over the columns of S that contains x and nothing bad, and that covers
// the most training rows (or has the largest volume). Exact, by best-first branch and bound (docs/method.md, 5.2).
//
// A training row is bad if its SDP is below pi. If the rule must hold everywhere, so is every other point where it is.
#pragma once

#include <queue>

#include "box_proof.hpp"
#include "rows_around.hpp"

namespace suffice {

// The weighted median of the thresholds first ... last, each weighted by the number of rows that the forest splits
// there.
inline std::uint32_t median_threshold(const ForestColumn& column, std::uint32_t first, std::uint32_t last) {
    std::uint64_t total = 0, before = 0;
    for (std::uint32_t i = first; i <= last; ++i) total += column.weight[i];
    std::uint32_t i = first;
    while (i < last && 2 * (before += column.weight[i]) < total) ++i;
    return i;
}

// Moves the ends of `box`. An end with nothing bad beyond it is opened. Any other end may lie anywhere between the
// covered rows and the first bad one beyond them; it moves to the threshold where the forest splits most rows (the
// weighted median). The box stays within `widest`, and `rows` is the smallest box around x and the covered rows.
inline void place_ends(CodeBox& box, const CodeBox& widest, const CodeBox& rows, const CodeBoxes& bad,
                       const ForestColumns& columns) {
    for (std::size_t c = 0; c < box.size(); ++c) {
        CodeInterval& side = box[c];
        if (side.has_values() && rows[c].has_values()) {
            side.lo = widest[c].lo;
            std::uint32_t least = widest[c].lo;
            bad.for_each_that_meets(box, [&](const CodeInterval* b) { least = std::max(least, b[c].hi + 1); });
            side.lo = least == 0 ? 0 : 1 + median_threshold(*columns[c], least - 1, rows[c].lo - 1);
            side.hi = widest[c].hi;
            std::uint32_t most = widest[c].hi;
            bad.for_each_that_meets(box, [&](const CodeInterval* b) { most = std::min(most, b[c].lo - 1); });
            const std::uint32_t end = columns[c]->largest_code();
            side.hi = most == end ? end : median_threshold(*columns[c], rows[c].hi, most);
        }
        side.missing = widest[c].missing;
        if (bad.any_meets(box)) side.missing = rows[c].missing;
    }
}

// Regions that the proofs for one row may examine; also Python's default. Most rules of the switch model take 4,000.
inline constexpr std::size_t kMaxRegions = 200'000;

struct RuleOptions {
    double pi = 0.9;
    bool everywhere = false;  // every point of the box must be good, not only every training row in it
    bool by_volume = false;   // maximise the Lebesgue volume within the range of the data instead of the training rows
    std::size_t max_nodes = 10'000;         // branches to look at; Python gives its own
    std::size_t max_regions = kMaxRegions;  // regions to check in proofs that a box is good everywhere
};

struct RuleResult {
    bool exists = false;  // whether the SDP at x is at least pi; if not, only `sdp` is set
    double sdp = 0.0;     // at x
    CodeBox box;
    std::size_t n_looked_at = 0;    // training rows
    double mean_sdp = 0.0;          // of those in the box; 0 if there are none
    double value = 0.0;             // what is maximised: the number of those in the box, or volume
    double bound = 0.0;             // no rule has a larger value than this
    bool is_optimal = false;        // the value equals the bound
    bool holds_everywhere = false;  // proven for every point of the box
};

class RuleSearch {
  public:
    RuleSearch(const SetCells& cells, const RuleOptions& options, const StopFlag& stop)
        : cells_(cells),
          options_(options),
          needed_(sum_to_reach(options.pi, cells.voters.size())),
          stop_(stop),
          shares_(cells.take()),
          rows_(cells, *shares_, needed_),
          good_(rows_.good),
          bad_(rows_.bad),
          proof_(cells, *shares_, needed_, options.max_regions, stop) {}

    RuleResult run(const float* row, const RankRange& outcome) {
        const std::size_t n_columns = cells_.columns.size();
        x_.resize(n_columns);
        for (std::size_t c = 0; c < n_columns; ++c)
            x_[c] = ForestColumn::interval(cells_.forest_columns[c]->code(row[cells_.columns[c]]));
        shares_->set_outcome(outcome, needed_);
        RuleResult rule;
        const double sum = shares_->sum_at(x_);
        rule.sdp = sum / static_cast<double>(cells_.voters.size());
        rule.exists = sum >= needed_;
        if (!rule.exists) return rule;
        rows_.find(x_);
        rule.n_looked_at = rows_.n_looked_at;
        search(rule);
        return rule;
    }

  private:
    void search(RuleResult& rule) {
        Branch root{{}, largest_box(), x_};
        apply_forced_cuts(root.box, bad_, x_);  // every good box lies in the rest
        good_.keep_those_that_meet(root.box);
        all_bad_ = bad_;
        const CodeBox widest = root.box;
        proof_.start(x_, widest);
        // A box that maximises rows need not reach beyond x and the good rows. Few bad points lie among these.
        if (!options_.by_volume) root.box = good_.hull_with(x_, root.box);
        bad_.keep_those_that_meet(root.box);
        keep_foremost_bad();
        counts_.index(good_, good_.n_rows(), root.box);
        accept(rule, x_, value_of(x_));  // all points with the codes of x have the cells of x
        root.value = value_of(root.box);
        dive(root, rule);
        rule.bound = branch_and_bound(root, rule);
        rule.is_optimal = rule.bound <= rule.value;
        if (!options_.by_volume) move_ends(rule.box, widest);
        rule.mean_sdp = rows_.mean_sdp(rule.box);
        rule.holds_everywhere = options_.everywhere || proof_.check(rule.box) == Proof::kGood;
    }

    // Moves the ends of a box, as far as it can be proven to remain good.
    void move_ends(CodeBox& box, const CodeBox& widest) {
        const CodeBox rows = good_.hull_with(x_, box);
        for (;;) {
            CodeBox moved = box;
            place_ends(moved, widest, rows, all_bad_, cells_.forest_columns);
            const Proof proof = prove(moved);
            if (proof == Proof::kGood) box = std::move(moved);
            if (proof != Proof::kBad) return;
        }
    }

    static void accept(RuleResult& rule, const CodeBox& box, double value) {
        rule.box = box;
        rule.value = value;
    }

    // Improves the rule as far as possible, and returns an upper bound of the value of any rule.
    double branch_and_bound(const Branch& root, RuleResult& rule) {
        std::priority_queue<Branch> queue;
        queue.push(root);
        std::size_t n_nodes = 0, n_made = 1;
        while (!queue.empty() && queue.top().value > rule.value && n_nodes++ < options_.max_nodes && !stop_) {
            Branch branch = queue.top();
            queue.pop();
            if (!tighten(branch, rule.value)) continue;
            if (cuts_.empty()) {
                const Proof proof = prove(branch.box);
                if (proof == Proof::kGood)
                    accept(rule, branch.box, branch.value);
                else
                    queue.push(std::move(branch));  // to be cut again, now that bad_ has the bad region
                if (proof == Proof::kOutOfBudget) break;
                continue;
            }
            // A box to which several cuts lead is searched in the branch of the first of them only.
            for (const Cut& cut : cuts_) {
                Branch child = branch;
                child.box[cut.column] = cut.side;
                child.value = cut.value;
                child.order = n_made++;
                queue.push(std::move(child));
                extend_core(branch, cut.column, bad_[cut_off_]);
            }
        }
        return queue.empty() ? rule.value : std::max(rule.value, queue.top().value);
    }

    // Finds a good box to start with: cuts off one bad thing after the other, each time by the cut that keeps most.
    void dive(Branch branch, RuleResult& rule) {
        while (tighten(branch, -1.0)) {
            if (cuts_.empty()) {
                const Proof proof = prove(branch.box);
                if (proof == Proof::kGood) accept(rule, branch.box, branch.value);
                if (proof != Proof::kBad) return;
                continue;
            }
            const Cut& best = *std::max_element(cuts_.begin(), cuts_.end());
            branch.box[best.column] = best.side;
        }
    }

    // If the rule must hold everywhere, proves that a box without bad rows does, or adds a bad region to those known.
    Proof prove(const CodeBox& box) {
        if (!options_.everywhere) return Proof::kGood;
        const Proof proof = proof_.check(box);
        if (proof == Proof::kBad)
            for (CodeBoxes* bad : {&bad_, &all_bad_}) bad->append(proof_.bad_region().data());
        return proof;
    }

    // Makes the box of a branch smaller and its core larger, as long as this loses no good box whose value exceeds
    // `least`. Returns false if the branch has no such box. Otherwise cuts_ are the cuts to branch on, which cut off
    // bad_[cut_off_]; there are none if the box has nothing bad.
    bool tighten(Branch& branch, double least) {
        for (bool changed = true; changed;) {
            changed = false;
            branch.value = options_.by_volume ? volume_of(branch.box) : static_cast<double>(counts_.add_up(branch.box));
            if (branch.value <= least) return false;
            cuts_.clear();
            double least_value = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < bad_.size(); ++i) {
                const CodeInterval* bad = bad_[i];
                if (!meet(branch.box, bad)) continue;
                changed |= find_cuts(branch, bad, least);
                if (new_cuts_.empty()) return false;
                if (new_cuts_.size() == 1) {
                    // The counts are now those of a larger box. They are still upper bounds for this one.
                    branch.box[new_cuts_[0].column] = new_cuts_[0].side;
                    changed = true;
                    continue;
                }
                double value = 0.0;
                for (const Cut& cut : new_cuts_) value = std::max(value, cut.value);
                if (value < least_value) least_value = value, cut_off_ = i, cuts_ = new_cuts_;
            }
        }
        return true;
    }

    // Fills new_cuts_ with the cuts that cut `bad` off and may lead to a value above `least`. In a column where no cut
    // does, the core is extended up to `bad`. Returns whether the core changed.
    bool find_cuts(Branch& branch, const CodeInterval* bad, double least) {
        bool changed = false;
        new_cuts_.clear();
        for (std::size_t c = 0; c < branch.box.size(); ++c) {
            bool has_cut = false, has_better = false;
            for_each_cut(branch.box[c], bad[c], branch.core[c], [&](const CodeInterval& side) {
                has_cut = true;
                const double value = value_with_side(branch.box, c, side);
                if (value > least) new_cuts_.push_back({c, side, value}), has_better = true;
            });
            if (has_cut && !has_better) changed |= extend_core(branch, c, bad);
        }
        return changed;
    }

    // The largest box that a rule may have. Missing values are left out of a column where the data have none, since
    // nothing is known about them there.
    CodeBox largest_box() const {
        CodeBox box(cells_.columns.size());
        for (std::size_t c = 0; c < box.size(); ++c) {
            box[c] = {0, cells_.forest_columns[c]->largest_code(), cells_.rows[c]->has_missing || x_[c].missing};
        }
        return box;
    }

    // Removes each bad point that has another one between itself and x: a box that cuts off the nearer one cuts off
    // both, since a box that contains x and a point contains everything between them.
    void keep_foremost_bad() {
        std::vector<std::pair<std::size_t, std::size_t>> by_distance;
        for (std::size_t i = 0; i < bad_.size(); ++i) by_distance.emplace_back(distance_to_x(bad_[i]), i);
        std::sort(by_distance.begin(), by_distance.end());
        CodeBoxes foremost(x_.size());
        CodeBox between(x_.size());
        for (const auto& [distance, i] : by_distance) {
            for (std::size_t c = 0; c < between.size(); ++c) between[c] = hull(x_[c], bad_[i][c]);
            if (!foremost.any_meets(between)) foremost.append(bad_[i]);
        }
        bad_ = std::move(foremost);
    }

    // The number of codes to pass in all columns.
    std::size_t distance_to_x(const CodeInterval* bad) const {
        std::size_t distance = 0;
        for (std::size_t c = 0; c < x_.size(); ++c) {
            if (meet(x_[c], bad[c])) continue;
            const bool both = x_[c].has_values() && bad[c].has_values();
            distance += !both ? 1 : x_[c].lo < bad[c].lo ? bad[c].lo - x_[c].lo : x_[c].lo - bad[c].hi;
        }
        return distance;
    }

    double value_of(const CodeBox& box) const {
        return options_.by_volume ? volume_of(box) : static_cast<double>(good_.count_rows(box));
    }

    // The value of a box with another side in one column; if rows count, that of the box that was counted last.
    double value_with_side(CodeBox& box, std::size_t c, const CodeInterval& side) const {
        if (!options_.by_volume) return static_cast<double>(counts_.with_side(c, side));
        const CodeInterval whole = std::exchange(box[c], side);
        const double volume = volume_of(box);
        box[c] = whole;
        return volume;
    }

    // The share of the range of the data that a box takes up. A column with a single value does not count.
    double volume_of(const CodeBox& box) const {
        double volume = 1.0;
        for (std::size_t c = 0; c < box.size(); ++c) {
            const ForestColumn& column = *cells_.forest_columns[c];
            const float smallest = cells_.rows[c]->smallest, largest = cells_.rows[c]->largest;
            if (!(smallest < largest)) continue;
            if (!box[c].has_values()) return 0.0;
            const std::vector<float>& t = column.thresholds;
            const float low = box[c].lo == 0 ? smallest : std::clamp(t[box[c].lo - 1], smallest, largest);
            const float high = box[c].hi == t.size() ? largest : std::clamp(t[box[c].hi], smallest, largest);
            volume *= (static_cast<double>(high) - low) / (static_cast<double>(largest) - smallest);
        }
        return volume;
    }

    const SetCells& cells_;
    RuleOptions options_;
    double needed_;  // the sum of the shares at a good point
    const StopFlag& stop_;
    std::shared_ptr<OutcomeShares> shares_;
    RowsAround rows_;
    CodeBoxes &good_, &bad_;  // training points; bad_ has bad regions as well, and lacks what need not be cut off
    BoxProof proof_;
    CodeBox x_;                          // one code, or a missing value, in each column
    CodeBoxes all_bad_;                  // as bad_, and nothing is left out
    GoodWeights<std::uint32_t> counts_;  // of training rows
    std::vector<Cut> cuts_, new_cuts_;
    std::size_t cut_off_ = 0;  // position in bad_ of what cuts_ cut off
};

}  // namespace suffice
