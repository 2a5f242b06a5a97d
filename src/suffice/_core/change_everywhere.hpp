// The most plausible box in which the forest gives the wanted outcome everywhere (docs/method.md, 7.3). Exact, by
// best-first branch and bound: a box with something bad in it is replaced by its largest parts without that.
#pragma once

#include <limits>
#include <queue>
#include <set>

#include "free_set.hpp"
#include "parallel.hpp"

namespace suffice {

// Proves that the forest gives the wanted outcome with a probability of at least pi at every point of a box.
class ChangeProof {
  public:
    // `needed` is the sum of the shares that a point must reach.
    ChangeProof(const LeafBoxes& leaves, double needed, const StopFlag& stop)
        : leaves_(leaves), needed_(needed), stop_(stop), most_after_(leaves.begin.size(), 0.0) {
        for (std::size_t t = leaves.n_trees(); t-- > 0;) {
            double most = 0.0;
            for (std::size_t leaf = leaves.begin[t]; leaf < leaves.begin[t + 1]; ++leaf)
                most = std::max(most, leaves.share[leaf]);
            most_after_[t] = most_after_[t + 1] + most;
        }
    }

    // The sum of the shares at a single point; something less than `needed` if the sum is less. Without axes beyond
    // those of the set, every tree has one leaf for the point. Otherwise the largest sum that it can have is bounded.
    double sum_at(const CodeInterval* point, double needed) const {
        if (!leaves_.rest.empty()) return bounds_in(with_rest(point)).most;
        double sum = 0.0;
        for (std::size_t t = 0; t < leaves_.n_trees(); ++t) {
            // The margin is wider than the rounding errors of the sums.
            if (sum + most_after_[t] < needed - kRounding) return sum;
            for (std::size_t leaf = leaves_.begin[t]; leaf < leaves_.begin[t + 1]; ++leaf) {
                if (!meet(point, leaves_[leaf], leaves_.n_axes)) continue;
                sum += leaves_.share[leaf];
                break;
            }
        }
        return sum;
    }

    bool is_good_point(const CodeInterval* point) {
        return leaves_.rest.empty() ? sum_at(point, needed_) >= needed_ : check(point) == Proof::kGood;
    }

    // `box` has one interval for each axis of the set.
    Proof check(const CodeInterval* box) {
        stack_.assign(1, with_rest(box));
        while (!stack_.empty()) {
            if (stop_ || ++n_regions_ > kMaxRegions) return Proof::kOutOfBudget;
            const CodeBox region = std::move(stack_.back());
            stack_.pop_back();
            const Bounds bounds = bounds_in(region);
            if (bounds.least >= needed_) continue;
            if (bounds.most < needed_ || !cut(region, bounds.widest_tree)) {
                bad_region_ = region;
                return Proof::kBad;
            }
        }
        return Proof::kGood;
    }

    // The region that the last call of `check` found bad: each of its points is bad for some row of the region. The
    // axes beyond those of the set come last.
    const CodeBox& bad_region() const { return bad_region_; }

  private:
    static constexpr std::size_t kMaxRegions = 500'000;  // to check in the proofs for one set; not tuned

    struct Bounds {
        double least = 0.0, most = 0.0;
        std::size_t widest_tree = 0;  // the tree whose shares are farthest apart
    };

    // A box with all positions of the axes beyond those of the set.
    CodeBox with_rest(const CodeInterval* box) const {
        CodeBox whole(box, box + leaves_.n_axes);
        whole.insert(whole.end(), leaves_.rest.begin(), leaves_.rest.end());
        return whole;
    }

    Bounds bounds_in(const CodeBox& box) const {
        Bounds bounds;
        double widest = -1.0;
        for (std::size_t t = 0; t < leaves_.n_trees(); ++t) {
            double least = std::numeric_limits<double>::infinity(), most = 0.0;
            for (std::size_t leaf = leaves_.begin[t]; leaf < leaves_.begin[t + 1]; ++leaf) {
                if (!meet(box, leaves_[leaf])) continue;
                least = std::min(least, leaves_.share[leaf]);
                most = std::max(most, leaves_.share[leaf]);
            }
            least = std::min(least, most);  // no leaf meets the box only if limits exclude all of it
            bounds.least += least;
            bounds.most += most;
            if (most - least > widest) widest = most - least, bounds.widest_tree = t;
        }
        return bounds;
    }

