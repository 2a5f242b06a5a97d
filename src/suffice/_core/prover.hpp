// Does a margin reach a level in a box? Exact search with bounds from trees that agree on pieces (docs/method.md, 9.1).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "piece_trees.hpp"

namespace suffice {

// What is asked of the first point that reaches the level, of the one with the largest margin, or of the cheapest one.
enum class Wanted : std::uint8_t { kAny, kLargest, kCheapest };

struct ProofOptions {
    Wanted wanted = Wanted::kAny;
    std::size_t max_nodes = 0;
    double max_seconds = 0;
    std::vector<std::int32_t> starts;  // points to begin with, one after the other
};

struct ProofResult {
    bool is_complete = true;  // the box was searched to the end, or the first point was enough
    bool is_reached = false;
    std::vector<std::int32_t> point;  // by column, if the level is reached
    double value = 0;                 // its margin
    double bound = 0;                 // no point that was not looked at has more
    std::int64_t cost = 0;            // of the point
    std::int64_t least_cost = 0;      // no point that reaches the level costs less
    std::size_t n_nodes = 0;
};

class BoxSearch {
  public:
    // `watch` is called now and then; it may throw.
    BoxSearch(const PieceTrees& trees, const ProofOptions& options, const std::function<void()>& watch)
        : trees_(trees), options_(options), watch_(watch) {}

    // `cost` is by piece, or empty; points that cost more than `most_cost` do not count.
    ProofResult run(std::span<const std::uint8_t> allowed, std::span<const double> weights, double level,
                    bool is_strict, std::span<const std::int64_t> cost, std::int64_t most_cost) {
        const auto begin = std::chrono::steady_clock::now();
        BoxedTrees boxed(trees_, allowed, weights, cost, level);
        b_ = &boxed;
        result_ = {};
        result_.bound = level;
        result_.least_cost = open_cost_ = std::numeric_limits<std::int64_t>::max();
        most_cost_ = most_cost;
        if (boxed.is_empty) return result_;
        level_ = boxed.units.level(level, is_strict);
        open_bound_ = kNever;
        penalize();
        std::vector<State> stack;
        stack.push_back(root());
        if (options_.wanted != Wanted::kCheapest) try_starts(options_.starts);
        while (!stack.empty() && !is_done()) {
            State state = std::move(stack.back());
            stack.pop_back();
            if (state.bound < needed() || state.cost > most_cost_) continue;
            if (result_.n_nodes % 32 == 31) watch_();
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
            if (result_.n_nodes >= options_.max_nodes || passed.count() > options_.max_seconds) {
                result_.is_complete = false;
                leave_open(state);
                for (const State& other : stack) leave_open(other);
                break;
            }
            look_at(std::move(state), stack);
        }
        finish();
        return std::move(result_);
    }

  private:
    struct State {
        std::vector<Units> leaf;         // by leaf: what it adds, with the largest shift of its pieces
        std::vector<Units> shift;        // by set of all pairs: the largest shift among its pieces
        std::vector<Units> best;         // by tree: its best leaf
        std::vector<std::uint8_t> live;  // by kept piece
        std::vector<std::uint32_t> n_live;
        std::vector<std::uint32_t> choice;  // by column: the piece with the highest bound
        std::vector<std::int64_t> least;    // by column: the least cost of a live piece
        Units bound = 0;
        std::int64_t cost = 0;
        std::size_t changed = 0;  // the column with which to begin
    };

