// The most plausible box whose rows have the wanted outcome with a probability of at least pi (docs/method.md, 7.3).
// Exact, by best-first branch and bound over the ranges in which the ends of the box lie.
#pragma once

#include <optional>
#include <queue>

#include "free_set.hpp"
#include "parallel.hpp"

namespace suffice {

class MeanSearch {
  public:
    MeanSearch(const FreeSet& free, const CodeBoxes& forbidden, const ChangeOptions& options, const StopFlag& stop)
        : free_(free),
          points_(free.points),
          forbidden_(forbidden),
          pi_(options.pi - kRounding),
          max_nodes_(options.max_nodes),
          stop_(stop) {}

    // A bound of the weight of any box.
    double most() const { return bound_of(weigh(free_.whole)); }

    // The best box of more than `least` that meets none of the forbidden ones.
    FoundChange run(double least) {
        FoundChange found;
        std::priority_queue<Part> queue;
        std::size_t n_made = 0, n_nodes = 0;
        const auto push = [&](Part part) {
            if (!measure(part) || part.value <= std::max(least, found.value)) return;
            part.order = n_made++;
            queue.push(std::move(part));
        };
        for_each_allowed_part([&](const CodeBox& box) { for_each_start(box, push); });
        while (!queue.empty() && queue.top().value > found.value + kTie) {
            if (n_nodes++ >= max_nodes_ || stop_) break;
            const Part part = queue.top();
            queue.pop();
            if (part.is_good)  // the whole of it is a box of the value of the bound
                found = {true, part.box, part.value, 0.0};
            else
                halve(part, push);
        }
        if (!queue.empty() && !found.exists) found = dive(queue.top().box, least);
        found.bound = queue.empty() ? found.value : std::max(found.value, queue.top().value);
        if (found.exists) found.box = hull_of_points(found.box);
        return found;
    }

    // Moves each end to the middle between the rows in the box and the next row or the start beyond; an end with
    // nothing beyond is left open.
    void grow(CodeBox& box) const {
        CodeBox wider = box;
        for (std::size_t c = 0; c < box.size(); ++c) {
            if (!box[c].has_values()) continue;
            std::optional<std::uint32_t> below, above;
            const auto note = [&](const CodeInterval& at) {
                if (!at.has_values()) return;
                if (at.hi < box[c].lo) below = std::max(below.value_or(0), at.hi);
                if (at.lo > box[c].hi) above = std::min(above.value_or(at.lo), at.lo);
            };
            note(free_.start[c]);
            for (std::size_t p = 0; p < points_.size(); ++p) note(points_[p][c]);
            wider[c].lo = below ? (*below + 1 + box[c].lo) / 2 : free_.whole[c].lo;
            wider[c].hi = above ? (*above + box[c].hi) / 2 : free_.whole[c].hi;
        }
        if (!forbidden_.any_meets(wider)) box = std::move(wider);
    }

  private:
    // Values of equal boxes differ by rounding errors, which stay below 1e-13 for weights that sum up to 1. Not tuned.
    static constexpr double kTie = 1e-12;

    // Where the ends may lie: from those of `box` to those of `core`, which may have passed each other.
    struct Part : Branch {
        bool is_good = false;  // so is `box`
    };
    struct Weights {
        double wanted = 0.0, other = 0.0;
    };

    Weights weigh(const CodeBox& box) const {
        Weights sum;
        for (std::size_t p = 0; p < points_.size(); ++p)
            if (meet(box, points_[p])) sum.wanted += points_.wanted[p], sum.other += points_.other[p];
        return sum;
    }

    double bound_of(const Weights& in) const {
        return in.wanted + (pi_ > 0.0 ? std::min(in.other, in.wanted * (1.0 - pi_) / pi_) : in.other);
    }
    bool reaches_pi(const Weights& in) const { return in.wanted >= pi_ * (in.wanted + in.other); }

    // The parts of the space of the set without what is forbidden: each is as large as possible, and they may overlap.
    template <class Do>
    void for_each_allowed_part(const Do& act) const {
        std::vector<std::pair<CodeBox, std::size_t>> stack{{free_.whole, 0}};
        while (!stack.empty()) {
            auto [box, i] = std::move(stack.back());
            stack.pop_back();
            while (i < forbidden_.size() && !meet(box, forbidden_[i])) ++i;
            if (i == forbidden_.size()) {
                act(box);
                continue;
            }
            for (std::size_t c = 0; c < box.size(); ++c)
                for_each_cut(box[c], forbidden_[i][c], kNothing, [&](const CodeInterval& side) {
                    if (side.is_empty()) return;
                    stack.emplace_back(box, i + 1);
                    stack.back().first[c] = side;
                });
        }
    }

