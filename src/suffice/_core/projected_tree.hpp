// One tree of the projected forest for a set S: a decision tree over the columns of S whose leaves are the projected
// cells (docs/method.md, 1.1 and 5.1).
//
// cell.hpp finds the cell of one x for many sets; this header finds the cells of all x for one set. The walk of the
// definition is done for a whole box of points at once: if a visited split cuts the box in two, both halves continue. A
// half with too few rows ends at once and keeps the rows from before the cut. So at most n / min_node_size cuts have
// two halves that continue, and the tree stays small.
#pragma once

#include <bit>
#include <numeric>

#include "box.hpp"
#include "forest.hpp"
#include "forest_column.hpp"

namespace suffice {

struct ProjectedNode {
    std::uint32_t code = 0;    // values with at most this code go left
    std::uint32_t column = 0;  // position among the columns of S
    std::int32_t left = -1;    // -1 at a leaf
    std::int32_t right = -1;
    std::uint32_t begin = 0;  // at a leaf: its cell has the rows ProjectedTree::rank[begin, end)
    std::uint32_t end = 0;
    bool missing_left = false;

    bool is_leaf() const { return left < 0; }
    // A point has one code, or is missing, in each column.
    bool goes_left(const CodeBox& x) const { return x[column].missing ? missing_left : x[column].lo <= code; }
};

struct ProjectedTree {
    std::vector<ProjectedNode> nodes;
    // Ranks of outcomes, the rows of each cell next to each other; padded to full blocks of 64.
    std::vector<std::uint32_t> rank;
    std::size_t n_rows = 0;  // without the padding

    std::uint32_t leaf(const CodeBox& x) const {
        std::int32_t i = 0;
        while (!nodes[static_cast<std::size_t>(i)].is_leaf()) {
            const ProjectedNode& node = nodes[static_cast<std::size_t>(i)];
            i = node.goes_left(x) ? node.left : node.right;
        }
        return static_cast<std::uint32_t>(i);
    }
};

class ProjectedTreeBuilder {
  public:
    // position_of[column]: the position of a column of the table among those of S, or -1. One builder makes the trees
    // of one set, one after the other, in the same memory.
    ProjectedTreeBuilder(const Forest& forest, const Points& points, const ForestColumns& columns,
                         std::span<const std::int32_t> position_of, std::size_t min_node_size)
        : forest_(forest),
          points_(points),
          columns_(columns),
          position_of_(position_of),
          min_node_size_(min_node_size),
          box_(columns.size()),
          n_codes_read_(columns.size()),
          order_(points.size),
          sent_right_(points.size),
          n_rows_(points.size),
          first_row_(points.size + 1) {}

    // Returns the projection of one tree of the forest, and fills `leaf_of` with the leaf of each point.
    ProjectedTree build(std::size_t tree_number, std::vector<std::uint32_t>& leaf_of) {
        const Tree& tree = forest_.trees[tree_number];
        out_ = {};
        find_splits(tree_number);
        std::fill(n_rows_.begin(), n_rows_.end(), 0);
        for (const std::uint32_t row : tree.rows) ++n_rows_[points_.of_row[row]];
        std::iota(order_.begin(), order_.end(), 0u);
        leaf_of.resize(points_.size);
        leaf_of_ = leaf_of.data();
        for (std::size_t c = 0; c < box_.size(); ++c) box_[c] = columns_[c]->all_codes();
        grow_all(tree.rows.size());
        order_rows(tree);
        return std::move(out_);
    }

  private:
    static constexpr std::int32_t kNone = -1;

    struct Split {
        std::uint32_t code;  // values with at most this code go left
        std::uint32_t position;
        bool missing_left;
        std::int32_t below[2] = {kNone, kNone};  // left and right: the first of the next splits on columns of S
        std::int32_t next = kNone;               // the next split below the same side of the same split
    };

    // Points order_[begin, end), which have n_rows of the tree's rows.
    struct Part {
        std::uint32_t begin, end;
        std::size_t n_rows;
    };

    // What is left to do: growing a half, making the leaf of a half, or giving a column of box_ its interval back. The
    // tree is grown depth first by a stack of its own: how deep it is depends on the data.
    struct Task {
        enum class Kind : std::uint8_t { kGrow, kEnd, kRestore } kind;
        std::uint32_t position;  // the column
        CodeInterval side;       // its interval from here on
        std::int32_t parent;     // the node whose right child is made
        Part half;
        Part whole;              // a leaf: the part whose rows its cell has
        std::size_t open;        // where its open splits begin in open_
        std::size_t first_word;  // open splits before this word are none
    };

