// Proves that the SDP is at least pi at every point of a box, or finds a region of the box where it is not.
//
// Boxes are cut into regions, at splits of the projected trees and at the ends of boxes. In each region the shares in
// the trees lie between bounds: the region is good if the sum of the lower bounds is enough, and bad if that of the
// upper bounds is not. The boxes of one row overlap, so the regions form a tree that is kept while its rule is
// searched.
#pragma once

#include "parallel.hpp"
#include "set_cells.hpp"

namespace suffice {

class BoxProof {
  public:
    // `needed` is the sum of the shares that a point must reach.
    BoxProof(const SetCells& cells, OutcomeShares& shares, double needed, std::size_t max_regions, const StopFlag& stop)
        : cells_(cells), shares_(shares), needed_(needed), max_regions_(max_regions), stop_(stop) {}

    // Forgets all regions and starts a new budget. The boxes that are checked contain `x` and lie in `whole`.
    void start(const CodeBox& x, const CodeBox& whole) {
        x_ = x;
        sides_ = whole;
        for (std::size_t c = 0; c < whole.size(); ++c) {
            const CodeInterval& limits = cells_.all[c];
            sides_[c] = {std::max(whole[c].lo, limits.lo), std::min(whole[c].hi, limits.hi), whole[c].missing};
        }
        open_.clear();
        for (std::uint32_t t = 0; t < cells_.voters.size(); ++t) open_.push_back({t, 0});
        regions_.assign(1, {.end = static_cast<std::uint32_t>(open_.size())});
        n_regions_ = 0;
    }

    Proof check(const CodeBox& box) {
        stack_.assign(1, 0);
        while (!stack_.empty()) {
            const std::uint32_t i = stack_.back();
            stack_.pop_back();
            if (!meet(box, side(i))) continue;
            // What lies beyond the box is cut off first: no tree must grow there.
            if (regions_[i].state == State::kUnknown && regions_[i].children == 0 && !cut_off(i, box)) {
                if (stop_ || ++n_regions_ > max_regions_ || open_.size() > kMaxOpen) return Proof::kOutOfBudget;
                examine(i);
            }
            if (regions_[i].state == State::kGood) continue;
            if (regions_[i].state == State::kBad) {
                bad_.assign(side(i), side(i + 1));
                return Proof::kBad;
            }
            if (regions_[i].children == 0) divide(i, box);
            stack_.push_back(regions_[i].children + 1);
            stack_.push_back(regions_[i].children);
        }
        return Proof::kGood;
    }

    // The region that the last call of `check` found bad.
    const CodeBox& bad_region() const { return bad_; }

  private:
    // Levels of a subtree that `widen` looks into. 8 or 16 make proofs on the switch model twice as fast as none.
    static constexpr int kLookAhead = 16;
    static constexpr std::size_t kMaxOpen = std::size_t{1}
                                            << 24;  // entries of open_, where the budget ends too: 128 MiB

    enum class State : std::uint8_t { kUnknown, kGood, kBad, kMixed };

    // Where a tree may differ within a region: the root of the smallest subtree that has all its points.
    struct Open {
        std::uint32_t tree, node;
    };

    struct Region {
        State state = State::kUnknown;
        std::uint32_t children = 0;        // the first of two; 0 if it is not divided
        std::uint32_t begin = 0, end = 0;  // in open_: the trees that differ within it (or within its parent)
        double known = 0.0;                // the sum of the shares of the other trees
        std::uint32_t widest = 0;          // in open_: the tree whose bounds are farthest apart
    };

    const CodeInterval* side(std::uint32_t region) const { return sides_.data() + region * x_.size(); }

    // Bounds the sum of the shares in a region. Its trees are those of its parent.
    void examine(std::uint32_t i) {
        Region region = regions_[i];
        const CodeInterval* box = side(i);
        const std::uint32_t from = std::exchange(region.begin, static_cast<std::uint32_t>(open_.size()));
        double least = 0.0, most = 0.0, widest = -1.0;
        for (std::uint32_t k = from; k < regions_[i].end; ++k) {
            double low = 2.0, high = -1.0;
            const Open open{open_[k].tree, widen(open_[k], box, kLookAhead, low, high)};
            if (low == high) {
                region.known += low;
                continue;
            }
            least += low;
            most += high;
            if (high - low > widest) widest = high - low, region.widest = static_cast<std::uint32_t>(open_.size());
            open_.push_back(open);
        }
        region.end = static_cast<std::uint32_t>(open_.size());
        const bool is_good = region.known + least >= needed_;
        const bool is_bad = region.known + most < needed_ || region.begin == region.end;
        region.state = is_good ? State::kGood : is_bad ? State::kBad : State::kMixed;
        if (is_good || is_bad) open_.resize(region.begin);
        regions_[i] = region;
    }

