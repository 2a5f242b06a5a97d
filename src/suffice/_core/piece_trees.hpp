// Trees that ask in which piece of a column a point lies (docs/method.md, section 9), and the part of them that a box
// leaves: pieces that no split separates become one, and leaves become boxes over the runs of pieces of their tree.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace suffice {

// Sums are counted in whole units, so that their order does not matter.
using Units = std::int64_t;
inline constexpr Units kNever = -(Units{1} << 60);  // of a leaf, run or piece that no point can have
inline constexpr int kUnitBits = 53;                // the largest sizes of all trees add up to less than 2^53 units

// A split of pieces: those that go left, as bytes, and where it changes from one piece to the next.
struct PieceSplit {
    std::int32_t column = 0;
    std::vector<std::uint8_t> goes_left;
    std::vector<std::int32_t> changes;  // c: the pieces c and c + 1 go to different sides
};

struct PieceTrees {
    std::vector<std::size_t> piece_begin;  // by column, and the end
    std::vector<PieceSplit> splits;
    std::vector<std::int32_t> roots, split, left, right;  // split: -1 at a leaf
    std::vector<double> value;                            // by node and output; -inf: no point gets there
    std::size_t n_outputs = 0;

    std::size_t n_columns() const { return piece_begin.size() - 1; }
    std::size_t n_pieces() const { return piece_begin.back(); }
    std::int32_t leaf(std::int32_t node, std::span<const std::int32_t> point) const {
        while (split[static_cast<std::size_t>(node)] >= 0) {
            const auto at = static_cast<std::size_t>(node);
            const PieceSplit& question = splits[static_cast<std::size_t>(split[at])];
            const auto piece = static_cast<std::size_t>(point[static_cast<std::size_t>(question.column)]);
            node = question.goes_left[piece] ? left[at] : right[at];
        }
        return node;
    }
};

// What the leaves add to a margin, in units.
class MarginUnits {
  public:
    MarginUnits(const PieceTrees& trees, std::span<const double> weights) : trees_(&trees), weights_(weights) {}

    // The unit is a power of two; `largest` is the sum over the trees of the largest size of a leaf.
    void choose_unit(double largest) { exponent_ = largest > 0 ? kUnitBits - 1 - std::ilogb(largest) : 0; }
    // The weighted sum of a leaf's outputs. Whether it was rounded is noted.
    double margin(std::int32_t leaf) {
        double sum = 0;
        for (std::size_t o = 0; o < weights_.size(); ++o) {
            if (weights_[o] == 0) continue;
            const double term = weights_[o] * trees_->value[static_cast<std::size_t>(leaf) * trees_->n_outputs + o];
            const double next = sum + term;
            if (std::isfinite(next)) {
                const double part = next - sum;  // two-sum: what the addition lost
                is_exact_ = is_exact_ && (sum - (next - part)) + (term - part) == 0;
            }
            sum = next;
        }
        return sum;
    }
    Units units(std::int32_t leaf) {
        const double scaled = std::ldexp(margin(leaf), exponent_);
        if (!std::isfinite(scaled)) return kNever;
        is_exact_ = is_exact_ && scaled == std::nearbyint(scaled);
        return static_cast<Units>(std::nearbyint(scaled));
    }
    bool is_exact() const { return is_exact_; }
    double to_margin(Units units) const { return std::ldexp(static_cast<double>(units), -exponent_); }
    // The least number of units that may be at least (or, if `is_strict`, above) a level. Every leaf may be rounded by
    // half a unit, and once more where outputs were subtracted.
    Units level(double level, bool is_strict) const {
        const double scaled = std::ldexp(level, exponent_);
        constexpr double kMost = 9e17;  // below 2^60
        if (scaled >= kMost) return static_cast<Units>(kMost);
        if (scaled <= -kMost) return -static_cast<Units>(kMost);
        if (!is_exact_)
            return static_cast<Units>(std::floor(scaled)) - 2 * static_cast<Units>(trees_->roots.size()) - 2;
        return static_cast<Units>(is_strict ? std::floor(scaled) + 1 : std::ceil(scaled));
    }

  private:
    const PieceTrees* trees_;
    std::span<const double> weights_;
    int exponent_ = 0;
    bool is_exact_ = true;
};

