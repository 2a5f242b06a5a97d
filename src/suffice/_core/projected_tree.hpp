// One tree of the projected forest for a set S: a decision tree over the columns of S whose leaves are the projected
// cells (docs/method.md, 1.1 and 5.1).
//
// cell.hpp finds the cell of one x for many sets; this header finds the cells of all x for one set. The walk of the
// definition is done for a whole box of points at once: if a visited split cuts the box in two, both halves continue. A
// half with too few rows ends at once and keeps the rows from before the cut. So at most n / min_node_size cuts have
// two halves that continue, and the tree stays small.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "box.hpp"
#include "forest.hpp"
#include "points.hpp"
#include "thresholds.hpp"

namespace suffice {

struct ProjectedNode {
    float threshold = 0.0f;
    std::uint32_t column = 0;  // position among the columns of S
    std::int32_t left = -1;    // -1 at a leaf
    std::int32_t right = -1;
    std::uint32_t begin = 0;  // at a leaf: its cell has the rows ProjectedTree::rank[begin, end)
    std::uint32_t end = 0;
    bool missing_left = false;

    bool is_leaf() const { return left < 0; }
    bool goes_left(float value) const { return value <= threshold || (missing_left && std::isnan(value)); }
};

struct ProjectedTree {
    std::vector<ProjectedNode> nodes;
    std::vector<std::uint32_t> rank;  // ranks of outcomes, the rows of each cell next to each other

    // `x` has one value for each column of S.
    std::uint32_t leaf(const float* x) const {
        std::int32_t i = 0;
        while (!nodes[static_cast<std::size_t>(i)].is_leaf()) {
            const ProjectedNode& node = nodes[static_cast<std::size_t>(i)];
            i = node.goes_left(x[node.column]) ? node.left : node.right;
        }
        return static_cast<std::uint32_t>(i);
    }
};

class ProjectedTreeBuilder {
  public:
    // position_of[column]: the position of a column of the table among those of S, or -1.
    ProjectedTreeBuilder(const Tree& tree, const Points& points, std::span<const std::int32_t> position_of,
                         std::size_t n_columns, std::size_t min_node_size)
        : tree_(tree), points_(points), min_node_size_(min_node_size), box_(n_columns) {
        constexpr std::int32_t kNone = -1;
        struct Above {
            std::int32_t split;  // kNone: no split on S lies above
            bool left;
        };
        std::vector<Above> above(tree.nodes.size(), {kNone, false});
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            if (node.is_leaf()) continue;
            const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
            const std::int32_t position = position_of[static_cast<std::size_t>(node.column)];
            if (position < 0) {
                above[left] = above[right] = above[i];
                continue;
            }
            const auto id = static_cast<std::int32_t>(splits_.size());
            if (above[i].split == kNone)
                first_.push_back(static_cast<std::uint32_t>(id));
            else
                splits_[static_cast<std::size_t>(above[i].split)].below[above[i].left ? 0 : 1].push_back(
                    static_cast<std::uint32_t>(id));
            above[left] = {id, true};
            above[right] = {id, false};
            splits_.push_back(
                {largest_float_up_to(node.threshold), static_cast<std::uint32_t>(position), node.missing_left, {}});
        }
    }

    // Returns the tree, and fills `leaf_of` with the leaf of each point.
    ProjectedTree build(std::vector<std::uint32_t>& leaf_of) {
        n_rows_.assign(points_.size, 0);
        for (const std::uint32_t row : tree_.rows) ++n_rows_[points_.of_row[row]];
        order_.resize(points_.size);
        std::iota(order_.begin(), order_.end(), 0u);
        leaf_of.resize(points_.size);
        leaf_of_ = leaf_of.data();
        OpenSplits open(splits_.size());
        for (const std::uint32_t i : first_) open.insert(i);
        grow(open, {0, static_cast<std::uint32_t>(points_.size), tree_.rows.size()});
        order_rows();
        return std::move(out_);
    }

  private:
    struct Split {
        float threshold;
        std::uint32_t position;
        bool missing_left;
        std::vector<std::uint32_t> below[2];  // left and right: the next splits on columns of S
    };

    // The splits that the walk has yet to visit, one bit each.
    class OpenSplits {
      public:
        explicit OpenSplits(std::size_t n_splits) : words_((n_splits + 63) / 64, 0) {}
        void insert(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
        // Removes and returns the first; splits that are inserted later always come after it. Returns -1 if none is
        // left.
        std::int64_t take_first() {
            for (; at_ < words_.size(); ++at_) {
                if (words_[at_] == 0) continue;
                const int bit = std::countr_zero(words_[at_]);
                words_[at_] &= words_[at_] - 1;
                return static_cast<std::int64_t>(64 * at_) + bit;
            }
            return -1;
        }

      private:
        std::vector<std::uint64_t> words_;
        std::size_t at_ = 0;  // words before this one are zero
    };

    void follow(OpenSplits& open, const Split& split, int side) const {
        for (const std::uint32_t i : split.below[side]) open.insert(i);
    }