    // Where the cheapest point is wanted, margins are counted less a penalty for each unit of cost: what points that
    // cost enough to be out of question could reach then no longer counts. No penalty is above its share, so points
    // that reach the level within the cost reach needed() after it.
    void penalize() {
        penalty_.assign(b_->kept.size(), 0);
        rate_ = 0;
        if (options_.wanted != Wanted::kCheapest || b_->n_columns() == 0 || most_cost_ <= 0) return;
        std::vector<std::uint32_t> own;
        for (std::size_t c = 0; c < b_->n_columns(); ++c) {
            const auto begin = b_->kept_cost.begin() + static_cast<std::ptrdiff_t>(b_->kept_begin[c]);
            const auto end = b_->kept_cost.begin() + static_cast<std::ptrdiff_t>(b_->kept_begin[c + 1]);
            own.push_back(static_cast<std::uint32_t>(std::min_element(begin, end) - begin));
        }
        const Units value = value_of(own);
        if (value == kNever || value >= level_) return;
        rate_ = kPenalty * static_cast<double>(level_ - value) / static_cast<double>(most_cost_);
        for (std::size_t p = 0; p < penalty_.size(); ++p)
            penalty_[p] = static_cast<Units>(std::min(std::floor(rate_ * static_cast<double>(b_->kept_cost[p])), 1e16));
    }
    // The level less the penalty of the whole cost, and a slack for rounding.
    Units needed() const {
        if (rate_ == 0) return level_;
        return level_ - static_cast<Units>(std::ceil(rate_ * static_cast<double>(most_cost_ - b_->base_cost))) - kSlack;
    }

    State root() {
        State s;
        s.leaf = b_->leaf_units;
        s.shift.assign(b_->n_sets, 0);
        s.live.assign(b_->kept.size(), 1);
        s.bound = b_->base;
        for (std::size_t t = 0; t < b_->n_trees(); ++t) {
            s.best.push_back(best_leaf(s, t));
            s.bound += s.best.back();
        }
        s.cost = b_->base_cost;
        for (std::size_t c = 0; c < b_->n_columns(); ++c) {
            s.n_live.push_back(static_cast<std::uint32_t>(b_->kept_begin[c + 1] - b_->kept_begin[c]));
            s.choice.push_back(0);
            s.least.push_back(least_cost(s, c));
            s.cost += s.least.back();
        }
        return s;
    }