    // Lists the splits on columns of S, and which of them lie next below which. Those below no other are open at first.
    void find_splits(std::size_t tree_number) {
        const std::vector<Node>& nodes = forest_.trees[tree_number].nodes;
        splits_.clear();
        std::fill(n_codes_read_.begin(), n_codes_read_.end(), 0);
        if (above_.size() < nodes.size()) above_.resize(nodes.size());
        above_[0] = kNone;
        std::int32_t first = kNone;
        const auto add_split = [&](const Node& node, std::int32_t above) {  // twice the split, plus 1 if on its right
            const auto id = static_cast<std::int32_t>(splits_.size());
            const auto column = static_cast<std::size_t>(position_of_[static_cast<std::size_t>(node.column)]);
            const std::uint32_t code = columns_[column]->codes_of_splits[tree_number][n_codes_read_[column]++];
            splits_.push_back({code, static_cast<std::uint32_t>(column), node.missing_left});
            std::int32_t& head = above == kNone ? first : splits_[static_cast<std::size_t>(above / 2)].below[above % 2];
            splits_.back().next = std::exchange(head, id);
            return id;
        };
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Node& node = nodes[i];
            if (node.is_leaf()) continue;
            const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
            if (position_of_[static_cast<std::size_t>(node.column)] < 0) {
                above_[left] = above_[right] = above_[i];
                continue;
            }
            const std::int32_t id = add_split(node, above_[i]);
            above_[left] = 2 * id;
            above_[right] = 2 * id + 1;
        }
        for (const Node& split : forest_.trees[tree_number].completing)
            if (position_of_[static_cast<std::size_t>(split.column)] >= 0) add_split(split, kNone);
        n_words_ = (splits_.size() + 63) / 64;
        open_.assign(n_words_, 0);
        follow(open_.data(), first);
    }

    // Opens a split and all that hang beside it.
    void follow(std::uint64_t* open, std::int32_t split) const {
        for (; split != kNone; split = splits_[static_cast<std::size_t>(split)].next)
            open[split / 64] |= std::uint64_t{1} << split % 64;
    }

    void grow_all(std::size_t n_rows) {
        const Part all{0, static_cast<std::uint32_t>(points_.size), n_rows};
        tasks_.clear();
        grow(all, kNone, 0, 0);
        while (!tasks_.empty()) {
            const Task task = tasks_.back();
            tasks_.pop_back();
            if (task.kind == Task::Kind::kEnd) {
                make_leaf(add_node(task.whole, 2 * task.parent + 1), task.half);
                continue;
            }
            box_[task.position] = task.side;
            if (task.kind == Task::Kind::kGrow) grow(task.half, 2 * task.parent + 1, task.open, task.first_word);
        }
    }

    // Adds a node, and makes it a child of another: `place` is twice the parent, plus 1 on the right; kNone at the
    // root.
    std::int32_t add_node(const Part& part, std::int32_t place) {
        const auto id = static_cast<std::int32_t>(out_.nodes.size());
        out_.nodes.push_back({0, 0, -1, -1, part.begin, part.end, false});
        if (place != kNone) {
            ProjectedNode& parent = out_.nodes[static_cast<std::size_t>(place / 2)];
            (place % 2 ? parent.right : parent.left) = id;
        }
        return id;
    }

    // Notes the leaf of the points order_[begin, end).
    void make_leaf(std::int32_t id, const Part& part) const {
        for (std::uint32_t i = part.begin; i < part.end; ++i) leaf_of_[order_[i]] = static_cast<std::uint32_t>(id);
    }

    // Grows the left edge of the subtree for the points of a part, which are those in box_, from the open splits on.
    // The rest of the subtree is left to tasks.
    void grow(Part part, std::int32_t place, std::size_t open_at, std::size_t word) {
        for (;;) {
            const std::int32_t id = add_node(part, place);
            std::uint64_t* open = open_.data() + open_at;
            for (;;) {
                while (word < n_words_ && open[word] == 0) ++word;
                if (word == n_words_) return make_leaf(id, part);
                const auto i = 64 * word + static_cast<std::size_t>(std::countr_zero(open[word]));
                open[word] &= open[word] - 1;
                const Split& split = splits_[i];
                const CodeInterval whole = box_[split.position];
                const auto [left, right] = parts(whole, split.code, split.missing_left);
                if (left.is_empty() || right.is_empty()) {
                    follow(open, split.below[left.is_empty()]);
                    continue;
                }
                const auto [on_left, on_right] = divide(part, split);
                const bool left_continues = on_left.n_rows >= min_node_size_;
                const bool right_continues = on_right.n_rows >= min_node_size_;
                // The walk ends on both sides, with the same rows.
                if (!left_continues && !right_continues) return make_leaf(id, part);
                ProjectedNode& node = out_.nodes[static_cast<std::size_t>(id)];
                node.code = split.code;
                node.column = split.position;
                node.missing_left = split.missing_left;
                tasks_.push_back({Task::Kind::kRestore, split.position, whole, kNone, {}, {}, 0, 0});
                if (!left_continues) {
                    make_leaf(add_node(part, 2 * id), on_left);  // a half with too few rows has the cell of the whole
                    follow(open, split.below[1]);
                    box_[split.position] = right;
                    place = 2 * id + 1;
                    part = on_right;
                    break;
                }
                if (right_continues) {
                    // Both halves go on from the splits open here. The left half, which is grown first, takes a copy.
                    tasks_.push_back({Task::Kind::kGrow, split.position, right, id, on_right, part, open_at, word});
                    const std::size_t copy_at = open_at + n_words_;
                    if (open_.size() < copy_at + n_words_) open_.resize(2 * (copy_at + n_words_));
                    open = open_.data() + open_at;
                    std::copy(open + word, open + n_words_, open_.data() + copy_at + word);
                    follow(open, split.below[1]);
                    open_at = copy_at;
                    open = open_.data() + open_at;
                } else {
                    tasks_.push_back({Task::Kind::kEnd, split.position, right, id, on_right, part, 0, 0});
                }
                follow(open, split.below[0]);
                box_[split.position] = left;
                place = 2 * id;
                part = on_left;
                break;
            }
        }
    }

