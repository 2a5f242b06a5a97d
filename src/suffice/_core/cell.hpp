// The projected cell of x for a set S in one tree (Algorithm 1 of the paper, as docs/method.md states it).
//
// 1. One pass over the tree gives every split its departure mask: the variables at which the path from the root to the
//    split leaves the path of x. Turned around, every variable has a set of departed splits. The splits visited for S
//    are those on S that have departed on no variable of S, so no set needs a walk of its own: a few words per variable
//    give them all.
// 2. The visited splits are applied one by one, as in the definition, to one bit per row. After a split, those on its
//    column that leave at least the same values remove nothing more and are passed over.
// 3. Many sets walk together. They share their steps until they come to a split on a variable that some of them have
//    and others do not; there they part. Sets that never part have the same cell, which is found once.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
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
        is_missing_.resize(tree.columns.size());
        for (std::size_t c = 0; c < tree.columns.size(); ++c) is_missing_[c] = std::isnan(scratch.values[c]);
        const std::size_t n = tree.n_words, n_bytes = 64 * n;
        departed_.resize(n * n_variables);
        goes_left_.resize(n);
        for (std::size_t v = 0; v < n_variables; ++v)
            kernels().bit_plane(scratch.planes.data() + n_bytes * (v / 8), n, static_cast<int>(v % 8),
                                departed_.data() + n * v);
        kernels().bit_plane(scratch.planes.data() + n_bytes * n_mask_bytes(n_variables), n, 0, goes_left_.data());
    }

    const std::uint64_t* departed(std::size_t variable, std::size_t n_words) const {
        return departed_.data() + n_words * variable;
    }
    bool is_missing(std::size_t column) const { return is_missing_[column]; }  // in x; a column of the tree
    bool goes_left(std::size_t i) const { return goes_left_[i / 64] >> i % 64 & 1; }

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
    std::vector<std::uint8_t> is_missing_;
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

// Some rows of a tree, and how many they and those with the outcome are.
struct Cell {
    const std::uint64_t* rows;  // by block; valid until the next cell is found
    std::size_t n_blocks;
    std::size_t n_rows;
    std::size_t n_kept;

    double share() const { return static_cast<double>(n_kept) / static_cast<double>(n_rows); }
    // Calls visit(position) for each row, in the order of the tree's rows.
    template <class Visit>
    void for_each_position(const Visit& visit) const {
        for (std::size_t b = 0; b < n_blocks; ++b)
            for (std::uint64_t bits = rows[b]; bits; bits &= bits - 1)
                visit(kBlock * b + static_cast<std::size_t>(std::countr_zero(bits)));
    }
};

// A set of variables on its way through a tree, and a number by which the caller knows it.
template <class Set>
struct WalkingSet {
    Set variables;
    std::uint32_t number;
};

// Finds the cells of sets of one row in one tree. Reuses its memory.
template <class Set>
class CellFinder {
  public:
    explicit CellFinder(std::size_t min_node_size) : min_node_size_(min_node_size) {}
    std::size_t min_node_size() const { return min_node_size_; }

    // Calls act(set, cell) for each set. Bit i of a set stands for variable_of[i] of the projection; bit_of is its
    // inverse. `has_outcome` has one bit for each row of the tree. The sets change their order.
    template <class Do>
    void find(const CodedTree& tree, const Departures& departures, const std::uint64_t* has_outcome,
              std::span<const std::uint8_t> variable_of, std::span<const std::uint8_t> bit_of,
              std::span<WalkingSet<Set>> sets, const Do& act) {
        tree_ = &tree;
        departures_ = &departures;
        has_outcome_ = has_outcome;
        bit_of_ = bit_of;
        Set any = 0, all = sets[0].variables;
        for (const WalkingSet<Set>& set : sets) {
            any |= set.variables;
            all &= set.variables;
        }
        if (rows_.size() < tree.n_row_words) rows_.resize(tree.n_row_words);
        set_first_bits(tree.n_rows, rows_.data(), tree.n_row_words);
        counts_.assign(1, kernels().meet({rows_.data(), nullptr, nullptr, has_outcome, tree.n_row_words, nullptr}));
        open_.assign(tree.n_words, 0);
        for (const std::uint8_t i : Members<Set>(any))
            for (std::size_t w = 0; w < tree.n_words; ++w) open_[w] |= tree.own[tree.n_words * variable_of[i] + w];
        for (const std::uint8_t i : Members<Set>(all)) close(departed(variable_of[i]), 0, 0);
        walk(sets, {all, 0, 0, 0}, act);
    }

