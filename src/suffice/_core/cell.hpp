// The projected cell of x for a set S in one tree (Algorithm 1 of the paper, as docs/method.md states it).
//
// 1. One pass over the tree gives every split its departure mask: the variables at which the path from the root to the
//    split leaves the path of x. The split is visited for S exactly if mask & S == 0, so no set needs a walk of its
//    own. A split whose mask has its own variable is visited by no set that splits on this variable, and is left out
//    (7 of 10 splits on the switch model).
// 2. Only those visited splits that tighten the box are kept, in breadth-first order (about 9). A variable of S has no
//    effect if no split on it is visited. The other variables of S are the effective set; S and its effective set
//    have the same cell, which is computed once (on the switch model for one set in six).
// 3. Each step can only remove rows from the cell, so the rows after t steps can be counted without the steps before.
//    An estimate from the counts of each column gives a t at which enough rows are left. The rows of that box are
//    found block by block; the remaining steps are then tried one by one on these few rows, until one leaves too few.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "projection.hpp"

namespace suffice {

// The splits of one tree that some set visits at x, breadth-first.
template <class Mask>
struct Splits {
    std::vector<Mask> departure;
    std::vector<Mask> own;                     // the split's variable, as a mask
    std::vector<std::uint32_t> node_and_side;  // 2 node + (x goes left)
    std::size_t size = 0;                      // padded to a multiple of 16 by splits that no set visits
    // Wide masks only: of[begin[v], begin[v + 1]) are the positions of the splits on variable v, ascending.
    std::vector<std::uint32_t> of, begin;

    // Memory for `find` that all trees share.
    struct Scratch {
        std::vector<Mask> masks;  // departure masks by CodedNode::slot
        std::vector<float> values;
    };

    void find(const CodedTree& tree, const float* x, Scratch& scratch) {
        const std::size_t n = tree.nodes.size();
        std::vector<Mask>& masks = scratch.masks;
        std::vector<float>& values = scratch.values;
        if (masks.size() < 2 * n + 1) masks.resize(2 * n + 1);
        values.resize(tree.columns.size());
        for (std::size_t c = 0; c < values.size(); ++c) values[c] = x[tree.columns[c].column];
        departure.resize(n + 16);
        own.resize(n + 16);
        node_and_side.resize(n + 16);
        masks[0] = 0;
        std::size_t n_out = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const CodedNode& node = tree.nodes[i];
            const float value = values[node.column];
            // Without branches, since the side that x takes is hard to predict.
            const bool left = (value <= node.threshold) | (node.missing_left & (value != value));
            const Mask mask = masks[node.slot];
            const Mask bit = static_cast<Mask>(Mask{1} << node.variable);
            const Mask departed = static_cast<Mask>(mask | bit);
            masks[2 - left + 2 * i] = mask;
            masks[1 + left + 2 * i] = departed;
            departure[n_out] = mask;
            own[n_out] = bit;
            node_and_side[n_out] = static_cast<std::uint32_t>(2 * i + (left ? 1 : 0));
            n_out += (mask & bit) == 0;
        }
        if constexpr (std::is_same_v<Mask, WideSet>) sort_by_variable(tree, n_out);
        for (size = n_out; size % 16 != 0; ++size) {
            departure[size] = static_cast<Mask>(~Mask{0});
            own[size] = 0;
        }
    }

