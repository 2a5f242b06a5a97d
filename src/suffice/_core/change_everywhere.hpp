// The most plausible box in which the forest gives the wanted outcome everywhere (docs/method.md, 7.3). Exact, by
// best-first branch and bound: a box with something bad in it is replaced by its largest parts without that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "free_set.hpp"
#include "parallel.hpp"

namespace suffice {

class EverywhereSearch {
  public:
    // Divides the points into good and bad ones. No box may meet one of those that are `forbidden`.
    EverywhereSearch(const FreeSet& free, const WeightedPoints& points, const CodeBoxes& forbidden,
                     const ChangeOptions& options, const StopFlag& stop)
        : proof_(free.leaves(), sum_to_reach(options.pi, free.leaves().n_trees()), options.max_regions, stop),
          max_nodes_(options.max_nodes),
          stop_(stop),
          whole_(free.whole()),
          good_(whole_.size()),
          bad_(whole_.size()) {
        for (std::size_t p = 0; p < points.size(); ++p) {
            if (proof_.is_good_point(points[p])) {
                good_.append(points[p]);
                weight_.push_back(points.weight(p));
                most_ += weight_.back();
            } else {
                bad_.append(points[p]);
            }
        }
        for (std::size_t i = 0; i < forbidden.size(); ++i) bad_.append(forbidden[i]);
        in_box_.index(good_, weight_, whole_);
    }

    // The weight of the good points: no box has more.
    double most() const { return most_; }

    // The best box of more than `least` that meets nothing forbidden.
    FoundChange run(double least) {
        std::priority_queue<Branch> queue;
        std::set<std::vector<std::uint32_t>> seen;
        queue.push({{std::numeric_limits<double>::infinity(), 0}, whole_, {}});
        std::size_t n_nodes = 0, n_made = 1;
        while (!queue.empty()) {
            if (queue.top().value <= least) return {};
            if (n_nodes++ >= max_nodes_ || stop_) break;
            Branch part = queue.top();
            queue.pop();
            part.value = tighten(part.box);
            if (part.value <= least) continue;
            if (!queue.empty() && part.value < queue.top().value) {  // its bound was larger than its value
                queue.push(std::move(part));
                continue;
            }
            if (!seen.insert(key_of(part.box)).second) continue;
            const Proof proof = prove(part.box);
            if (proof == Proof::kGood) return {true, part.box, part.value, part.value};
            if (proof == Proof::kOutOfBudget) {
                queue.push(std::move(part));
                break;
            }
            for (const Cut& cut : cuts_) {
                if (cut.value <= least) continue;
                CodeBox child = part.box;
                child[cut.column] = cut.side;
                queue.push({{cut.value, n_made++}, std::move(child), {}});
            }
        }
        if (queue.empty()) return {};
        FoundChange found = dive(queue.top().box, least);
        found.bound = queue.top().value;
        return found;
    }

    // Moves the ends of a box outwards as long as it stays good and meets nothing forbidden. Ends towards the row come
    // first, so that the change is as small as possible.
    void grow(CodeBox& box, const CodeBox& start) {
        for (const bool towards_start : {true, false})
            for (std::size_t c = 0; c < box.size(); ++c) {
                if (!box[c].has_values() || !whole_[c].has_values()) continue;
                for (const bool upwards : {false, true}) {
                    const bool is_towards =
                        start[c].has_values() && (upwards ? start[c].lo > box[c].hi : start[c].hi < box[c].lo);
                    if (is_towards == towards_start) grow_side(box, c, upwards);
                }
            }
        for (std::size_t c = 0; c < box.size(); ++c) {
            if (box[c].missing || !whole_[c].missing) continue;
            box[c].missing = true;
            if (!is_good(box)) box[c].missing = false;
        }
    }

  private:
    static std::vector<std::uint32_t> key_of(const CodeBox& box) {
        std::vector<std::uint32_t> key;
        for (const CodeInterval& side : box) key.insert(key.end(), {side.lo, side.hi, side.missing});
        return key;
    }

    // Makes the box the smallest one around the good points in it, and returns their weight. The weights are kept for
    // `find_cuts`.
    double tighten(CodeBox& box) {
        const double sum = in_box_.add_up(box);
        CodeBox hull_of_good(box.size(), kNothing);
        for (const std::uint32_t p : in_box_.inside())
            for (std::size_t c = 0; c < box.size(); ++c) hull_of_good[c] = hull(hull_of_good[c], good_[p][c]);
        if (sum > 0.0) box = std::move(hull_of_good);
        return sum;
    }

    // Fills cuts_ with the ways to cut one bad thing off: the one whose best cut keeps least. Returns false if there is
    // nothing bad in the box. The weights must be those of the box.
    bool find_cuts(const CodeBox& box) {
        double least = std::numeric_limits<double>::infinity();
        cuts_.clear();
        for (std::size_t i = 0; i < bad_.size(); ++i) {
            const CodeInterval* bad = bad_[i];
            if (!meet(box, bad)) continue;
            new_cuts_.clear();
            double most = 0.0;
            for (std::size_t c = 0; c < box.size(); ++c)
                for_each_cut(box[c], bad[c], kNothing, [&](const CodeInterval& side) {
                    if (side.is_empty()) return;
                    new_cuts_.push_back({c, side, in_box_.with_side(c, side)});
                    most = std::max(most, new_cuts_.back().value);
                });
            if (most < least) least = most, std::swap(cuts_, new_cuts_);
        }
        return least < std::numeric_limits<double>::infinity();
    }

    // Proves that a box is good. If something in it is bad, cuts_ has the ways to cut that off.
    Proof prove(const CodeBox& box) {
        while (!find_cuts(box)) {
            const Proof proof = proof_.check(box.data());
            if (proof != Proof::kBad) return proof;
            bad_.append(proof_.bad_region().data());
        }
        return Proof::kBad;
    }

    // A good box of more than `least`, by always following the best cut.
    FoundChange dive(CodeBox box, double least) {
        for (;;) {
            const double value = tighten(box);
            if (value <= least) return {};
            const Proof proof = prove(box);
            if (proof == Proof::kGood) return {true, box, value, value};
            if (proof == Proof::kOutOfBudget) return {};
            if (cuts_.empty()) return {};
            const Cut& best = *std::max_element(cuts_.begin(), cuts_.end());
            box[best.column] = best.side;
        }
    }

    bool is_good(const CodeBox& box) { return !bad_.any_meets(box) && proof_.check(box.data()) == Proof::kGood; }

    void grow_side(CodeBox& box, std::size_t c, bool upwards) {
        std::uint32_t& end = upwards ? box[c].hi : box[c].lo;
        const std::uint32_t last = upwards ? whole_[c].hi : whole_[c].lo, before = end;
        if (end == last) return;
        end = last;
        if (is_good(box)) return;
        end = before;
        while (end != last) {
            upwards ? ++end : --end;
            if (is_good(box)) continue;
            upwards ? --end : ++end;
            return;
        }
    }

    ChangeProof proof_;
    std::size_t max_nodes_;
    const StopFlag& stop_;
    CodeBox whole_;
    CodeBoxes good_, bad_;        // points; bad_ also has bad regions and what is forbidden
    std::vector<double> weight_;  // by good point
    double most_ = 0.0;           // the sum of these
    GoodWeights<double> in_box_;
    std::vector<Cut> cuts_, new_cuts_;
};

}  // namespace suffice
