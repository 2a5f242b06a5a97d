// The most plausible box whose rows have the wanted outcome with a probability of at least pi (docs/method.md, 7.3).
// Exact, by best-first branch and bound over the ranges in which the ends of the box lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "box.hpp"
#include "change_axes.hpp"
#include "free_set.hpp"
#include "parallel.hpp"
#include "thresholds.hpp"

namespace suffice {

class MeanSearch {
  public:
    MeanSearch(const FreeSet& free, const WeightedPoints& points, const CodeBoxes& forbidden,
               const ChangeOptions& options, const StopFlag& stop)
        : pi_(options.pi - kRounding),
          max_nodes_(options.max_nodes),
          stop_(stop),
          whole_(free.whole()),
          points_(points),
          forbidden_(forbidden) {}

    // A bound of the weight of any box.
    double most() const {
        double wanted = 0.0, other = 0.0;
        for (std::size_t p = 0; p < points_.size(); ++p) wanted += points_.wanted[p], other += points_.other[p];
        return bound_of(wanted, other);
    }

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
        for_each_part_without(whole_, forbidden_, [&](const CodeBox& box) { for_each_start(box, push); });
        while (!queue.empty() && queue.top().value > found.value + kTie) {
            if (n_nodes++ >= max_nodes_ || stop_) break;
            const Part part = queue.top();
            queue.pop();
            if (part.is_good) {  // the whole of it is a box of the value of the bound
                found.exists = true;
                found.box = outer(part);
                found.value = part.value;
                continue;
            }
            const auto [axis, is_low] = widest(part);
            if (axis == part.ends.size()) continue;
            for (Part& half : halves(part, axis, is_low)) push(std::move(half));
        }
        if (!queue.empty() && !found.exists) found = dive(outer(queue.top()), least);
        found.bound = queue.empty() ? found.value : std::max(found.value, queue.top().value);
        if (found.exists) found.box = hull_of_points(found.box);
        return found;
    }

    // Moves each end to the middle between the rows in the box and the next row or the start beyond; an end with
    // nothing beyond is left open.
    void grow(CodeBox& box, const CodeBox& start) const {
        CodeBox wider = box;
        for (std::size_t c = 0; c < box.size(); ++c) {
            if (!box[c].has_values()) continue;
            std::int64_t below = -1, above = static_cast<std::int64_t>(whole_[c].hi) + 1;
            bool has_below = false, has_above = false;
            const auto note = [&](const CodeInterval& at) {
                if (!at.has_values()) return;
                if (at.hi < box[c].lo) below = std::max<std::int64_t>(below, at.hi), has_below = true;
                if (at.lo > box[c].hi) above = std::min<std::int64_t>(above, at.lo), has_above = true;
            };
            note(start[c]);
            for (std::size_t p = 0; p < points_.size(); ++p) note(points_[p][c]);
            wider[c].lo = has_below ? static_cast<std::uint32_t>((below + 1 + box[c].lo) / 2) : whole_[c].lo;
            wider[c].hi = has_above ? static_cast<std::uint32_t>((above - 1 + box[c].hi + 1) / 2) : whole_[c].hi;
        }
        if (!forbidden_.any_meets(wider)) box = std::move(wider);
    }

  private:
    // Values of equal boxes differ by rounding errors, which stay below 1e-13 for weights that sum up to 1. Not tuned.
    static constexpr double kTie = 1e-12;

    struct Ends {
        std::uint32_t lo_first, lo_last, hi_first, hi_last;  // where the ends may lie
        bool has_values, missing;
    };
    struct Part : Queued {  // its value is an upper bound
        std::vector<Ends> ends;
        bool is_good = false;
    };

    double bound_of(double wanted, double other) const {
        return wanted + (pi_ > 0.0 ? std::min(other, wanted * (1.0 - pi_) / pi_) : other);
    }

    // With and without missing values, in every axis that may have them.
    template <class Push>
    static void for_each_start(const CodeBox& box, const Push& push) {
        std::vector<Part> parts(1);
        for (const CodeInterval& side : box) {
            std::vector<Part> longer;
            const auto add = [&](const Part& part, bool has_values, bool missing) {
                longer.push_back(part);
                longer.back().ends.push_back({side.lo, side.hi, side.lo, side.hi, has_values, missing});
            };
            for (const Part& part : parts) {
                if (side.has_values()) add(part, true, false);
                if (side.missing) add(part, false, true);
                if (side.has_values() && side.missing) add(part, true, true);
            }
            parts = std::move(longer);
        }
        for (Part& part : parts) push(std::move(part));
    }