    // Extends `low` and `high` to the shares that a tree has in a box. Returns the smallest subtree with all its
    // points.
    std::uint32_t widen(Open open, const CodeInterval* box, int depth, double& low, double& high) {
        const auto [t, top] = open;
        std::uint32_t i = top;
        const ProjectedTree::Node* node = &shares_.node(t, i);
        for (; !node->is_leaf(); node = &shares_.node(t, i)) {
            const auto [left, right] = parts(box[node->column], node->code, node->missing_left);
            if (!left.is_empty() && !right.is_empty()) break;
            i = node->left + left.is_empty();
        }
        if (node->is_leaf()) shares_.share(t, i);
        const auto known = shares_.known(t, i);
        if (known.is_known() && low <= known.least && known.most <= high) return i;
        if (depth > 0 && !(known.is_known() && known.least == known.most)) {
            const std::uint32_t child = node->left;
            widen({t, child}, box, depth - 1, low, high);
            widen({t, child + 1}, box, depth - 1, low, high);
            shares_.note(t, i);
        } else {
            const auto all = shares_.bounds(t, i);
            low = std::min(low, all.least);
            high = std::max(high, all.most);
        }
        return i;
    }

    // Cuts a region at an end of the box where it reaches beyond it. Returns false if it does not.
    bool cut_off(std::uint32_t i, const CodeBox& box) {
        for (std::uint32_t c = 0; c < box.size(); ++c) {
            const CodeInterval whole = side(i)[c];
            if (!whole.has_values()) continue;
            const bool meets = values_meet(whole, box[c]);
            if (whole.missing && (!box[c].missing || !meets))
                return add_children(i, c, {whole.lo, whole.hi, false}, kOnlyMissing);
            if (meets && whole.lo < box[c].lo)
                return add_children(i, c, {whole.lo, box[c].lo - 1, false}, {box[c].lo, whole.hi, whole.missing});
            if (meets && whole.hi > box[c].hi)
                return add_children(i, c, {whole.lo, box[c].hi, whole.missing}, {box[c].hi + 1, whole.hi, false});
        }
        return false;
    }

    // Cuts a region where a tree splits it, or where it reaches beyond the box.
    void divide(std::uint32_t i, const CodeBox& box) {
        if (cut_off(i, box)) return;
        const Open& open = open_[regions_[i].widest];
        const ProjectedTree::Node& node = shares_.node(open.tree, open.node);
        const auto [left, right] = parts(side(i)[node.column], node.code, node.missing_left);
        add_children(i, node.column, left, right);
    }

    // The part nearer to x becomes the first child: a bad region near x leaves the fewest ways to cut it off.
    bool add_children(std::uint32_t i, std::uint32_t column, CodeInterval near, CodeInterval far) {
        const CodeInterval& x = x_[column];
        if (meet(x, far) || (!meet(x, near) && x.has_values() && x.lo > near.hi)) std::swap(near, far);
        Region child = regions_[i];
        child.state = State::kUnknown;
        regions_[i].children = static_cast<std::uint32_t>(regions_.size());
        for (const CodeInterval& part : {near, far}) {
            regions_.push_back(child);
            for (std::size_t c = 0; c < x_.size(); ++c) sides_.push_back(c == column ? part : CodeInterval(side(i)[c]));
        }
        return true;
    }

    const SetCells& cells_;
    OutcomeShares& shares_;
    double needed_;
    std::size_t max_regions_;
    const StopFlag& stop_;
    CodeBox x_, bad_;
    std::size_t n_regions_ = 0;  // that were examined
    std::vector<Region> regions_;
    std::vector<CodeInterval> sides_;  // by region and column
    std::vector<Open> open_;
    std::vector<std::uint32_t> stack_;
};

}  // namespace suffice