    // Sorts the points of a part so that those that the split sends left come first. Returns the two halves.
    std::pair<Part, Part> divide(const Part& part, const Split& split) {
        const std::uint32_t* codes = points_.codes[split.position].data();
        // Missing values have the largest code: one more, and it is the smallest. The loop has no branches, since
        // half of them would be guessed wrong.
        const std::uint32_t step = split.missing_left ? 1 : 0;
        const std::uint32_t last = split.code + step;
        std::uint32_t* order = order_.data();
        std::uint32_t* sent_right = sent_right_.data();
        std::uint32_t middle = part.begin;
        std::uint32_t n_right = 0;
        for (std::uint32_t i = part.begin; i < part.end; ++i) {
            const std::uint32_t point = order[i];
            const std::uint32_t goes_left = codes[point] + step <= last;
            order[middle] = point;
            sent_right[n_right] = point;
            middle += goes_left;
            n_right += 1 - goes_left;
        }
        std::copy_n(sent_right, n_right, order + middle);
        // The rows of the smaller half are counted, and those of the other half follow.
        const bool left_is_smaller = middle - part.begin < n_right;
        const std::uint32_t begin = left_is_smaller ? part.begin : middle;
        const std::uint32_t end = left_is_smaller ? middle : part.end;
        std::size_t n_rows = 0;
        for (std::uint32_t i = begin; i < end; ++i) n_rows += n_rows_[order[i]];
        const std::size_t n_left = left_is_smaller ? n_rows : part.n_rows - n_rows;
        return {{part.begin, middle, n_left}, {middle, part.end, part.n_rows - n_left}};
    }

    // Sorts the rows by the order of the points, and replaces the ranges of points in the nodes by ranges of rows.
    void order_rows(const Tree& tree) {
        first_row_[0] = 0;  // by position in order_: the number of rows before it
        for (std::size_t i = 0; i < points_.size; ++i) {
            first_row_[i + 1] = first_row_[i] + n_rows_[order_[i]];
            n_rows_[order_[i]] = first_row_[i];  // from here on: the next free place
        }
        for (ProjectedNode& node : out_.nodes) {
            node.begin = first_row_[node.begin];
            node.end = first_row_[node.end];
        }
        out_.n_rows = tree.rows.size();
        out_.rank.assign(n_blocks(out_.n_rows) * kBlock, 0);
        for (std::size_t i = 0; i < tree.rows.size(); ++i)
            out_.rank[n_rows_[points_.of_row[tree.rows[i]]]++] = tree.rank[i];
    }

    const Forest& forest_;
    const Points& points_;
    const ForestColumns& columns_;
    std::span<const std::int32_t> position_of_;
    std::size_t min_node_size_;
    std::vector<Split> splits_;  // on columns of S, breadth-first
    std::vector<CodeInterval> box_;
    std::vector<std::size_t> n_codes_read_;  // by column of S: how many of its splits are in splits_
    std::vector<std::int32_t> above_;        // by node of the tree: the place below a split of S, or kNone
    std::size_t n_words_ = 0;                // of a set of open splits
    std::vector<std::uint64_t> open_;        // sets of splits that a walk has yet to visit, one bit each
    std::vector<Task> tasks_;
    std::vector<std::uint32_t> order_;       // the points, those of a node next to each other
    std::vector<std::uint32_t> sent_right_;  // points that wait for their place in order_
    std::vector<std::uint32_t> n_rows_;      // by point: the number of rows of the tree
    std::vector<std::uint32_t> first_row_;   // by position in order_
    std::uint32_t* leaf_of_ = nullptr;       // by point
    ProjectedTree out_;
};

}  // namespace suffice
