// One tree of the projected forest for a set S: a decision tree over the columns of S whose leaves are the projected
// cells (docs/method.md, 1.1 and 5.1).
//
// cell.hpp finds the cell of one x for many sets; this header finds the cells of many x for one set. The walk of the
// definition is done for a whole box of points at once: if a visited split cuts the box in two, both halves continue. A
// half with too few rows ends at once and keeps the rows from before the cut. The tree grows where it is asked for.
#pragma once

#include <bit>
#include <numeric>

#include "box.hpp"
#include "forest.hpp"
#include "forest_column.hpp"

namespace suffice {

// The splits of one tree on the columns of S.
struct SetSplits {
    static constexpr std::int32_t kNone = -1;

    struct Split {
        std::uint32_t code;  // values with at most this code go left
        std::uint32_t position;
        bool missing_left;
        std::int32_t below[2] = {kNone, kNone};  // left and right: the first of the next splits on columns of S
        std::int32_t next = kNone;               // the next split below the same side of the same split
    };

    std::vector<Split> splits;         // breadth-first
    std::vector<std::uint64_t> first;  // those below no other: one bit for each split

    // position_of[column]: the position of a column of the table among those of S, or -1.
    SetSplits(const Tree& tree, std::size_t number, const ForestColumns& columns,
              std::span<const std::int32_t> position_of) {
        std::vector<std::int32_t> above(tree.nodes.size(), kNone);  // twice the split, plus 1 on its right
        std::vector<std::size_t> n_codes_read(columns.size(), 0);
        std::int32_t first_split = kNone;
        const auto add_split = [&](const Node& node, std::int32_t place) {
            const auto id = static_cast<std::int32_t>(splits.size());
            const auto c = static_cast<std::size_t>(position_of[static_cast<std::size_t>(node.column)]);
            const std::uint32_t code = columns[c]->codes_of_splits[number][n_codes_read[c]++];
            splits.push_back({code, static_cast<std::uint32_t>(c), node.missing_left});
            std::int32_t& head =
                place == kNone ? first_split : splits[static_cast<std::size_t>(place / 2)].below[place % 2];
            splits.back().next = std::exchange(head, id);
            return id;
        };
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            if (node.is_leaf()) continue;
            const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
            if (position_of[static_cast<std::size_t>(node.column)] < 0) {
                above[left] = above[right] = above[i];
                continue;
            }
            above[left] = 2 * add_split(node, above[i]);
            above[right] = above[left] + 1;
        }
        for (const Node& split : tree.completing)
            if (position_of[static_cast<std::size_t>(split.column)] >= 0) add_split(split, kNone);
        first.assign((splits.size() + 63) / 64, 0);
        open(first.data(), first_split);
    }

    // Opens a split and all that hang beside it.
    void open(std::uint64_t* set, std::int32_t split) const {
        for (; split != kNone; split = splits[static_cast<std::size_t>(split)].next)
            set[split / 64] |= std::uint64_t{1} << split % 64;
    }
};

// Sorts order[begin, end) so that what a split sends left comes first. Returns where the others begin. The loop has no
// branches, since half of them would be guessed wrong.
inline std::uint32_t divide(std::uint32_t* order, std::uint32_t begin, std::uint32_t end, const std::uint32_t* codes,
                            std::uint32_t code, bool missing_left, std::vector<std::uint32_t>& sent_right) {
    if (sent_right.size() < end - begin) sent_right.resize(end - begin);
    std::uint32_t* const right = sent_right.data();
    // Missing values have the largest code: one more, and it is the smallest.
    const std::uint32_t step = missing_left ? 1 : 0, last = code + step;
    std::uint32_t middle = begin, n_right = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint32_t one = order[i];
        const std::uint32_t goes_left = codes[one] + step <= last;
        order[middle] = one;
        right[n_right] = one;
        middle += goes_left;
        n_right += 1 - goes_left;
    }
    std::copy_n(right, n_right, order + middle);
    return middle;
}

class ProjectedTree {
  public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    struct Node {
        std::uint32_t begin, end;  // its rows; a half with too few has the rows of its parent as its cell
        std::uint32_t parent;
        std::uint32_t open;        // where its open splits are, while it may grow; kNone afterwards
        std::uint32_t left = 0;    // the right child follows; 0 at a leaf
        std::uint32_t code = 0;    // values with at most this code go left
        std::uint32_t column = 0;  // position among the columns of S
        bool missing_left = false;
        bool is_small = false;  // it has too few rows

        bool is_leaf() const { return left == 0; }
        // A point has one code, or is missing, in each column.
        bool goes_left(const CodeInterval& x) const { return x.missing ? missing_left : x.lo <= code; }
    };