    // Cuts a region where a leaf of a tree ends in it, and puts the parts on the stack. Returns false if none does.
    bool cut(const CodeBox& region, std::size_t tree) {
        for (std::size_t leaf = leaves_.begin[tree]; leaf < leaves_.begin[tree + 1]; ++leaf) {
            if (!meet(region, leaves_[leaf])) continue;
            for (std::size_t c = 0; c < region.size(); ++c) {
                const CodeInterval &whole = region[c], &side = leaves_[leaf][c];
                if (hull(whole, side) == side) continue;
                const auto [first, second] = whole.missing && whole.has_values()
                                                 ? std::pair(kOnlyMissing, CodeInterval{whole.lo, whole.hi, false})
                                                 : parts(whole, whole.lo < side.lo ? side.lo - 1 : side.hi, false);
                for (const CodeInterval& part : {first, second}) {
                    stack_.push_back(region);
                    stack_.back()[c] = part;
                }
                return true;
            }
        }
        return false;
    }

    const LeafBoxes& leaves_;
    double needed_;
    const StopFlag& stop_;
    std::size_t n_regions_ = 0;
    std::vector<double> most_after_;  // by tree: the largest shares of it and the trees after it, added up
    std::vector<CodeBox> stack_;
    CodeBox bad_region_;
};

class EverywhereSearch {
  public:
    // Divides the points into good and bad ones. No box may meet one of those that are `forbidden`.
    EverywhereSearch(const FreeSet& free, const CodeBoxes& forbidden, const ChangeOptions& options,
                     const StopFlag& stop)
        : free_(free),
          proof_(free.leaves, sum_to_reach(options.pi, free.leaves.n_trees()), stop),
          max_nodes_(options.max_nodes),
          stop_(stop),
          good_(free.whole.size()),
          bad_(free.whole.size()) {
        const WeightedPoints& points = free.points;
        for (std::size_t p = 0; p < points.size(); ++p) {
            if (proof_.is_good_point(points[p])) {
                good_.append(points[p]);
                weight_.push_back(points.wanted[p] + points.other[p]);
                most_ += weight_.back();
            } else {
                bad_.append(points[p]);
            }
        }
        for (std::size_t i = 0; i < forbidden.size(); ++i) bad_.append(forbidden[i]);
        in_box_.index(good_, weight_, free_.whole);
    }

    // The weight of the good points: no box has more.
    double most() const { return most_; }

    // The best box of more than `least` that meets nothing forbidden.
    FoundChange run(double least) {
        std::priority_queue<Branch> queue;
        std::set<std::vector<std::uint32_t>> seen;
        queue.push({{std::numeric_limits<double>::infinity(), 0}, free_.whole, {}});
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
    void grow(CodeBox& box) {
        for (const bool towards_start : {true, false})
            for (std::size_t c = 0; c < box.size(); ++c) {
                if (!box[c].has_values() || !free_.whole[c].has_values()) continue;
                for (const bool upwards : {false, true}) {
                    const bool is_towards = free_.start[c].has_values() &&
                                            (upwards ? free_.start[c].lo > box[c].hi : free_.start[c].hi < box[c].lo);
                    if (is_towards == towards_start) grow_side(box, c, upwards);
                }
            }
        for (std::size_t c = 0; c < box.size(); ++c) {
            if (box[c].missing || !free_.whole[c].missing) continue;
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
            if (proof == Proof::kOutOfBudget || cuts_.empty()) return {};
            const Cut& best = *std::max_element(cuts_.begin(), cuts_.end());
            box[best.column] = best.side;
        }
    }

    bool is_good(const CodeBox& box) { return !bad_.any_meets(box) && proof_.check(box.data()) == Proof::kGood; }

    // To the last position if the whole side is good, or else step by step.
    void grow_side(CodeBox& box, std::size_t c, bool upwards) {
        std::uint32_t& end = upwards ? box[c].hi : box[c].lo;
        const std::uint32_t last = upwards ? free_.whole[c].hi : free_.whole[c].lo;
        std::uint32_t good = std::exchange(end, last);
        if (good == last || is_good(box)) return;
        for (end = good; end != last; good = end) {
            upwards ? ++end : --end;
            if (!is_good(box)) break;
        }
        end = good;
    }

    const FreeSet& free_;
    ChangeProof proof_;
    std::size_t max_nodes_;
    const StopFlag& stop_;
    CodeBoxes good_, bad_;        // points; bad_ also has bad regions and what is forbidden
    std::vector<double> weight_;  // by good point
    double most_ = 0.0;           // the sum of these
    GoodWeights<double> in_box_;
    std::vector<Cut> cuts_, new_cuts_;
};

}  // namespace suffice
