// One tree of the projected forest for a set S: a decision tree over the columns of S whose leaves are the projected
// cells (docs/method.md, 1.1 and 5.1).
//
// cell.hpp finds the cells of one x for many sets; this header finds those of many x for one set. The walk of the
// definition is done for a whole box of points at once: if a visited split cuts the box in two, both halves continue. A
// half with too few rows ends at once and keeps the rows from before the cut. The tree grows where it is asked for.
#pragma once

#include <array>
#include <bit>

#include "box.hpp"
#include "forest_column.hpp"
#include "projection.hpp"

namespace suffice {

// The splits of one tree on the columns of S.
struct SetSplits {
    static constexpr std::int32_t kNone = -1;

    struct Split {
        std::uint32_t node;  // of the CodedTree
        std::uint32_t code;  // values with at most this code of the ForestColumn go left
        std::uint32_t position;
        bool missing_left;
        std::int32_t below[2] = {kNone, kNone};  // left and right: the first of the next splits on columns of S
        std::int32_t next = kNone;               // the next split below the same side of the same split
    };

    const CodedTree& tree;
    std::vector<Split> splits;         // breadth-first
    std::vector<std::uint64_t> first;  // those below no other: one bit for each split

    // position_of[column]: the position of a column of the table among those of S, or -1.
    SetSplits(const CodedTree& of, std::size_t number, const ForestColumns& columns,
              std::span<const std::int32_t> position_of)
        : tree(of) {
        std::vector<std::int32_t> position;  // by column of the tree
        for (const std::int32_t column : tree.columns)
            position.push_back(position_of[static_cast<std::size_t>(column)]);
        std::vector<std::size_t> n_codes_read(columns.size(), 0);
        std::vector<std::int32_t> above(2 * tree.nodes.size() + 1, kNone);  // by slot: twice the split, plus its side
        std::int32_t first_split = kNone;
        for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
            const CodedNode& node = tree.nodes[i];
            const std::int32_t place = above[node.slot];
            if (position[node.column] < 0) {
                above[1 + 2 * i] = above[2 + 2 * i] = place;
                continue;
            }
            const auto c = static_cast<std::uint32_t>(position[node.column]);
            const auto id = static_cast<std::int32_t>(splits.size());
            above[1 + 2 * i] = 2 * id;
            above[2 + 2 * i] = 2 * id + 1;
            std::int32_t& head =
                place == kNone ? first_split : splits[static_cast<std::size_t>(place / 2)].below[place % 2];
            const std::int32_t next = std::exchange(head, id);
            const std::uint32_t code = columns[c]->codes_of_splits[number][n_codes_read[c]++];
            splits.push_back({.node = i, .code = code, .position = c, .missing_left = node.missing_left, .next = next});
        }
        first.assign(n_blocks(splits.size()), 0);
        open(first.data(), first_split);
    }

    // Opens a split and all that hang beside it.
    void open(std::uint64_t* set, std::int32_t split) const {
        for (; split != kNone; split = splits[static_cast<std::size_t>(split)].next)
            set[split / 64] |= std::uint64_t{1} << split % 64;
    }
};

// Sorts order[0, n) so that those with is_left(one) come first, without branches, since half of them would be guessed
// wrong. Returns where the others begin.
template <class IsLeft>
std::uint32_t divide(std::uint32_t* order, std::uint32_t n, std::vector<std::uint32_t>& sent_right,
                     const IsLeft& is_left) {
    if (sent_right.size() < n) sent_right.resize(n);
    std::uint32_t n_left = 0, n_right = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t one = order[i];
        const auto goes_left = static_cast<std::uint32_t>(is_left(one));
        order[n_left] = one;
        sent_right[n_right] = one;
        n_left += goes_left;
        n_right += 1 - goes_left;
    }
    std::copy_n(sent_right.data(), n_right, order + n_left);
    return n_left;
}

inline bool has_bit(const std::uint64_t* bits, std::uint32_t i) { return bits[i / 64] >> i % 64 & 1; }

