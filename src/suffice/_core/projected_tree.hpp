// The projected forest for one set S, written out: for each tree a decision tree over the columns of S whose leaves
// are the projected cells (docs/method.md, 1.1 and 5.1).
//
// cell.hpp finds the cell of one x for many sets; this finds the cells of all x for one set. The walk of the definition
// is done for a whole box of points at once: where a visited split cuts the box in two, both halves go on. A half that
// keeps too few rows ends there, with the rows as they were, so at most n / min_node_size cuts have two halves that go
// on, and the tree stays small.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "forest.hpp"
#include "projection.hpp"

namespace suffice {

// Values of one column: low < value <= high, and missing values if `missing`.
struct Interval {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    bool has_values = true;  // false: no value at all lies in it, only missing ones can
    bool missing = true;

    bool is_empty() const { return !has_values && !missing; }
    bool holds(float value) const { return std::isnan(value) ? missing : has_values && low < value && value <= high; }
    // The part that a split sends left, or right.
    Interval part(float threshold, bool missing_left, bool left) const {
        Interval out = *this;
        out.missing = missing && missing_left == left;
        if (left)
            out.high = std::min(high, threshold);
        else
            out.low = std::max(low, threshold);
        out.has_values = has_values && out.low < out.high;
        return out;
    }
};

using Box = std::vector<Interval>;  // one interval for each column of S

struct ProjectedNode {
    float threshold = 0.0f;
    std::uint32_t column = 0;  // position among the columns of S
    std::int32_t left = -1;    // -1 at a leaf
    std::int32_t right = -1;
    std::uint32_t begin = 0;  // at a leaf: its cell is ProjectedTree::rank[begin, end)
    std::uint32_t end = 0;
    bool missing_left = false;

    bool is_leaf() const { return left < 0; }
    bool goes_left(float value) const { return value <= threshold || (missing_left && std::isnan(value)); }
};

struct ProjectedTree {
    std::vector<ProjectedNode> nodes;
    std::vector<std::uint32_t> rank;  // of the outcomes; the rows of every cell stand together

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

// The training rows as S sees them: rows that no split of the forest on S tells apart are one point. Of a table of
// categories, whole numbers or repeated measurements there are far fewer points than rows.
struct Points {
    std::size_t size = 0;
    std::vector<std::uint32_t> of_row;       // by row of the table
    std::vector<std::vector<float>> values;  // by column of S and point
};

class ProjectedTreeBuilder {
  public:
    // position_of[column]: where the column stands among those of S, or -1.
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

    // `leaf_of` takes the leaf of each point.
    ProjectedTree build(std::vector<std::uint32_t>& leaf_of) {
        n_rows_.assign(points_.size, 0);
        for (const std::uint32_t row : tree_.rows) ++n_rows_[points_.of_row[row]];
        order_.resize(points_.size);
        std::iota(order_.begin(), order_.end(), 0u);
        leaf_of.resize(points_.size);
        leaf_of_ = leaf_of.data();
        OpenSplits open(splits_.size());
        for (const std::uint32_t i : first_) open.insert(i);
        grow(open, 0, static_cast<std::uint32_t>(points_.size), tree_.rows.size());
        order_rows();
        return std::move(out_);
    }

  private:
    struct Split {
        float threshold;
        std::uint32_t position;
        bool missing_left;
        std::vector<std::uint32_t> below[2];  // left and right: the next splits on S
    };

    // Splits that the walk will come to, one bit each.
    class OpenSplits {
      public:
        explicit OpenSplits(std::size_t n_splits) : words_((n_splits + 63) / 64, 0) {}
        void insert(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
        // Takes the first of them out; new ones always come after it.
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
        std::size_t at_ = 0;  // no bit lies in a word before
    };

    void follow(OpenSplits& open, const Split& split, int side) const {
        for (const std::uint32_t i : split.below[side]) open.insert(i);
    }

    void make_leaf(std::int32_t id, std::uint32_t begin, std::uint32_t end) const {
        for (std::uint32_t i = begin; i < end; ++i) leaf_of_[order_[i]] = static_cast<std::uint32_t>(id);
    }

