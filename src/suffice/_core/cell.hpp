// The projected cell of x for a set S in one tree (Algorithm 1 of the paper, as docs/method.md states it).
//
// 1. One pass over the tree gives every split its departure mask: the variables at which the path from the root to the
//    split leaves the path of x. Turned around, every variable has a set of departed splits. The splits visited for S
//    are those on S that have departed on no variable of S, so no set needs a walk of its own: a few words per variable
//    give them all.
// 2. A variable of S has no effect if no split on it is visited. The other variables of S are the effective set; S and
//    its effective set have the same cell, which is computed once (on the switch model for one set in six).
// 3. The visited splits are applied one by one, to one bit per row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
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
        for (std::size_t c = 0; c < tree.columns.size(); ++c) scratch.values[c] = x[tree.columns[c]];
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
    for (std::size_t b = 0; b < rows.n_blocks; ++b)
        for (std::uint64_t bits = rows.mask[b]; bits; bits &= bits - 1)
            visit(kBlock * b + static_cast<std::size_t>(std::countr_zero(bits)));
}

// Finds cells one after the other, and reuses its memory.
class CellFinder {
  public:
    struct Cell {
        RowSet rows;  // valid until the next call
        std::size_t n_rows;
        bool is_new = true;  // false if it is the cell that was found before
    };

    explicit CellFinder(std::size_t min_node_size) : min_node_size_(min_node_size) {}

    // Finds the splits that are visited for the variables, and writes in is_effective[j] whether one is on members[j].
    void visit(const CodedTree& tree, const Departures& departures, const std::uint8_t* members, std::size_t n_members,
               std::uint8_t* is_effective) {
        grow(visited_, tree.n_words);
        kernels().visit(departures.sets(tree), members, n_members, visited_.data(), is_effective);
    }

    // The cell of the set that was visited last. `row` is a number that changes with the row: a cell starts from the
    // one before if that was of the same tree and row. The visited splits are applied one by one, as in the definition,
    // from the first one on that the walk before did not have.
    Cell find(const CodedTree& tree, const Departures& departures, std::uint64_t row) {
        const std::size_t blocks = n_blocks(tree.n_rows), n_words = padded(blocks);
        const bool starts = walked_tree_ != &tree || walked_row_ != row;
        if (starts) start_trail(tree, row, n_words);
        const Walk walk{tree.left_rows.data(), n_words,        visited_.data(),  departures.goes_left(),
                        tree.n_words,          min_node_size_, tree.codes.data()};
        const bool is_new = kernels().walk(walk, trail_);
        return {{trail_.rows + n_words * trail_.level, blocks}, trail_.n_rows[trail_.level], is_new || starts};
    }

  private:
    // A trail that has visited nothing.
    void start_trail(const CodedTree& tree, std::uint64_t row, std::size_t n_words) {
        walked_tree_ = &tree;
        walked_row_ = row;
        // Each level but the first has fewer rows than the one before; one more is tried.
        const std::size_t n_levels = std::min(tree.nodes.size(), tree.n_rows) + 2;
        grow(trail_visited_, tree.n_words);
        grow(trail_rows_, n_words * n_levels);
        grow(trail_counts_, n_levels);
        grow(trail_steps_, tree.nodes.size() + 1);
        grow(trail_box_, tree.columns.size());
        std::fill_n(trail_visited_.data(), tree.n_words, std::uint64_t{0});
        set_first_bits(tree.n_rows, trail_rows_.data(), n_words);
        trail_counts_[0] = static_cast<std::uint32_t>(tree.n_rows);
        std::fill_n(trail_box_.data(), tree.columns.size(), CodeInterval{0, ~std::uint32_t{0}, true});
        trail_ = {trail_visited_.data(),
                  trail_rows_.data(),
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

    std::size_t min_node_size_;
    std::vector<std::uint64_t> visited_;  // a set of splits
    // The last walk.
    const CodedTree* walked_tree_ = nullptr;
    std::uint64_t walked_row_ = 0;
    Trail trail_{};
    std::vector<std::uint64_t> trail_visited_, trail_rows_;
    std::vector<std::uint32_t> trail_counts_;
    std::vector<Trail::Step> trail_steps_;
    std::vector<CodeInterval> trail_box_;
};

}  // namespace suffice