    static CodeBox outer(const Part& part) {
        CodeBox box;
        for (const Ends& e : part.ends)
            box.push_back(e.has_values ? CodeInterval{e.lo_first, e.hi_last, e.missing}
                                       : CodeInterval{1, 0, e.missing});
        return box;
    }

    // Computes the bound of a part. Returns false if it has no box.
    bool measure(Part& part) const {
        double wanted = 0.0, other = 0.0, other_inside = 0.0;
        for (std::size_t p = 0; p < points_.size(); ++p) {
            bool is_outside = false, is_inside = true;
            for (std::size_t c = 0; c < part.ends.size(); ++c) {
                const Ends& e = part.ends[c];
                const CodeInterval& at = points_[p][c];
                if (at.missing) {
                    is_outside |= !e.missing;
                } else {
                    is_outside |= !e.has_values || at.lo < e.lo_first || at.lo > e.hi_last;
                    is_inside &= at.lo >= e.lo_last && at.lo <= e.hi_first;
                }
            }
            if (is_outside) continue;
            wanted += points_.wanted[p];
            other += points_.other[p];
            if (is_inside) other_inside += points_.other[p];
        }
        if (!(wanted > 0.0) || other_inside * pi_ > wanted * (1.0 - pi_) + kTie) return false;
        part.value = bound_of(wanted, other);
        part.is_good = wanted >= pi_ * (wanted + other);
        if (part.is_good) part.value = wanted + other;
        return true;
    }

    static std::pair<std::size_t, bool> widest(const Part& part) {
        std::size_t axis = part.ends.size();
        bool is_low = false;
        std::uint32_t most = 0;
        for (std::size_t c = 0; c < part.ends.size(); ++c) {
            const Ends& e = part.ends[c];
            if (!e.has_values) continue;
            if (e.lo_last - e.lo_first > most) most = e.lo_last - e.lo_first, axis = c, is_low = true;
            if (e.hi_last - e.hi_first > most) most = e.hi_last - e.hi_first, axis = c, is_low = false;
        }
        return {axis, is_low};
    }

    static std::vector<Part> halves(const Part& part, std::size_t axis, bool is_low) {
        std::vector<Part> out(2, part);
        Ends &first = out[0].ends[axis], &second = out[1].ends[axis];
        if (is_low) {
            const std::uint32_t middle = first.lo_first + (first.lo_last - first.lo_first) / 2;
            first.lo_last = middle;
            second.lo_first = middle + 1;
            second.hi_first = std::max(second.hi_first, second.lo_first);
        } else {
            const std::uint32_t middle = first.hi_first + (first.hi_last - first.hi_first) / 2;
            first.hi_last = middle;
            first.lo_last = std::min(first.lo_last, middle);
            second.hi_first = middle + 1;
        }
        return out;
    }

    // A good box of more than `least`, by always giving up the end that has the most of other outcomes.
    FoundChange dive(CodeBox box, double least) const {
        for (;;) {
            double wanted = 0.0, other = 0.0;
            for (std::size_t p = 0; p < points_.size(); ++p)
                if (meet(box, points_[p])) wanted += points_.wanted[p], other += points_.other[p];
            if (wanted + other <= least) return {};
            if (wanted >= pi_ * (wanted + other)) return {true, std::move(box), wanted + other, wanted + other};
            box = hull_of_points(box);
            CodeBox best = box;
            double most = -1.0;
            for (std::size_t c = 0; c < box.size(); ++c)
                for (const bool is_low : {true, false}) {
                    if (!box[c].has_values() || (box[c].lo == box[c].hi && !box[c].missing)) continue;
                    CodeBox end = box, rest = box;
                    const std::uint32_t at = is_low ? box[c].lo : box[c].hi;
                    end[c] = {at, at, false};
                    rest[c] = is_low ? CodeInterval{at + 1, box[c].hi, box[c].missing}
                              : at   ? CodeInterval{box[c].lo, at - 1, box[c].missing}
                                     : CodeInterval{1, 0, box[c].missing};
                    double gain = 0.0;
                    for (std::size_t p = 0; p < points_.size(); ++p)
                        if (meet(end, points_[p])) gain += pi_ * points_.other[p] - (1.0 - pi_) * points_.wanted[p];
                    if (gain > most) most = gain, best = std::move(rest);
                }
            if (most < 0.0 && best == box) return {};
            box = std::move(best);
        }
    }

    CodeBox hull_of_points(const CodeBox& box) const {
        return points_.positions.hull_with(CodeBox(box.size(), kNothing), box);
    }

    double pi_;
    std::size_t max_nodes_;
    const StopFlag& stop_;
    CodeBox whole_;
    const WeightedPoints& points_;
    const CodeBoxes& forbidden_;
};

}  // namespace suffice