    std::int64_t least_cost(const State& s, std::size_t c) const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t p = b_->kept_begin[c]; p < b_->kept_begin[c + 1]; ++p)
            if (s.live[p]) least = std::min(least, b_->kept_cost[p]);
        return least;
    }
    Units best_leaf(const State& s, std::size_t t) const {
        return *std::max_element(s.leaf.begin() + static_cast<std::ptrdiff_t>(b_->leaf_begin[t]),
                                 s.leaf.begin() + static_cast<std::ptrdiff_t>(b_->leaf_begin[t + 1]));
    }

    // By run of a pair: its best leaf. Without the shift of the pair's own column, if that is wanted.
    void best_of_runs(const State& s, const Pair& pair, bool with_own_shift, Units* best) {
        by_set_.assign(pair.n_sets, kNever);
        const Units* leaf = s.leaf.data() + b_->leaf_begin[pair.tree];
        for (std::size_t i = 0; i < pair.set_of.size(); ++i)
            by_set_[pair.set_of[i]] = std::max(by_set_[pair.set_of[i]], leaf[i]);
        const std::size_t n_runs = pair.n_runs();
        std::fill(best, best + n_runs, kNever);
        for (std::size_t set = 0; set < pair.n_sets; ++set) {
            if (by_set_[set] == kNever) continue;
            const Units value = by_set_[set] - (with_own_shift ? 0 : s.shift[pair.first_set + set]);
            const std::uint8_t* in_set = pair.runs_of(set);
            for (std::size_t r = 0; r < n_runs; ++r) best[r] = std::max(best[r], in_set[r] ? value : kNever);
        }
    }

    // Lets the trees agree on the values of the pieces of a column, and takes out pieces whose bound is too low or
    // whose cost is too high. Returns false if nothing is left.
    bool agree(State& s, std::size_t c) {
        const std::vector<std::size_t>& pairs = b_->pairs_of_column[c];
        const std::size_t begin = b_->kept_begin[c], n = b_->kept_begin[c + 1] - begin;
        if (pairs.empty()) return true;
        std::uint8_t* live = s.live.data() + begin;
        Units others = s.bound;
        sum_.assign(n, 0);
        run_begin_.clear();
        std::size_t n_runs = 0;
        for (const std::size_t i : pairs) {
            run_begin_.push_back(n_runs);
            n_runs += b_->pairs[i].n_runs();
        }
        of_run_.resize(n_runs);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const Pair& pair = b_->pairs[pairs[i]];
            Units* best = of_run_.data() + run_begin_[i];
            best_of_runs(s, pair, false, best);
            others -= s.best[pair.tree];
            std::size_t p = 0;
            for (std::size_t r = 0; r < pair.n_runs(); ++r) {
                if (best[r] == kNever)
                    for (; p < pair.run_end[r]; ++p) live[p] = 0;
                else
                    for (; p < pair.run_end[r]; ++p) sum_[p] += best[r];
            }
        }
        const std::int64_t most_cost = most_cost_ - (s.cost - s.least[c]);
        const auto n_pairs = static_cast<Units>(pairs.size());
        const Units least = needed();
        Units highest = kNever;
        std::uint32_t n_live = 0;
        for (std::size_t p = 0; p < n; ++p) {
            sum_[p] -= penalty_[begin + p];
            live[p] = live[p] && sum_[p] + others >= least && b_->kept_cost[begin + p] <= most_cost;
            if (!live[p]) continue;
            ++n_live;
            if (sum_[p] > highest) {
                highest = sum_[p];
                s.choice[c] = static_cast<std::uint32_t>(p);
            }
            // The mean, rounded up: the shifts of a piece must not add up to less than 0.
            const Units mean = sum_[p] / n_pairs;
            sum_[p] = mean + (mean * n_pairs < sum_[p] ? 1 : 0);
        }
        s.n_live[c] = n_live;
        if (n_live == 0) return false;
        s.cost -= s.least[c];
        s.least[c] = least_cost(s, c);
        s.cost += s.least[c];
        s.bound = others;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const Pair& pair = b_->pairs[pairs[i]];
            shift_leaves(s, pair, live, of_run_.data() + run_begin_[i]);
            s.best[pair.tree] = best_leaf(s, pair.tree);
            if (s.best[pair.tree] == kNever) return false;
            s.bound += s.best[pair.tree];
        }
        return s.bound >= least;
    }

    // Gives the sets of a pair their new shifts: by piece, the mean of all trees minus the value of this one.
    void shift_leaves(State& s, const Pair& pair, const std::uint8_t* live, Units* of_run) {
        std::size_t p = 0;
        for (std::size_t r = 0; r < pair.n_runs(); ++r) {
            Units highest = kNever;
            for (; p < pair.run_end[r]; ++p) highest = std::max(highest, live[p] ? sum_[p] : kNever);
            of_run[r] = highest == kNever ? kNever : highest - of_run[r];
        }
        by_set_.assign(pair.n_sets, kNever);
        for (std::size_t set = 0; set < pair.n_sets; ++set) {
            const std::uint8_t* in_set = pair.runs_of(set);
            for (std::size_t r = 0; r < pair.n_runs(); ++r)
                by_set_[set] = std::max(by_set_[set], in_set[r] ? of_run[r] : kNever);
        }
        Units* leaf = s.leaf.data() + b_->leaf_begin[pair.tree];
        for (std::size_t i = 0; i < pair.set_of.size(); ++i) {
            const std::size_t set = pair.set_of[i];
            if (leaf[i] == kNever) continue;
            leaf[i] = by_set_[set] == kNever ? kNever : leaf[i] - s.shift[pair.first_set + set] + by_set_[set];
        }
        // A set without a live piece has no leaf any more, so its shift is not needed.
        for (std::size_t set = 0; set < pair.n_sets; ++set)
            if (by_set_[set] != kNever) s.shift[pair.first_set + set] = by_set_[set];
    }

    // Lowers the bound of a box until the gain is small. Returns false if no point of it reaches the level.
    bool tighten(State& s, bool is_root) {
        if (!agree(s, s.changed)) return false;
        const int n_passes = is_root ? kRootPasses : kPasses;
        for (int pass = 0; pass < n_passes; ++pass) {
            const Units before = s.bound;
            for (std::size_t c = 0; c < b_->n_columns(); ++c)
                if (!agree(s, c)) return false;
            const Units gain = before - s.bound, gap = s.bound - needed();
            if (gain < gap / (is_root ? 100 : 12)) break;
        }
        return true;
    }

    void look_at(State&& state, std::vector<State>& stack) {
        const bool is_root = result_.n_nodes++ == 0;
        if (b_->n_columns() > 0 && !tighten(state, is_root)) return;
        std::vector<std::uint32_t> point = state.choice;
        if (is_root && options_.wanted != Wanted::kCheapest) improve(point);
        consider(point);
        if (options_.wanted == Wanted::kCheapest) {
            for (std::size_t c = 0; c < point.size(); ++c) point[c] = cheapest(state, c);
            consider(point);
        }
        const bool is_point = std::all_of(state.n_live.begin(), state.n_live.end(), [](auto n) { return n == 1; });
        if (is_done() || is_point || state.bound < needed()) return;
        divide(std::move(state), stack);
    }

    std::uint32_t cheapest(const State& s, std::size_t c) const {
        const std::size_t begin = b_->kept_begin[c];
        std::size_t p = begin;
        while (!s.live[p] || b_->kept_cost[p] > s.least[c]) ++p;
        return static_cast<std::uint32_t>(p - begin);
    }

    // Chooses a column and a place to divide it: where the bounds of both parts fall most.
    void divide(State&& state, std::vector<State>& stack) {
        double best_score = -1;
        std::size_t column = 0, place = 0;
        bool left_first = true;
        for (std::size_t c = 0; c < b_->n_columns(); ++c) {
            if (state.n_live[c] < 2) continue;
            const std::size_t begin = b_->kept_begin[c], n = b_->kept_begin[c + 1] - begin;
            fall_left_.assign(n, 0);
            fall_right_.assign(n, 0);
            for (const std::size_t i : b_->pairs_of_column[c]) add_falls(state, b_->pairs[i]);
            const std::uint8_t* live = state.live.data() + begin;
            std::uint32_t n_before = live[0];
            for (std::size_t p = 1; p < n && n_before < state.n_live[c]; n_before += live[p++]) {
                if (!live[p] || n_before == 0) continue;
                const auto low = static_cast<double>(std::min(fall_left_[p], fall_right_[p]));
                const auto high = static_cast<double>(std::max(fall_left_[p], fall_right_[p]));
                const double middle = static_cast<double>(std::min(n_before, state.n_live[c] - n_before));
                double score = (low + high / 8) * (1 << 10) + middle / state.n_live[c];
                if (options_.wanted == Wanted::kCheapest) score += cost_score(state, c, p);
                if (score <= best_score) continue;
                best_score = score;
                column = c;
                place = p;
                left_first = fall_left_[p] <= fall_right_[p];
            }
        }
        State left = state;
        cut(left, column, place, true);
        cut(state, column, place, false);
        stack.push_back(std::move(left_first ? state : left));
        stack.push_back(std::move(left_first ? left : state));
    }
    // Where the cheapest point is wanted, parts that cost more are divided from the others.
    double cost_score(const State& s, std::size_t c, std::size_t place) const {
        const std::size_t begin = b_->kept_begin[c];
        std::int64_t least[2] = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
        for (std::size_t p = begin; p < b_->kept_begin[c + 1]; ++p)
            if (s.live[p]) least[p >= begin + place] = std::min(least[p >= begin + place], b_->kept_cost[p]);
        return static_cast<double>(std::max(least[0], least[1]) - s.least[c]);
    }

    // How much the best leaf of a tree falls if the column is cut before a piece.
    void add_falls(const State& s, const Pair& pair) {
        const std::size_t n_runs = pair.n_runs();
        const std::uint8_t* live = s.live.data() + b_->kept_begin[pair.column];
        of_run_.resize(2 * n_runs);
        best_of_runs(s, pair, true, of_run_.data());
        std::size_t p = 0;
        for (std::size_t r = 0; r < n_runs; ++r) {
            bool is_live = false;
            for (; p < pair.run_end[r]; ++p) is_live |= live[p] != 0;
            if (!is_live) of_run_[r] = kNever;
        }
        Units* from = of_run_.data() + n_runs;  // the best of the runs from r on
        for (std::size_t r = n_runs; r-- > 0;) from[r] = std::max(of_run_[r], r + 1 < n_runs ? from[r + 1] : kNever);
        const Units best = from[0];
        Units before = kNever;
        p = 0;
        for (std::size_t r = 0; r < n_runs; ++r)
            for (; p < pair.run_end[r]; ++p) {
                if (p > 0) fall_left_[p] += best - std::max(before, -kTop);
                fall_right_[p] += best - std::max(from[r], -kTop);
                before = std::max(before, of_run_[r]);
            }
    }

    void cut(State& s, std::size_t c, std::size_t place, bool keeps_left) const {
        std::uint8_t* live = s.live.data() + b_->kept_begin[c];
        const std::size_t n = b_->kept_begin[c + 1] - b_->kept_begin[c];
        for (std::size_t p = keeps_left ? place : 0; p < (keeps_left ? n : place); ++p) live[p] = 0;
        s.n_live[c] = static_cast<std::uint32_t>(std::count(live, live + n, 1));
        s.cost -= s.least[c];
        s.least[c] = least_cost(s, c);
        s.cost += s.least[c];
        s.changed = c;
    }

    Units value_of(const std::vector<std::uint32_t>& point) {
        place(point);
        Units sum = 0;
        for (const std::int32_t root : trees_.roots) {
            const Units added = b_->units.units(trees_.leaf(root, b_->point));
            if (added == kNever) return kNever;
            sum += added;
        }
        return sum;
    }
    // Writes a point of kept pieces as one of all columns.
    void place(const std::vector<std::uint32_t>& point) const {
        for (std::size_t c = 0; c < point.size(); ++c)
            b_->point[b_->column_of[c]] = b_->kept[b_->kept_begin[c] + point[c]];
    }

    // Takes a point as the answer if it reaches the level.
    void consider(const std::vector<std::uint32_t>& point) {
        const Units value = value_of(point);
        std::int64_t cost = b_->base_cost;
        for (std::size_t c = 0; c < point.size(); ++c) cost += b_->kept_cost[b_->kept_begin[c] + point[c]];
        if (value == kNever || value < level_ || cost > most_cost_) return;
        result_.is_reached = true;
        result_.point = b_->point;
        result_.value = b_->units.to_margin(value);
        result_.cost = cost;
        if (options_.wanted == Wanted::kLargest) level_ = value + 1;
        if (options_.wanted == Wanted::kCheapest) most_cost_ = cost - 1;
    }
    bool is_done() const { return result_.is_reached && options_.wanted == Wanted::kAny; }

    void try_starts(std::span<const std::int32_t> starts) {
        const std::size_t width = trees_.n_columns();
        for (std::size_t first = 0; first < starts.size() && !is_done(); first += width) {
            std::vector<std::uint32_t> point;
            for (std::size_t c = 0; c < b_->n_columns(); ++c) {
                const auto begin = b_->kept.begin() + static_cast<std::ptrdiff_t>(b_->kept_begin[c]);
                const auto end = b_->kept.begin() + static_cast<std::ptrdiff_t>(b_->kept_begin[c + 1]);
                const auto above = std::upper_bound(begin, end, starts[first + b_->column_of[c]]);
                point.push_back(static_cast<std::uint32_t>(above == begin ? 0 : above - begin - 1));
            }
            improve(point);
            consider(point);
        }
    }

    // Moves a point along one column after the other, each time to the piece with the largest margin.
    void improve(std::vector<std::uint32_t>& point) {
        outside_.assign(b_->leaf_units.size(), 0);  // by leaf: on how many columns the point is outside of it
        for (const Pair& pair : b_->pairs) count_outside(pair, point[pair.column], 1);
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            bool has_moved = false;
            for (std::size_t c = 0; c < b_->n_columns(); ++c) {
                sum_.assign(b_->kept_begin[c + 1] - b_->kept_begin[c], 0);
                for (const std::size_t i : b_->pairs_of_column[c]) {
                    count_outside(b_->pairs[i], point[c], -1);
                    add_profile(b_->pairs[i]);
                }
                const auto highest = std::max_element(sum_.begin(), sum_.end());
                if (*highest > sum_[point[c]]) {
                    point[c] = static_cast<std::uint32_t>(highest - sum_.begin());
                    has_moved = true;
                }
                for (const std::size_t i : b_->pairs_of_column[c]) count_outside(b_->pairs[i], point[c], 1);
            }
            if (!has_moved) return;
        }
    }
    void count_outside(const Pair& pair, std::uint32_t piece, int step) {
        const std::size_t run = pair.run_of(piece);
        std::int32_t* outside = outside_.data() + b_->leaf_begin[pair.tree];
        for (std::size_t i = 0; i < pair.set_of.size(); ++i) outside[i] += pair.runs_of(pair.set_of[i])[run] ? 0 : step;
    }
    // By piece of the pair's column: adds the leaf in which the point is if its column has that piece.
    void add_profile(const Pair& pair) {
        of_run_.assign(pair.n_runs(), -4 * kTop);  // where a constraint leaves no leaf
        const std::size_t first = b_->leaf_begin[pair.tree];
        for (std::size_t i = 0; i < pair.set_of.size(); ++i) {
            if (outside_[first + i] != 0) continue;
            const std::uint8_t* in_set = pair.runs_of(pair.set_of[i]);
            for (std::size_t r = 0; r < pair.n_runs(); ++r)
                if (in_set[r]) of_run_[r] = b_->leaf_units[first + i];
        }
        std::size_t p = 0;
        for (std::size_t r = 0; r < pair.n_runs(); ++r)
            for (; p < pair.run_end[r]; ++p) sum_[p] += of_run_[r];
    }

    void leave_open(const State& s) {
        if (s.bound < needed() || s.cost > most_cost_) return;
        open_bound_ = std::max(open_bound_, s.bound);
        open_cost_ = std::min(open_cost_, s.cost);
    }
    void finish() {
        // What is not open has less than the level, which the best point has raised.
        const double searched = b_->units.to_margin(level_ - 1);
        result_.bound = open_bound_ == kNever ? searched : std::max(searched, b_->units.to_margin(open_bound_));
        if (is_done()) result_.bound = std::numeric_limits<double>::infinity();
        result_.least_cost = result_.is_reached ? std::min(result_.cost, open_cost_) : open_cost_;
    }

    static constexpr int kRootPasses = 40, kPasses = 6, kSweeps = 6;
    static constexpr double kPenalty = 0.8;  // of what would make up for the distance of the cheapest point of all
    static constexpr Units kSlack = Units{1} << 16;
    static constexpr Units kTop = Units{1} << 54;  // above any sum; for runs that no point has
    const PieceTrees& trees_;
    const ProofOptions& options_;
    const std::function<void()>& watch_;
    BoxedTrees* b_ = nullptr;
    ProofResult result_;
    Units level_ = 0, open_bound_ = kNever;
    double rate_ = 0;             // the penalty by unit of cost
    std::vector<Units> penalty_;  // by kept piece
    std::int64_t most_cost_ = 0, open_cost_ = 0;
    std::vector<Units> by_set_, of_run_, sum_, fall_left_, fall_right_;
    std::vector<std::size_t> run_begin_;
    std::vector<std::int32_t> outside_;
};

}  // namespace suffice