    // Notes the leaf of the points order_[begin, end).
    void make_leaf(std::int32_t id, std::uint32_t begin, std::uint32_t end) const {
        for (std::uint32_t i = begin; i < end; ++i) leaf_of_[order_[i]] = static_cast<std::uint32_t>(id);
    }

    // Sorts the rows by the order of the points, and replaces the ranges of points in the nodes by ranges of rows.
    void order_rows() {
        std::vector<std::uint32_t> first(points_.size + 1, 0);  // by position in order_: the number of rows before it
        for (std::size_t i = 0; i < points_.size; ++i) first[i + 1] = first[i] + n_rows_[order_[i]];
        for (ProjectedNode& node : out_.nodes) {
            node.begin = first[node.begin];
            node.end = first[node.end];
        }
        for (std::size_t i = 0; i < points_.size; ++i)
            n_rows_[order_[i]] = first[i];  // from here on: the next free place
        out_.rank.resize(tree_.rows.size());
        for (std::size_t i = 0; i < tree_.rows.size(); ++i)
            out_.rank[n_rows_[points_.of_row[tree_.rows[i]]]++] = tree_.rank[i];
    }

    static ProjectedNode leaf_with(std::uint32_t begin, std::uint32_t end) {
        return {0.0f, 0, -1, -1, begin, end, false};
    }

    // Points order_[begin, end), which have n_rows of the tree's rows.
    struct Part {
        std::uint32_t begin, end;
        std::size_t n_rows;
    };

    // Sorts the points of a part so that those that the split sends left come first. Returns the two halves.
    std::pair<Part, Part> divide(const Part& part, const Split& split) {
        const float* values = points_.values[split.position].data();
        std::size_t n_left = 0;
        const auto middle = static_cast<std::uint32_t>(
            std::partition(order_.begin() + part.begin, order_.begin() + part.end,
                           [&](std::uint32_t point) {
                               const float value = values[point];
                               const bool goes_left =
                                   value <= split.threshold || (split.missing_left && std::isnan(value));
                               n_left += goes_left ? n_rows_[point] : 0;
                               return goes_left;
                           }) -
            order_.begin());
        return {{part.begin, middle, n_left}, {middle, part.end, part.n_rows - n_left}};
    }

    // Grows the subtree for the points of a part, which are those in box_, from the open splits on. Returns its root.
    std::int32_t grow(OpenSplits& open, const Part& part) {
        const auto id = static_cast<std::int32_t>(out_.nodes.size());
        out_.nodes.push_back(leaf_with(part.begin, part.end));
        for (std::int64_t i = open.take_first(); i >= 0; i = open.take_first()) {
            const Split& split = splits_[static_cast<std::size_t>(i)];
            const ValueInterval whole = box_[split.position];
            const ValueInterval left = whole.part(split.threshold, split.missing_left, true);
            const ValueInterval right = whole.part(split.threshold, split.missing_left, false);
            if (left.is_empty() || right.is_empty()) {
                follow(open, split, left.is_empty() ? 1 : 0);
                continue;
            }
            const auto [on_left, on_right] = divide(part, split);
            const bool left_continues = on_left.n_rows >= min_node_size_;
            const bool right_continues = on_right.n_rows >= min_node_size_;
            if (!left_continues && !right_continues) break;  // the walk ends on both sides, with the same rows
            std::int32_t child[2];
            box_[split.position] = left;
            if (left_continues && right_continues) {
                OpenSplits open_on_left = open;
                follow(open_on_left, split, 0);
                child[0] = grow(open_on_left, on_left);
            } else {
                child[0] = left_continues ? grow_only(open, split, 0, on_left) : end_half(part, on_left);
            }
            box_[split.position] = right;
            child[1] = right_continues ? grow_only(open, split, 1, on_right) : end_half(part, on_right);
            box_[split.position] = whole;
            out_.nodes[static_cast<std::size_t>(id)] = {split.threshold, split.position, child[0],          child[1],
                                                        part.begin,      part.end,       split.missing_left};
            return id;
        }
        make_leaf(id, part.begin, part.end);
        return id;
    }

    // Grows a half that may use up the open splits, as no other half needs them.
    std::int32_t grow_only(OpenSplits& open, const Split& split, int side, const Part& half) {
        follow(open, split, side);
        return grow(open, half);
    }

    // Makes a leaf for the points of a half that has too few rows. Its cell has the rows of the whole part.
    std::int32_t end_half(const Part& part, const Part& half) {
        const auto id = static_cast<std::int32_t>(out_.nodes.size());
        out_.nodes.push_back(leaf_with(part.begin, part.end));
        make_leaf(id, half.begin, half.end);
        return id;
    }

    const Tree& tree_;
    const Points& points_;
    std::size_t min_node_size_;
    std::vector<Split> splits_;         // on columns of S, breadth-first
    std::vector<std::uint32_t> first_;  // splits that are below no other
    ValueBox box_;
    std::vector<std::uint32_t> order_;   // the points, those of a node next to each other
    std::vector<std::uint32_t> n_rows_;  // by point: the number of rows of the tree
    std::uint32_t* leaf_of_ = nullptr;   // by point
    ProjectedTree out_;
};

}  // namespace suffice