    // Puts the rows into the order of the points, and turns the ranges of points in the nodes into ranges of rows.
    void order_rows() {
        std::vector<std::uint32_t> first(points_.size + 1, 0);  // by position in order_: rows before it
        for (std::size_t i = 0; i < points_.size; ++i) first[i + 1] = first[i] + n_rows_[order_[i]];
        for (ProjectedNode& node : out_.nodes) {
            node.begin = first[node.begin];
            node.end = first[node.end];
        }
        for (std::size_t i = 0; i < points_.size; ++i) n_rows_[order_[i]] = first[i];  // from here on the next place
        out_.rank.resize(tree_.rows.size());
        for (std::size_t i = 0; i < tree_.rows.size(); ++i)
            out_.rank[n_rows_[points_.of_row[tree_.rows[i]]]++] = tree_.rank[i];
    }

    // The subtree for the points in box_, order_[begin, end), which hold n_rows of the tree's rows, from the open
    // splits on. Returns its root.
    std::int32_t grow(OpenSplits& open, std::uint32_t begin, std::uint32_t end, std::size_t n_rows) {
        const auto id = static_cast<std::int32_t>(out_.nodes.size());
        out_.nodes.push_back({0.0f, 0, -1, -1, begin, end, false});
        for (std::int64_t i = open.take_first(); i >= 0; i = open.take_first()) {
            const Split& split = splits_[static_cast<std::size_t>(i)];
            const Interval whole = box_[split.position];
            const Interval left = whole.part(split.threshold, split.missing_left, true);
            const Interval right = whole.part(split.threshold, split.missing_left, false);
            if (left.is_empty() || right.is_empty()) {
                follow(open, split, left.is_empty() ? 1 : 0);
                continue;
            }
            const float* values = points_.values[split.position].data();
            std::size_t n_left = 0;
            const auto middle = static_cast<std::uint32_t>(
                std::partition(order_.begin() + begin, order_.begin() + end,
                               [&](std::uint32_t point) {
                                   const float value = values[point];
                                   const bool goes_left =
                                       value <= split.threshold || (split.missing_left && std::isnan(value));
                                   n_left += goes_left ? n_rows_[point] : 0;
                                   return goes_left;
                               }) -
                order_.begin());
            const std::size_t n_on[2] = {n_left, n_rows - n_left};
            const bool goes_on[2] = {n_on[0] >= min_node_size_, n_on[1] >= min_node_size_};
            if (!goes_on[0] && !goes_on[1]) break;  // the walk stops on either side, with the same rows
            std::int32_t child[2];
            for (int side = 0; side < 2; ++side) {
                if (!goes_on[side]) {
                    child[side] = static_cast<std::int32_t>(out_.nodes.size());
                    out_.nodes.push_back({0.0f, 0, -1, -1, begin, end, false});
                    make_leaf(child[side], side == 0 ? begin : middle, side == 0 ? middle : end);
                    continue;
                }
                box_[split.position] = side == 0 ? left : right;
                if (side == 0 && goes_on[1]) {
                    OpenSplits on_the_left = open;
                    follow(on_the_left, split, 0);
                    child[0] = grow(on_the_left, begin, middle, n_on[0]);
                } else {
                    follow(open, split, side);
                    child[side] = side == 0 ? grow(open, begin, middle, n_on[0]) : grow(open, middle, end, n_on[1]);
                }
            }
            box_[split.position] = whole;
            ProjectedNode& node = out_.nodes[static_cast<std::size_t>(id)];
            node.threshold = split.threshold;
            node.column = split.position;
            node.left = child[0];
            node.right = child[1];
            node.missing_left = split.missing_left;
            return id;
        }
        make_leaf(id, begin, end);
        return id;
    }

    const Tree& tree_;
    const Points& points_;
    std::size_t min_node_size_;
    std::vector<Split> splits_;         // on columns of S, breadth-first
    std::vector<std::uint32_t> first_;  // those below no other
    Box box_;
    std::vector<std::uint32_t> order_;   // the points, those of a node together
    std::vector<std::uint32_t> n_rows_;  // by point: rows of the tree
    std::uint32_t* leaf_of_ = nullptr;   // by point
    ProjectedTree out_;
};

}  // namespace suffice