    // codes[c]: by row of the tree. `all` is the box of all points.
    ProjectedTree(const SetSplits& splits, std::vector<const std::uint32_t*> codes, std::size_t n_rows,
                  std::size_t min_node_size, const CodeBox& all)
        : splits_(splits),
          codes_(std::move(codes)),
          min_node_size_(min_node_size),
          all_(all),
          nodes_{{0, static_cast<std::uint32_t>(n_rows), kNone, 0}},
          open_(splits.first),
          order_(n_rows) {
        std::iota(order_.begin(), order_.end(), 0u);
    }

    std::size_t size() const { return nodes_.size(); }
    std::size_t n_bytes() const {
        return nodes_.capacity() * sizeof(Node) + open_.capacity() * 8 + order_.capacity() * 4;
    }
    std::span<const std::uint32_t> rows(const Node& node) const {
        return std::span(order_).subspan(node.begin, node.end - node.begin);
    }
    const Node& operator[](std::uint32_t i) const { return nodes_[i]; }

    // The node, which has its children now, or is a leaf. `sent_right` is memory that all trees share.
    const Node& grown(std::uint32_t i, std::vector<std::uint32_t>& sent_right) {
        if (nodes_[i].open != kNone) grow(i, sent_right);
        return nodes_[i];
    }

  private:
    void grow(std::uint32_t i, std::vector<std::uint32_t>& sent_right) {
        const std::size_t n_words = splits_.first.size();
        const std::uint32_t begin = nodes_[i].begin, end = nodes_[i].end;
        const std::uint32_t at = std::exchange(nodes_[i].open, kNone);
        std::uint64_t* open = open_.data() + at * n_words;
        find_box(i);
        for (std::size_t word = 0;;) {
            while (word < n_words && open[word] == 0) ++word;
            if (word == n_words) break;
            const SetSplits::Split& split =
                splits_.splits[64 * word + static_cast<std::size_t>(std::countr_zero(open[word]))];
            open[word] &= open[word] - 1;
            const auto [left, right] = parts(box_[split.position], split.code, split.missing_left);
            if (left.is_empty() || right.is_empty()) {
                splits_.open(open, split.below[left.is_empty()]);
                continue;
            }
            const std::uint32_t middle = divide(order_.data(), begin, end, codes_[split.position], split.code,
                                                split.missing_left, sent_right);
            const bool is_left_small = middle - begin < min_node_size_, is_right_small = end - middle < min_node_size_;
            if (is_left_small && is_right_small) break;  // the walk ends on both sides, with the same rows
            std::uint32_t other = at;
            if (!is_left_small && !is_right_small) {
                other = take_slot();
                open = open_.data() + at * n_words;
                std::copy_n(open, n_words, open_.data() + other * n_words);
            }
            if (!is_left_small) splits_.open(open_.data() + at * n_words, split.below[0]);
            if (!is_right_small) splits_.open(open_.data() + other * n_words, split.below[1]);
            Node& node = nodes_[i];
            node.left = static_cast<std::uint32_t>(nodes_.size());
            node.code = split.code;
            node.column = split.position;
            node.missing_left = split.missing_left;
            nodes_.push_back({begin, middle, i, is_left_small ? kNone : at, 0, 0, 0, false, is_left_small});
            nodes_.push_back({middle, end, i, is_right_small ? kNone : other, 0, 0, 0, false, is_right_small});
            return;
        }
        free_.push_back(at);
    }

    // Memory for one set of open splits.
    std::uint32_t take_slot() {
        if (!free_.empty()) {
            const std::uint32_t at = free_.back();
            free_.pop_back();
            return at;
        }
        const std::size_t n_words = splits_.first.size(), at = open_.size() / n_words;
        open_.resize(open_.size() + n_words);
        return static_cast<std::uint32_t>(at);
    }

    // Fills box_ with the points that reach a node.
    void find_box(std::uint32_t i) {
        box_ = all_;
        for (std::uint32_t above = nodes_[i].parent; above != kNone; i = above, above = nodes_[i].parent) {
            const Node& node = nodes_[above];
            const auto [left, right] = parts(box_[node.column], node.code, node.missing_left);
            box_[node.column] = i == node.left ? left : right;
        }
    }

    const SetSplits& splits_;
    std::vector<const std::uint32_t*> codes_;
    std::size_t min_node_size_;
    const CodeBox& all_;
    std::vector<Node> nodes_;          // children after their parents
    std::vector<std::uint64_t> open_;  // sets of splits that a walk has yet to visit, one bit each
    std::vector<std::uint32_t> free_;  // sets that are not needed any more
    std::vector<std::uint32_t> order_;  // the rows, those of a node next to each other
    CodeBox box_;
};

}  // namespace suffice
