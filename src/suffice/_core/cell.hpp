// The projected cell of x for a set S in one tree (Algorithm 1 of the paper, as docs/method.md states it).
//
// 1. One pass over the tree gives every split its departure mask: the variables at which the path from the root to the
//    split leaves the path of x. Turned around, every variable has a set of departed splits. The splits visited for S
//    are those on S that have departed on no variable of S, so no set needs a walk of its own: a few words per variable
//    give them all.
// 2. A variable of S has no effect if no split on it is visited. The other variables of S are the effective set; S and
//    its effective set have the same cell, which is computed once (on the switch model for one set in six).
// 3. In a tree of few rows the visited splits are applied one by one, to one bit per row. In a larger tree, only those
//    that tighten the box are kept (about 9 of 20). Each of them can only remove rows from the cell, so the rows after
//    t steps can be counted without the steps before. An estimate from the counts of each column gives a t at which
//    enough rows are left. The rows of that box are found block by block; the remaining steps are then tried one by one
//    on these few rows, until one leaves too few.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "projection.hpp"

namespace suffice {

// The splits of one tree as seen from one row x: at which x goes left, and which have departed from x on a variable.
class Departures {
  public:
    // Memory for `find` that all trees share.
    struct Scratch {
        std::vector<WideSet> wide_masks;  // departure masks by CodedNode::slot
        std::vector<std::uint64_t> masks;
        std::vector<std::uint8_t> planes;  // by byte of a mask and split; the last plane says whether x goes left
        std::vector<float> values;
    };

    void find(const CodedTree& tree, std::size_t n_variables, const float* x, Scratch& scratch) {
        if (n_variables <= kWordVariables)
            find_as<std::uint64_t>(tree, n_variables, x, scratch.masks, scratch);
        else
            find_as<WideSet>(tree, n_variables, x, scratch.wide_masks, scratch);
        const std::size_t n = tree.n_words, n_bytes = 64 * n;
        departed_.resize(n * n_variables);
        goes_left_.resize(n);
        for (std::size_t v = 0; v < n_variables; ++v)
            kernels().bit_plane(scratch.planes.data() + n_bytes * (v / 8), n, static_cast<int>(v % 8),
                                departed_.data() + n * v);
        kernels().bit_plane(scratch.planes.data() + n_bytes * n_mask_bytes(n_variables), n, 0, goes_left_.data());
    }

    SplitSets sets(const CodedTree& tree) const { return {departed_.data(), tree.own.data(), tree.n_words}; }
    const std::uint64_t* goes_left() const { return goes_left_.data(); }

  private:
    static std::size_t n_mask_bytes(std::size_t n_variables) { return (n_variables + 7) / 8; }

    template <class Mask>
    static void find_as(const CodedTree& tree, std::size_t n_variables, const float* x, std::vector<Mask>& masks,
                        Scratch& scratch) {
        const std::size_t n = tree.nodes.size(), n_bytes = 64 * tree.n_words, n_planes = n_mask_bytes(n_variables);
        if (masks.size() < 2 * n + 1) masks.resize(2 * n + 1);
        scratch.values.resize(tree.columns.size());
        for (std::size_t c = 0; c < tree.columns.size(); ++c) scratch.values[c] = x[tree.columns[c].column];
        scratch.planes.resize(n_bytes * (n_planes + 1));
        std::uint8_t* const planes = scratch.planes.data();
        std::uint8_t* const goes_left = planes + n_bytes * n_planes;
        const float* const values = scratch.values.data();
        masks[0] = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const CodedNode& node = tree.nodes[i];
            const bool left = node.goes_left(values[node.column]);
            const Mask mask = masks[node.slot];
            masks[2 - left + 2 * i] = mask;
            masks[1 + left + 2 * i] = mask | Mask{1} << node.variable;
            for (std::size_t b = 0; b < n_planes; ++b)
                planes[n_bytes * b + i] = static_cast<std::uint8_t>(mask >> (8 * b));
            goes_left[i] = left;
        }
    }

    std::vector<std::uint64_t> departed_;  // by variable: a set of splits
    std::vector<std::uint64_t> goes_left_;
};