// Memory for sets of bits of one size.
class BitSets {
  public:
    explicit BitSets(std::size_t n_words) : n_words_(n_words) {}
    std::uint64_t* operator[](std::uint32_t i) { return words_.data() + i * n_words_; }
    const std::uint64_t* operator[](std::uint32_t i) const { return words_.data() + i * n_words_; }
    std::size_t n_words() const { return n_words_; }
    std::size_t n_bytes() const { return words_.capacity() * sizeof(std::uint64_t); }
    // The number of a set, which has anything in it.
    std::uint32_t take() {
        if (free_.empty()) {
            words_.resize(words_.size() + n_words_);
            return n_sets_++;
        }
        const std::uint32_t i = free_.back();
        free_.pop_back();
        return i;
    }
    void give_back(std::uint32_t i) { free_.push_back(i); }

  private:
    std::size_t n_words_;
    std::uint32_t n_sets_ = 0;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> free_;
};

class ProjectedTree {
  public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    struct Node {
        std::uint32_t parent;
        std::uint32_t n_rows;
        std::uint32_t rows;        // their number in rows_, or where they begin in list_
        std::uint32_t open;        // the splits yet to visit, while it may grow; kNone afterwards
        bool is_listed;            // its rows are in list_
        bool is_small;             // it has too few rows, and its cell is that of its parent
        std::uint32_t left = 0;    // the right child follows; 0 at a leaf
        std::uint32_t code = 0;    // values with at most this code go left
        std::uint32_t column = 0;  // position among the columns of S
        bool missing_left = false;

        bool is_leaf() const { return left == 0; }
        // kMissing is the largest code: one more, and it is the smallest.
        bool goes_left(std::uint32_t of) const { return of + missing_left <= code + missing_left; }
    };

    // `all` is the box of all points.
    ProjectedTree(const SetSplits& splits, std::size_t min_node_size, const CodeBox& all)
        : splits_(splits),
          tree_(splits.tree),
          min_node_size_(min_node_size),
          all_(all),
          open_(splits.first.size()),
          rows_(tree_.n_row_words) {
        std::copy(splits.first.begin(), splits.first.end(), open_[open_.take()]);
        boxes_ = all;
        set_first_bits(tree_.n_rows, rows_[rows_.take()], tree_.n_row_words);
        nodes_.push_back({kNone, static_cast<std::uint32_t>(tree_.n_rows), 0, 0, false, false});
    }

    std::size_t size() const { return nodes_.size(); }
    std::size_t n_bytes() const {
        return nodes_.capacity() * sizeof(Node) + open_.n_bytes() + rows_.n_bytes() + list_.capacity() * 4;
    }
    const Node& operator[](std::uint32_t i) const { return nodes_[i]; }

    // The node, which has its children now, or is a leaf. `sent_right` is memory that all trees share.
    const Node& grown(std::uint32_t i, std::vector<std::uint32_t>& sent_right) {
        if (nodes_[i].open != kNone) grow(i, sent_right);
        return nodes_[i];
    }

    // The share of some rows in the cell of a leaf.
    double share(std::uint32_t i, const std::uint64_t* counted) const {
        const Node& node = nodes_[i].is_small ? nodes_[nodes_[i].parent] : nodes_[i];
        std::size_t n = 0;
        if (node.is_listed)
            for (std::uint32_t k = 0; k < node.n_rows; ++k) n += has_bit(counted, list_[node.rows + k]);
        else
            n = kernels().meet({rows_[node.rows], nullptr, nullptr, counted, rows_.n_words(), nullptr}).n_counted;
        return static_cast<double>(n) / static_cast<double>(node.n_rows);
    }

  private:
    void grow(std::uint32_t i, std::vector<std::uint32_t>& sent_right) {
        const std::uint32_t open = std::exchange(nodes_[i].open, kNone);
        std::uint64_t* const bits = open_[open];
        const CodeInterval* const box = boxes_.data() + open * all_.size();
        for (std::size_t word = 0;;) {
            while (word < open_.n_words() && bits[word] == 0) ++word;
            if (word == open_.n_words()) break;
            const auto number = 64 * word + static_cast<std::size_t>(std::countr_zero(bits[word]));
            const SetSplits::Split& split = splits_.splits[number];
            bits[word] &= bits[word] - 1;
            const auto [left, right] = parts(box[split.position], split.code, split.missing_left);
            if (!left.is_empty() && !right.is_empty()) {
                if (!cut(i, split, {left, right}, open, sent_right)) break;
                return;
            }
            splits_.open(bits, split.below[left.is_empty()]);
        }
        open_.give_back(open);
    }