// A tree and a column that it asks about. The tree divides the pieces of the column into runs; `sets` of them are what
// its leaves allow, the first set being all.
struct Pair {
    std::size_t tree = 0, column = 0;
    std::vector<std::uint32_t> run_end;     // in kept pieces
    std::vector<std::uint8_t> in_set;       // by set and run
    std::vector<std::uint16_t> set_of;      // by leaf of the tree
    std::size_t n_sets = 0, first_set = 0;  // its place among the sets of all pairs

    std::size_t n_runs() const { return run_end.size(); }
    const std::uint8_t* runs_of(std::size_t set) const { return in_set.data() + set * n_runs(); }
    std::size_t run_of(std::uint32_t piece) const {
        return static_cast<std::size_t>(std::upper_bound(run_end.begin(), run_end.end(), piece) - run_end.begin());
    }
};

// The part of the trees that a box leaves.
class BoxedTrees {
  public:
    BoxedTrees(const PieceTrees& trees, std::span<const std::uint8_t> allowed, std::span<const double> weights,
               std::span<const std::int64_t> cost, double level)
        : units(trees, weights), trees_(trees), allowed_(allowed), sides_(trees.splits.size(), kUnknown) {
        find_splits(level);
        if (!is_empty) keep_pieces(cost);
        for (const std::int32_t root : trees.roots)
            if (!is_empty) cut_tree(root);
    }

    MarginUnits units;
    Units base = 0;                          // of trees that the box leaves one leaf
    bool is_empty = false;                   // no point: of a column, of a tree, or whose best leaves reach the level
    std::vector<std::size_t> leaf_begin{0};  // by tree that is left, and the end
    std::vector<Units> leaf_units;
    std::vector<Pair> pairs;  // by tree
    std::vector<std::vector<std::size_t>> pairs_of_column;
    std::vector<std::size_t> kept_begin{0};  // by column that is left, and the end
    std::vector<std::int32_t> kept;          // the piece that stands for those that are not separated
    std::vector<std::int64_t> kept_cost;     // the least cost of these
    std::int64_t base_cost = 0;              // of the columns that are not left
    std::vector<std::size_t> column_of;      // by column that is left
    std::vector<std::int32_t> point;         // by column of the trees: a piece, where the column is not left
    std::size_t n_sets = 0;

    std::size_t n_columns() const { return column_of.size(); }
    std::size_t n_trees() const { return leaf_begin.size() - 1; }

  private:
    enum : std::uint8_t { kUnknown, kLeft, kRight, kBoth };

    // Which sides of a split the box meets.
    std::uint8_t sides(std::int32_t number) {
        std::uint8_t& known = sides_[static_cast<std::size_t>(number)];
        if (known != kUnknown) return known;
        const PieceSplit& split = trees_.splits[static_cast<std::size_t>(number)];
        const auto* box = allowed_.data() + trees_.piece_begin[static_cast<std::size_t>(split.column)];
        bool meets_left = false, meets_right = false;
        for (std::size_t p = 0; p < split.goes_left.size() && !(meets_left && meets_right); ++p) {
            meets_left |= box[p] && split.goes_left[p];
            meets_right |= box[p] && !split.goes_left[p];
        }
        return known = meets_left ? (meets_right ? kBoth : kLeft) : kRight;
    }

    // Finds the splits that divide the box in each tree, and the unit.
    void find_splits(double level) {
        double largest = 0, highest = 0;
        std::vector<std::int32_t> open;
        std::vector<std::uint8_t> divides(trees_.splits.size(), 0);
        for (const std::int32_t root : trees_.roots) {
            double size = 0, best = -std::numeric_limits<double>::infinity();
            open.assign(1, root);
            while (!open.empty()) {
                const std::int32_t node = open.back();
                const auto at = static_cast<std::size_t>(node);
                open.pop_back();
                if (trees_.split[at] < 0) {
                    const double margin = units.margin(node);
                    if (std::isfinite(margin)) size = std::max(size, std::abs(margin));
                    best = std::max(best, margin);
                    continue;
                }
                const std::uint8_t side = sides(trees_.split[at]);
                divides[static_cast<std::size_t>(trees_.split[at])] |= side == kBoth;
                if (side & kRight) open.push_back(trees_.right[at]);
                if (side & kLeft) open.push_back(trees_.left[at]);
            }
            largest += size;
            highest += best;
        }
        is_empty = highest + static_cast<double>(trees_.roots.size() + 2) * std::ldexp(largest, -50) < level;
        units.choose_unit(largest);
        for (std::size_t s = 0; s < divides.size(); ++s)
            if (divides[s]) dividing_.push_back(s);
    }