// The variables of a set, ascending.
template <class Set>
class Members {
  public:
    explicit Members(Set S) {
        if constexpr (sizeof(Set) <= 8) {
            append(S, 0);
        } else {
            append(static_cast<std::uint64_t>(S), 0);
            append(static_cast<std::uint64_t>(S >> 64), 64);
        }
    }
    const std::uint8_t* data() const { return variable_; }
    std::size_t size() const { return n_; }
    std::uint8_t operator[](std::size_t j) const { return variable_[j]; }
    const std::uint8_t* begin() const { return variable_; }
    const std::uint8_t* end() const { return variable_ + n_; }

  private:
    void append(std::uint64_t bits, int first) {
        for (; bits; bits &= bits - 1) variable_[n_++] = static_cast<std::uint8_t>(first + std::countr_zero(bits));
    }

    std::size_t n_ = 0;
    std::uint8_t variable_[8 * sizeof(Set)];
};

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
        bool is_whole;       // all rows of the tree; `rows` is empty then
        bool is_new = true;  // false if it is the cell that was found before
    };

    // Finds the splits that are visited for the variables, and writes in is_effective[j] whether one is on members[j].
    void visit(const CodedTree& tree, const Departures& departures, const std::uint8_t* members, std::size_t n_members,
               std::uint8_t* is_effective) {
        if (visited_.size() < tree.n_words) visited_.resize(tree.n_words);
        kernels().visit(departures.sets(tree), members, n_members, visited_.data(), is_effective);
    }

    // The cell of the set that was visited last. `row` is a number that changes with the row: in a tree of few rows, a
    // cell starts from the one before if that was of the same tree and row.
    Cell find(const CodedTree& tree, const Departures& departures, std::size_t min_node_size, std::uint64_t row) {
        if (tree.has_bits()) return walk(tree, departures, min_node_size, row);
        tighten(tree, departures.goes_left());
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

    // For a tree of few rows: applies the visited splits one by one, as in the definition, from the first one on that
    // the walk before did not have.
    Cell walk(const CodedTree& tree, const Departures& departures, std::size_t min_node_size, std::uint64_t row) {
        const std::size_t blocks = n_blocks(tree.n_rows), n_words = padded(blocks);
        const bool starts = is_elsewhere(tree, min_node_size, row);
        if (starts) {
            start_trail(tree);
            // Each level but the first has fewer rows than the one before; one more is tried.
            grow(trail_rows_, n_words * (std::min(tree.nodes.size(), tree.n_rows) + 2));
            trail_.rows = trail_rows_.data();
            set_first_bits(tree.n_rows, trail_.rows, n_words);
            for (std::size_t b = every_block_.size(); b < n_words; ++b)
                every_block_.push_back(static_cast<std::uint32_t>(b));
        }
        const Walk walk{tree.left_rows.data(), n_words,       visited_.data(),  departures.goes_left(),
                        tree.n_words,          min_node_size, tree.codes.data()};
        const bool is_new = kernels().walk(walk, trail_);
        const std::size_t n_rows = trail_.n_rows[trail_.level];
        return {{every_block_.data(), trail_.rows + n_words * trail_.level, blocks},
                n_rows,
                n_rows == tree.n_rows,
                is_new || starts};
    }

    // Whether the trail is of another tree or row. It is not from here on.
    bool is_elsewhere(const CodedTree& tree, std::size_t min_node_size, std::uint64_t row) {
        if (walked_tree_ == &tree && walked_row_ == row && walked_size_ == min_node_size) return false;
        walked_tree_ = &tree;
        walked_row_ = row;
        walked_size_ = min_node_size;
        return true;
    }

    // A trail that has visited nothing.
    void start_trail(const CodedTree& tree) {
        grow(trail_visited_, tree.n_words);
        grow(trail_counts_, std::min(tree.nodes.size(), tree.n_rows) + 2);
        grow(trail_steps_, tree.nodes.size() + 1);
        grow(trail_box_, tree.columns.size());
        std::fill_n(trail_visited_.data(), tree.n_words, std::uint64_t{0});
        trail_counts_[0] = static_cast<std::uint32_t>(tree.n_rows);
        std::fill_n(trail_box_.data(), tree.columns.size(), CodeInterval{0, ~std::uint32_t{0}, true});
        trail_ = {trail_visited_.data(),
                  nullptr,
                  trail_counts_.data(),
                  trail_steps_.data(),
                  trail_box_.data(),
                  0,
                  0,
                  kNoStop};
    }

    template <class T>
    static void grow(std::vector<T>& values, std::size_t n) {
        if (values.size() < n) values.resize(n);
    }

    [[gnu::always_inline]] void tighten_at(const CodedTree& tree, std::size_t i, const std::uint64_t* goes_left) {
        const CodedNode& node = tree.nodes[i];
        const TreeColumn& column = tree.columns[node.column];
        const bool left = goes_left[i / 64] >> (i % 64) & 1;
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
        if (!((next.lo ^ interval.lo) | (next.hi ^ interval.hi) | (next.missing ^ interval.missing))) return;
        interval = next;
        const std::uint32_t n_left = column.count(next);
        if (n_left == n_left_[node.column]) return;
        n_left_[node.column] = n_left;
        steps_.push_back({node.column, n_left, next});
    }

    void tighten(const CodedTree& tree, const std::uint64_t* goes_left) {
        if (n_left_.size() < tree.columns.size()) {
            box_.resize(tree.columns.size());
            n_left_.resize(tree.columns.size());
            touched_.resize(tree.columns.size());
        }
        steps_.clear();
        columns_.clear();
        for (std::size_t w = 0; w < tree.n_words; ++w)
            for (std::uint64_t bits = visited_[w]; bits; bits &= bits - 1)
                tighten_at(tree, 64 * w + static_cast<std::size_t>(std::countr_zero(bits)), goes_left);
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
        alive_.resize(n_blocks(blocks));
        set_first_bits(blocks, alive_.data(), alive_.size());
    }

    // Fills `cell_` with all rows of the blocks that are alive.
    void collect(std::size_t n_rows) {
        const std::size_t blocks = n_blocks(n_rows);
        cell_.reserve(blocks);
        std::size_t n = 0;
        for (std::size_t w = 0; w < alive_.size(); ++w)
            for (std::uint64_t bits = alive_[w]; bits; bits &= bits - 1) {
                cell_.rows.block[n] =
                    static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(bits));
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

    std::vector<std::uint64_t> visited_;  // a set of splits
    std::vector<CodeInterval> box_;       // by column of the tree
    std::vector<std::uint32_t> n_left_;   // by column of the tree: rows in its interval
    std::vector<std::uint8_t> touched_;   // by column of the tree
    std::vector<std::uint32_t> columns_;  // touched by the current set
    std::vector<Tightening> steps_;
    std::vector<std::uint32_t> order_;  // the steps that together make the box
    std::vector<std::uint64_t> alive_;  // blocks
    RowBuffer cell_, next_;
    std::size_t n_rows_ = 0;
    // The last walk in a tree of few rows.
    const CodedTree* walked_tree_ = nullptr;
    std::uint64_t walked_row_ = 0;
    std::size_t walked_size_ = 0;
    Trail trail_{};
    std::vector<std::uint64_t> trail_visited_, trail_rows_;
    std::vector<std::uint32_t> trail_counts_, every_block_;
    std::vector<Trail::Step> trail_steps_;
    std::vector<CodeInterval> trail_box_;
};

// Finds the cells of one row and set after the other.
class CellOfRow {
  public:
    CellOfRow(const Projection& projection, std::size_t min_node_size)
        : projection_(projection), min_node_size_(min_node_size) {}

    // The cell of x in tree t, valid until the next call.
    template <class Set>
    CellFinder::Cell find(std::size_t t, const float* x, const Members<Set>& members) {
        const CodedTree& tree = projection_.trees[t];
        std::uint8_t is_effective[8 * sizeof(Set)];
        departures_.find(tree, projection_.n_variables, x, scratch_);
        finder_.visit(tree, departures_, members.data(), members.size(), is_effective);
        return finder_.find(tree, departures_, min_node_size_, ++n_found_);
    }

  private:
    const Projection& projection_;
    std::size_t min_node_size_;
    Departures departures_;
    Departures::Scratch scratch_;
    CellFinder finder_;
    std::uint64_t n_found_ = 0;
};

}  // namespace suffice