  private:
    void sort_by_variable(const CodedTree& tree, std::size_t n) {
        const auto variable_of = [&](std::size_t i) { return tree.nodes[node_and_side[i] >> 1].variable; };
        begin.assign(kMaxVariables + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++begin[variable_of(i) + 1u];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        of.resize(n);
        for (std::size_t i = n; i-- > 0;) of[--begin[variable_of(i) + 1u]] = static_cast<std::uint32_t>(i);
        // Now begin[v + 1] is where v begins.
        begin.erase(begin.begin());
        begin.push_back(static_cast<std::uint32_t>(n));
    }
};

inline std::size_t visited(const Splits<std::uint16_t>& splits, std::uint64_t S, std::uint32_t* out) {
    return kernels().visited16(splits.departure.data(), splits.own.data(), splits.size, static_cast<std::uint16_t>(S),
                               out);
}
inline std::size_t visited(const Splits<std::uint64_t>& splits, std::uint64_t S, std::uint32_t* out) {
    return kernels().visited64(splits.departure.data(), splits.own.data(), splits.size, S, out);
}

// The variables of S on which a split is visited for S: they alone decide the cell.
inline std::uint64_t effective_set(const Splits<std::uint16_t>& splits, std::uint64_t S) {
    return kernels().effective16(splits.departure.data(), splits.own.data(), splits.size,
                                 static_cast<std::uint16_t>(S));
}
inline std::uint64_t effective_set(const Splits<std::uint64_t>& splits, std::uint64_t S) {
    return kernels().effective64(splits.departure.data(), splits.own.data(), splits.size, S);
}

// A wide set has few of its many possible variables, so only the splits on these are checked.
template <class Visit>
void for_each_variable(WideSet S, const Visit& visit) {
    for (std::size_t word = 0; word < 2; ++word)
        for (auto bits = static_cast<std::uint64_t>(S >> (64 * word)); bits; bits &= bits - 1)
            visit(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
}
inline std::size_t visited(const Splits<WideSet>& splits, WideSet S, std::uint32_t* out) {
    std::size_t n_out = 0;
    for_each_variable(S, [&](std::size_t v) {
        const std::size_t n_before = n_out;
        for (std::size_t i = splits.begin[v]; i < splits.begin[v + 1]; ++i) {
            out[n_out] = splits.of[i];
            n_out += (splits.departure[splits.of[i]] & S) == 0;
        }
        std::inplace_merge(out, out + n_before, out + n_out);
    });
    return n_out;
}
inline WideSet effective_set(const Splits<WideSet>& splits, WideSet S) {
    WideSet all = 0;
    for_each_variable(S, [&](std::size_t v) {
        bool is_visited = false;
        for (std::size_t i = splits.begin[v]; i < splits.begin[v + 1] && !is_visited; ++i)
            is_visited = (splits.departure[splits.of[i]] & S) == 0;
        if (is_visited) all |= WideSet{1} << v;
    });
    return all;
}

// Calls visit(position) for each row of a set, in the order of the tree's rows.
template <class Visit>
void for_each_position(const RowSet& rows, const Visit& visit) {
    for (std::size_t i = 0; i < rows.size; ++i)
        for (std::uint64_t bits = rows.mask[i]; bits; bits &= bits - 1)
            visit(kBlock * rows.block[i] + static_cast<std::size_t>(std::countr_zero(bits)));
}

// A RowSet that owns its memory.
class RowBuffer {
  public:
    void reserve(std::size_t blocks) {
        if (block_.size() < blocks) block_.resize(blocks), mask_.resize(blocks);
        rows.block = block_.data();
        rows.mask = mask_.data();
    }
    RowSet rows{};

  private:
    std::vector<std::uint32_t> block_;
    std::vector<std::uint64_t> mask_;
};

// Finds cells one after the other, and reuses its memory.
class CellFinder {
  public:
    struct Cell {
        RowSet rows;  // valid until the next call
        std::size_t n_rows;
        bool is_whole;  // all rows of the tree; `rows` is empty then
    };

    template <class Mask, class Set>
    Cell find(const CodedTree& tree, const Splits<Mask>& splits, Set S, std::size_t min_node_size) {
        if (visited_.size() < splits.size) visited_.resize(splits.size);
        n_visited_ = visited(splits, S, visited_.data());
        if (tree.has_bits()) return apply_bits(tree, splits.node_and_side.data(), min_node_size);
        tighten(tree, splits.node_and_side.data());
        const std::size_t t = count_from(tree, min_node_size);
        return refine(tree, t, min_node_size);
    }

  private:
    // One step towards the cell: it cuts `column` down to `interval`, in which the tree has `n_left` rows.
    struct Tightening {
        std::uint32_t column;
        std::uint32_t n_left;
        CodeInterval interval;
    };

    // Rows are first counted after the step at which this many times the least size is expected. On the switch model
    // all factors from 1.5 to 5 are equally fast.
    static constexpr double kSafety = 2.0;

    // For a tree of few rows: applies the visited splits one by one, as in the definition.
    Cell apply_bits(const CodedTree& tree, const std::uint32_t* node_and_side, std::size_t min_node_size) {
        const std::size_t blocks = n_blocks(tree.n_rows);
        next_.reserve(blocks);
        cell_.reserve(blocks);
        for (std::size_t b = 0; b < blocks; ++b) cell_.rows.block[b] = static_cast<std::uint32_t>(b);
        std::fill_n(cell_.rows.mask, blocks, ~std::uint64_t{0});
        if (tree.n_rows % kBlock) cell_.rows.mask[blocks - 1] = (std::uint64_t{1} << (tree.n_rows % kBlock)) - 1;
        cell_.rows.size = blocks;
        n_rows_ = tree.n_rows;
        for (std::size_t i = 0; i < n_visited_; ++i) {
            const std::uint32_t ref = node_and_side[visited_[i]];
            const std::uint64_t* left_rows = tree.left_rows.data() + blocks * (ref >> 1);
            const std::size_t n = kernels().keep(cell_.rows.mask, left_rows, !(ref & 1), blocks, next_.rows.mask);
            if (n < min_node_size) break;
            std::swap(cell_.rows.mask, next_.rows.mask);
            n_rows_ = n;
        }
        return {cell_.rows, n_rows_, n_rows_ == tree.n_rows};
    }

    void tighten(const CodedTree& tree, const std::uint32_t* node_and_side) {
        if (box_.size() < tree.columns.size()) {
            box_.resize(tree.columns.size());
            n_left_.resize(tree.columns.size());
            touched_.resize(tree.columns.size());
        }
        steps_.clear();
        columns_.clear();
        for (std::size_t i = 0; i < n_visited_; ++i) {
            const std::uint32_t ref = node_and_side[visited_[i]];
            const CodedNode& node = tree.nodes[ref >> 1];
            const TreeColumn& column = tree.columns[node.column];
            const bool left = ref & 1;
            if (!touched_[node.column]) {
                touched_[node.column] = 1;
                box_[node.column] = column.everything();
                n_left_[node.column] = static_cast<std::uint32_t>(tree.n_rows);
                columns_.push_back(node.column);
            }
            CodeInterval& interval = box_[node.column];
            // Without branches, since the side that x takes is hard to predict and most visited splits remove nothing.
            const std::uint32_t right = left ? 0 : ~std::uint32_t{0};  // all bits on or off
            const CodeInterval next{std::max(interval.lo, (node.code + 1) & right),
                                    std::min(interval.hi, node.code | right),
                                    static_cast<bool>(interval.missing & (left == node.missing_left))};
            if (!((next.lo ^ interval.lo) | (next.hi ^ interval.hi) | (next.missing ^ interval.missing))) continue;
            interval = next;
            const std::uint32_t n_left = column.count(next);
            if (n_left == n_left_[node.column]) continue;
            n_left_[node.column] = n_left;
            steps_.push_back({node.column, n_left, next});
        }
        for (const std::uint32_t c : columns_) touched_[c] = 0;
    }

    // Fills `cell_` with the rows after t steps and returns t: at least min_node_size rows are left, or t is 0.
    std::size_t count_from(const CodedTree& tree, std::size_t min_node_size) {
        std::size_t t = likely_enough(tree, min_node_size);
        for (; t > 0; t /= 2) {
            n_rows_ = rows_after(tree, t);
            if (n_rows_ >= min_node_size) return t;
        }
        n_rows_ = tree.n_rows;
        return 0;
    }

    // The number of steps after which enough rows are still expected if the columns are independent.
    std::size_t likely_enough(const CodedTree& tree, std::size_t min_node_size) {
        const double n = static_cast<double>(tree.n_rows);
        // With one column the expectation is the count.
        const double enough = static_cast<double>(min_node_size) * (columns_.size() > 1 ? kSafety : 1.0);
        for (const std::uint32_t c : columns_) n_left_[c] = static_cast<std::uint32_t>(tree.n_rows);
        std::size_t t = 0;
        for (; t < steps_.size(); ++t) {
            n_left_[steps_[t].column] = steps_[t].n_left;
            double expected = n;
            for (const std::uint32_t c : columns_) expected *= n_left_[c] * tree.share_of_a_row;
            if (expected < enough) break;
        }
        return t;
    }

    std::size_t rows_after(const CodedTree& tree, std::size_t t) {
        order_.clear();
        for (std::size_t i = t; i-- > 0;) {  // the last step on a column has its final interval
            const std::uint32_t c = steps_[i].column;
            if (touched_[c]) continue;
            touched_[c] = 1;
            order_.push_back(static_cast<std::uint32_t>(i));
        }
        for (const std::uint32_t i : order_) touched_[steps_[i].column] = 0;
        // The column that keeps the fewest rows comes first: it leaves the fewest blocks to the others.
        std::sort(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return steps_[a].n_left < steps_[b].n_left; });
        make_all_alive(tree.n_rows);
        for (const std::uint32_t i : order_)
            kernels().overlap(tree.columns[steps_[i].column].view(), steps_[i].interval, alive_.size(), alive_.data());
        collect(tree.n_rows);
        std::size_t n = 0;
        for (const std::uint32_t i : order_)
            n = kernels().refine(tree.columns[steps_[i].column].view(), steps_[i].interval, cell_.rows, cell_.rows);
        return n;
    }

    void make_all_alive(std::size_t n_rows) {
        const std::size_t blocks = n_blocks(n_rows);
        alive_.assign(n_blocks(blocks), ~std::uint64_t{0});
        if (blocks % 64) alive_.back() = (std::uint64_t{1} << (blocks % 64)) - 1;
    }

    // Fills `cell_` with all rows of the blocks that are alive.
    void collect(std::size_t n_rows) {
        const std::size_t blocks = n_blocks(n_rows);
        cell_.reserve(blocks);
        std::size_t n = 0;
        for (std::size_t w = 0; w < alive_.size(); ++w)
            for (std::uint64_t bits = alive_[w]; bits; bits &= bits - 1) {
                cell_.rows.block[n] =
                    static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(__builtin_ctzll(bits));
                cell_.rows.mask[n++] = ~std::uint64_t{0};
            }
        if (n && cell_.rows.block[n - 1] == blocks - 1 && n_rows % kBlock)
            cell_.rows.mask[n - 1] = (std::uint64_t{1} << (n_rows % kBlock)) - 1;
        cell_.rows.size = n;
    }

    Cell refine(const CodedTree& tree, std::size_t t, std::size_t min_node_size) {
        next_.reserve(n_blocks(tree.n_rows));
        for (; t < steps_.size(); ++t) {
            if (t == 0) {
                make_all_alive(tree.n_rows);
                collect(tree.n_rows);
            }
            const Tightening& step = steps_[t];
            const std::size_t n =
                kernels().refine(tree.columns[step.column].view(), step.interval, cell_.rows, next_.rows);
            if (n < min_node_size) break;
            std::swap(cell_, next_);
            n_rows_ = n;
        }
        if (n_rows_ == tree.n_rows) return {{}, tree.n_rows, true};
        return {cell_.rows, n_rows_, false};
    }

    std::vector<std::uint32_t> visited_;  // positions in Splits
    std::size_t n_visited_ = 0;
    std::vector<CodeInterval> box_;       // by column of the tree
    std::vector<std::uint32_t> n_left_;   // by column of the tree: rows in its interval
    std::vector<std::uint8_t> touched_;   // by column of the tree
    std::vector<std::uint32_t> columns_;  // touched by the current set
    std::vector<Tightening> steps_;
    std::vector<std::uint32_t> order_;  // the steps that together make the box
    std::vector<std::uint64_t> alive_;  // blocks
    RowBuffer cell_, next_;
    std::size_t n_rows_ = 0;
};

}  // namespace suffice