    // Makes the two halves of a node, unless the walk ends in both.
    bool cut(std::uint32_t i, const SetSplits::Split& split, const std::array<CodeInterval, 2>& sides,
             std::uint32_t open, std::vector<std::uint32_t>& sent_right) {
        Node node = nodes_[i];
        const std::uint64_t* const goes_left = tree_.rows_left_of(split.node);
        Node left{i, 0, node.rows, open, node.is_listed, false}, right = left;
        if (node.is_listed) {
            left.n_rows = divide(list_.data() + node.rows, node.n_rows, sent_right,
                                 [&](std::uint32_t row) { return has_bit(goes_left, row); });
            right.rows += left.n_rows;
        } else {
            left.rows = rows_.take();
            right.rows = rows_.take();
            const auto keep = [&](const std::uint64_t* in, const std::uint64_t* not_in, std::uint32_t to) {
                return kernels().meet({rows_[node.rows], in, not_in, rows_[node.rows], rows_.n_words(), rows_[to]});
            };
            left.n_rows = static_cast<std::uint32_t>(keep(goes_left, nullptr, left.rows).n_rows);
            keep(nullptr, goes_left, right.rows);
        }
        right.n_rows = node.n_rows - left.n_rows;
        left.is_small = left.n_rows < min_node_size_;
        right.is_small = right.n_rows < min_node_size_;
        if (!left.is_small && !right.is_small) {
            right.open = open_.take();
            std::copy_n(open_[open], open_.n_words(), open_[right.open]);
            boxes_.resize(std::max(boxes_.size(), (right.open + 1) * all_.size()));
            std::copy_n(boxes_.data() + open * all_.size(), all_.size(), boxes_.data() + right.open * all_.size());
            if (!node.is_listed) rows_.give_back(node.rows);  // nobody's cell
        }
        for (Node* half : {&left, &right}) {
            if (half->is_small) half->open = kNone;
            if (half->is_small && !node.is_listed) rows_.give_back(half->rows);  // its cell is that of the node
            if (!half->is_small && !node.is_listed && half->n_rows <= kListed * rows_.n_words()) list(*half);
        }
        if (left.is_small && right.is_small) return false;
        for (const bool is_right : {false, true}) {
            const Node& half = is_right ? right : left;
            if (half.is_small) continue;
            splits_.open(open_[half.open], split.below[is_right]);
            boxes_[half.open * all_.size() + split.position] = sides[is_right];
        }
        node.left = static_cast<std::uint32_t>(nodes_.size());
        node.code = split.code;
        node.column = split.position;
        node.missing_left = split.missing_left;
        nodes_[i] = node;
        nodes_.push_back(left);
        nodes_.push_back(right);
        return true;
    }

    // Few rows are listed: that takes less memory.
    void list(Node& node) {
        const std::uint64_t* const bits = rows_[node.rows];
        rows_.give_back(std::exchange(node.rows, static_cast<std::uint32_t>(list_.size())));
        node.is_listed = true;
        for (std::uint32_t w = 0; w < rows_.n_words(); ++w)
            for (std::uint64_t rest = bits[w]; rest; rest &= rest - 1)
                list_.push_back(64 * w + static_cast<std::uint32_t>(std::countr_zero(rest)));
    }

    static constexpr std::size_t kListed = 1;  // rows for each word

    const SetSplits& splits_;
    const CodedTree& tree_;
    std::size_t min_node_size_;
    const CodeBox& all_;
    std::vector<Node> nodes_;          // children after their parents
    BitSets open_;                     // splits, in the order of SetSplits
    BitSets rows_;                     // positions in Tree::rows
    std::vector<std::uint32_t> list_;  // the same, those of a node next to each other
    std::vector<CodeInterval> boxes_;  // by number in open_: the points that reach the node
};

}  // namespace suffice