  private:
    // Where some sets are together: the variables that all of them have for sure, the next split, how many rows sets
    // lie below in rows_, and which part of open_ is theirs.
    struct State {
        Set inside;
        std::size_t next;
        std::size_t level;
        std::size_t part;
    };

    const std::uint64_t* departed(std::size_t variable) const {
        return departures_->departed(variable, tree_->n_words);
    }

    // Takes splits out of those that are still to be visited.
    void close(const std::uint64_t* splits, std::size_t part, std::size_t first_word) {
        std::uint64_t* const open = open_.data() + tree_->n_words * part;
        for (std::size_t w = first_word; w < tree_->n_words; ++w) open[w] &= ~splits[w];
    }

    // The first open split from `next` on; the number of all bits if there is none.
    std::size_t next_open(const State& state) const {
        const std::uint64_t* const open = open_.data() + tree_->n_words * state.part;
        std::size_t w = state.next / 64;
        if (w >= tree_->n_words) return 64 * tree_->n_words;
        std::uint64_t bits = open[w] & ~std::uint64_t{0} << state.next % 64;
        while (bits == 0 && ++w < tree_->n_words) bits = open[w];
        return 64 * w + (bits ? static_cast<std::size_t>(std::countr_zero(bits)) : 0);
    }

    // Walks on with sets that are together. Calls itself once for each variable at which they part, at most.
    template <class Do>
    void walk(std::span<WalkingSet<Set>> sets, State state, const Do& act) {
        for (; (state.next = next_open(state)) < 64 * tree_->n_words; ++state.next) {
            const CodedNode& node = tree_->nodes[state.next];
            const Set bit = Set{1} << bit_of_[node.variable];
            if (!(state.inside & bit)) {
                const auto has_it = [&](const WalkingSet<Set>& set) { return (set.variables & bit) != 0; };
                const auto without = std::partition(sets.begin(), sets.end(), has_it);
                const auto n_with = static_cast<std::size_t>(without - sets.begin());
                if (n_with < sets.size()) {
                    const std::uint64_t* const own = tree_->own.data() + tree_->n_words * node.variable;
                    if (n_with == 0) {
                        close(own, state.part, state.next / 64);
                        continue;
                    }
                    const std::size_t part = state.part + 1, n_words = tree_->n_words;
                    if (open_.size() < n_words * (part + 1)) open_.resize(n_words * (part + 1));
                    std::copy_n(open_.data() + n_words * state.part, n_words, open_.data() + n_words * part);
                    close(own, part, state.next / 64);
                    walk(sets.subspan(n_with), {state.inside, state.next, state.level, part}, act);
                    sets = sets.first(n_with);
                }
                state.inside |= bit;
                close(departed(node.variable), state.part, state.next / 64);
            }
            if (!take(state)) break;
        }
        const Cell cell{rows_.data() + tree_->n_row_words * state.level, n_blocks(tree_->n_rows),
                        counts_[state.level].n_rows, counts_[state.level].n_counted};
        for (const WalkingSet<Set>& set : sets) act(set, cell);
    }

    // Applies the next split. Returns false if it would leave too few rows.
    bool take(State& state) {
        const CodedNode& node = tree_->nodes[state.next];
        const bool goes_left = departures_->goes_left(state.next);
        const std::size_t n_words = tree_->n_row_words;
        if (rows_.size() < n_words * (state.level + 2)) rows_.resize(2 * n_words * (state.level + 2));
        counts_.resize(state.level + 2);
        const std::uint64_t* const left_rows = tree_->rows_left_of(state.next);
        std::uint64_t* const rows = rows_.data() + n_words * state.level;
        const MeetCounts counts =
            kernels().meet({rows, goes_left ? left_rows : nullptr, goes_left ? nullptr : left_rows, has_outcome_,
                            n_words, rows + n_words});
        if (counts.n_rows < min_node_size_) return false;
        if (counts.n_rows < counts_[state.level].n_rows) counts_[++state.level] = counts;
        // Where values are missing, another split may still remove their rows.
        if (!departures_->is_missing(node.column) &&
            (goes_left != node.missing_left || !tree_->has_missing[node.column]))
            close(tree_->looser_than(node, goes_left), state.part, state.next / 64);
        return true;
    }

    std::size_t min_node_size_;
    const CodedTree* tree_ = nullptr;
    const Departures* departures_ = nullptr;
    const std::uint64_t* has_outcome_ = nullptr;
    std::span<const std::uint8_t> bit_of_;
    std::vector<std::uint64_t> rows_;  // by level: the rows that are left; level 0 has all rows
    std::vector<MeetCounts> counts_;   // by level
    std::vector<std::uint64_t> open_;  // by part: the splits that are not ruled out
};

}  // namespace suffice