    // Neighbours that no split of the box separates become one piece.
    void keep_pieces(std::span<const std::int64_t> cost) {
        const std::size_t n_columns = trees_.n_columns();
        std::vector<std::vector<std::uint8_t>> ends(n_columns);
        rank_.resize(n_columns);
        for (std::size_t c = 0; c < n_columns; ++c) {
            const std::size_t first = trees_.piece_begin[c], n = trees_.piece_begin[c + 1] - first;
            std::int32_t count = 0;
            for (std::size_t p = 0; p < n; ++p) rank_[c].push_back(count += allowed_[first + p] ? 1 : 0);
            is_empty |= count == 0;
            ends[c].assign(static_cast<std::size_t>(count) + 1, 0);
        }
        point.assign(n_columns, 0);
        if (is_empty) return;
        for (const std::size_t s : dividing_) {
            const PieceSplit& split = trees_.splits[s];
            const auto c = static_cast<std::size_t>(split.column);
            for (const std::int32_t change : split.changes)
                ends[c][static_cast<std::size_t>(rank_[c][static_cast<std::size_t>(change)])] = 1;
        }
        left_.assign(n_columns, kNone);
        for (std::size_t c = 0; c < n_columns; ++c) keep_column(c, ends[c], cost);
        pairs_of_column.resize(this->n_columns());
    }

    void keep_column(std::size_t c, std::vector<std::uint8_t>& ends, std::span<const std::int64_t> cost) {
        const std::size_t first = trees_.piece_begin[c], n = rank_[c].size(), begin = kept.size();
        ends[0] = 0;
        bool starts = true;
        for (std::size_t p = 0; p < n; ++p) {
            if (allowed_[first + p]) {
                const std::int64_t price = cost.empty() ? 0 : cost[first + p];
                if (starts) {
                    kept.push_back(static_cast<std::int32_t>(p));
                    kept_cost.push_back(price);
                } else if (price < kept_cost.back()) {
                    kept.back() = static_cast<std::int32_t>(p);
                    kept_cost.back() = price;
                }
                starts = ends[static_cast<std::size_t>(rank_[c][p])] != 0;
            }
            // From here on: the kept pieces up to this one.
            rank_[c][p] = static_cast<std::int32_t>(kept.size() - begin);
        }
        if (kept.size() - begin == 1) {
            point[c] = kept.back();
            base_cost += kept_cost.back();
            kept.pop_back();
            kept_cost.pop_back();
            return;
        }
        left_[c] = column_of.size();
        column_of.push_back(c);
        kept_begin.push_back(kept.size());
    }

    // Makes the pairs of a tree that ask about its splits, by the ends of their runs.
    void make_pairs(std::int32_t root) {
        open_.assign(1, root);
        used_.clear();
        std::vector<std::vector<std::uint32_t>> ends;
        while (!open_.empty()) {
            const auto at = static_cast<std::size_t>(open_.back());
            open_.pop_back();
            if (trees_.split[at] < 0) continue;
            const std::uint8_t side = sides(trees_.split[at]);
            if (side & kRight) open_.push_back(trees_.right[at]);
            if (side & kLeft) open_.push_back(trees_.left[at]);
            if (side != kBoth) continue;
            const PieceSplit& split = trees_.splits[static_cast<std::size_t>(trees_.split[at])];
            const std::size_t c = static_cast<std::size_t>(split.column), column = left_[c];
            const auto found = std::find(used_.begin(), used_.end(), column);
            const auto place = static_cast<std::size_t>(found - used_.begin());
            if (found == used_.end()) {
                used_.push_back(column);
                ends.push_back({static_cast<std::uint32_t>(kept_begin[column + 1] - kept_begin[column])});
            }
            for (const std::int32_t change : split.changes) {
                const auto end = static_cast<std::uint32_t>(rank_[c][static_cast<std::size_t>(change)]);
                if (end > 0) ends[place].push_back(end);
            }
        }
        for (std::size_t i = 0; i < used_.size(); ++i) {
            std::sort(ends[i].begin(), ends[i].end());
            ends[i].erase(std::unique(ends[i].begin(), ends[i].end()), ends[i].end());
            Pair pair;
            pair.tree = n_trees();
            pair.column = used_[i];
            pair.n_sets = 1;
            pair.in_set.assign(ends[i].size(), 1);
            pair.run_end = std::move(ends[i]);
            pairs.push_back(std::move(pair));
        }
    }