    // With and without missing values, in every axis that may have them.
    template <class Push>
    static void for_each_start(const CodeBox& box, const Push& push) {
        std::vector<Part> parts(1);
        for (const CodeInterval& side : box) {
            std::vector<CodeInterval> starts{side};
            if (side.missing && side.has_values()) starts = {{side.lo, side.hi, false}, kOnlyMissing, side};
            std::vector<Part> longer;
            for (const Part& part : parts)
                for (const CodeInterval& start : starts) {
                    longer.push_back(part);
                    longer.back().box.push_back(start);
                    longer.back().core.push_back(start.has_values() ? CodeInterval{start.hi, start.lo, start.missing}
                                                                    : start);
                }
            parts = std::move(longer);
        }
        for (Part& part : parts) push(std::move(part));
    }

    // Computes the bound of a part. Returns false if it has no box.
    bool measure(Part& part) const {
        Weights in_box;
        double other_in_core = 0.0;
        for (std::size_t p = 0; p < points_.size(); ++p) {
            if (!meet(part.box, points_[p])) continue;
            in_box.wanted += points_.wanted[p];
            in_box.other += points_.other[p];
            if (meet(part.core, points_[p])) other_in_core += points_.other[p];
        }
        if (!(in_box.wanted > 0.0) || other_in_core * pi_ > in_box.wanted * (1.0 - pi_) + kTie) return false;
        part.is_good = reaches_pi(in_box);
        part.value = part.is_good ? in_box.wanted + in_box.other : bound_of(in_box);
        return true;
    }

    // Halves the widest range of an end, if there is one.
    template <class Push>
    static void halve(const Part& part, const Push& push) {
        std::size_t axis = 0;
        bool is_low = false;
        std::uint32_t most = 0;
        for (std::size_t c = 0; c < part.box.size(); ++c) {
            const CodeInterval &box = part.box[c], &core = part.core[c];
            if (!box.has_values()) continue;
            if (core.lo - box.lo > most) most = core.lo - box.lo, axis = c, is_low = true;
            if (box.hi - core.hi > most) most = box.hi - core.hi, axis = c, is_low = false;
        }
        if (most == 0) return;
        Part first = part, second = part;
        if (is_low) {
            first.core[axis].lo = part.box[axis].lo + most / 2;
            second.box[axis].lo = first.core[axis].lo + 1;
            second.core[axis].hi = std::max(second.core[axis].hi, second.box[axis].lo);
        } else {
            first.box[axis].hi = part.core[axis].hi + most / 2;
            first.core[axis].lo = std::min(first.core[axis].lo, first.box[axis].hi);
            second.core[axis].hi = first.box[axis].hi + 1;
        }
        push(std::move(first));
        push(std::move(second));
    }

    // A good box of more than `least`, by always giving up the end that has the most of other outcomes.
    FoundChange dive(CodeBox box, double least) const {
        for (;;) {
            const Weights in_box = weigh(box);
            const double value = in_box.wanted + in_box.other;
            if (value <= least) return {};
            if (reaches_pi(in_box)) return {true, std::move(box), value, value};
            box = hull_of_points(box);
            CodeBox best;
            double most = -1.0;
            for (std::size_t c = 0; c < box.size(); ++c) {
                if (!box[c].has_values() || (box[c].lo == box[c].hi && !box[c].missing)) continue;
                for (const std::uint32_t at : {box[c].lo, box[c].hi}) {
                    CodeBox end = box;
                    end[c] = {at, at, false};
                    double gain = 0.0;
                    for (std::size_t p = 0; p < points_.size(); ++p)
                        if (meet(end, points_[p])) gain += pi_ * points_.other[p] - (1.0 - pi_) * points_.wanted[p];
                    if (gain <= most) continue;
                    most = gain;
                    best = box;
                    for_each_cut(box[c], end[c], kNothing, [&](const CodeInterval& rest) { best[c] = rest; });
                }
            }
            if (best.empty()) return {};
            box = std::move(best);
        }
    }

    CodeBox hull_of_points(const CodeBox& box) const {
        return points_.positions.hull_with(CodeBox(box.size(), kNothing), box);
    }

    const FreeSet& free_;
    const WeightedPoints& points_;
    const CodeBoxes& forbidden_;
    double pi_;
    std::size_t max_nodes_;
    const StopFlag& stop_;
};

}  // namespace suffice