    // The number of the set that is left of a set of runs on one side of a split; none if nothing is left.
    std::size_t cut_set(Pair& pair, std::size_t set, const PieceSplit& split, bool to_left) {
        const std::size_t n = pair.n_runs();
        part_.assign(pair.runs_of(set), pair.runs_of(set) + n);
        bool is_left = false;
        for (std::size_t r = 0; r < n; ++r) {
            const auto piece = static_cast<std::size_t>(kept[kept_begin[pair.column] + pair.run_end[r] - 1]);
            part_[r] = part_[r] && (split.goes_left[piece] != 0) == to_left;
            is_left |= part_[r] != 0;
        }
        if (!is_left) return kNone;
        for (std::size_t s = 0; s < pair.n_sets; ++s)
            if (std::equal(part_.begin(), part_.end(), pair.runs_of(s))) return s;
        pair.in_set.insert(pair.in_set.end(), part_.begin(), part_.end());
        if (pair.n_sets == std::numeric_limits<std::uint16_t>::max())
            throw std::length_error("A tree divides a column into too many sets of pieces.");
        return pair.n_sets++;
    }

    // Walks down a tree with the sets of runs on the way, and makes its leaves.
    void cut_tree(std::int32_t root) {
        const std::size_t first_pair = pairs.size(), first_leaf = leaf_units.size();
        make_pairs(root);
        const std::size_t n = used_.size();
        // By open node, the set of each pair, in one line: a vector for each node took most of the time of a box.
        std::vector<std::uint16_t> sets(n, 0), own, sets_of_leaves;
        open_.assign(1, root);
        while (!open_.empty()) {
            const std::int32_t node = open_.back();
            const auto at = static_cast<std::size_t>(node);
            open_.pop_back();
            own.assign(sets.end() - static_cast<std::ptrdiff_t>(n), sets.end());
            sets.resize(sets.size() - n);
            if (trees_.split[at] < 0) {
                const Units added = units.units(node);
                if (added == kNever) continue;
                leaf_units.push_back(added);
                sets_of_leaves.insert(sets_of_leaves.end(), own.begin(), own.end());
                continue;
            }
            const std::uint8_t side = sides(trees_.split[at]);
            const PieceSplit& split = trees_.splits[static_cast<std::size_t>(trees_.split[at])];
            const auto found = std::find(used_.begin(), used_.end(), left_[static_cast<std::size_t>(split.column)]);
            const auto i = static_cast<std::size_t>(found - used_.begin());
            for (const bool to_left : {false, true}) {
                if (!(side & (to_left ? kLeft : kRight))) continue;
                const std::size_t set = side == kBoth ? cut_set(pairs[first_pair + i], own[i], split, to_left) : 0;
                if (set == kNone) continue;
                open_.push_back(to_left ? trees_.left[at] : trees_.right[at]);
                sets.insert(sets.end(), own.begin(), own.end());
                if (side == kBoth) sets[sets.size() - n + i] = static_cast<std::uint16_t>(set);
            }
        }
        const std::size_t n_leaves = leaf_units.size() - first_leaf;
        if (n_leaves == 0) {
            is_empty = true;
        } else if (n == 0) {
            base += leaf_units.back();
            leaf_units.pop_back();
        } else {
            for (std::size_t i = 0; i < n; ++i) {
                Pair& pair = pairs[first_pair + i];
                for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) pair.set_of.push_back(sets_of_leaves[leaf * n + i]);
                pair.first_set = n_sets;
                n_sets += pair.n_sets;
                pairs_of_column[pair.column].push_back(first_pair + i);
            }
            leaf_begin.push_back(leaf_units.size());
        }
    }

    static constexpr std::size_t kNone = ~std::size_t{0};
    const PieceTrees& trees_;
    std::span<const std::uint8_t> allowed_;
    std::vector<std::uint8_t> sides_;              // by split
    std::vector<std::size_t> dividing_;            // splits with parts of the box on both sides
    std::vector<std::vector<std::int32_t>> rank_;  // by column and piece: pieces of the box, or kept pieces, up to it
    std::vector<std::size_t> left_;                // by column: its number among those that are left
    std::vector<std::int32_t> open_;
    std::vector<std::size_t> used_;   // by pair of the tree: its column
    std::vector<std::uint8_t> part_;  // by run
};

}  // namespace suffice
