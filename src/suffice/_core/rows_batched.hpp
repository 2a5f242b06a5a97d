// Adds up the shares of sets of many rows together (see search.hpp): all their sets go through a tree before the next
// one, so that rows and sets share their walks (shared_walks.hpp).
//
// An example. Rows A and B are searched with candidates {0} and {0, 1} each, and the root of tree 7 splits on variable
// 0:
//
//     candidates, by row      A {0}     A {0, 1}   B {0}     B {0, 1}      sums 5.9, 6.5, 3.2, 6.4 of 7 trees so far
//     needed of 10 trees      9.0       9.0        9.0       9.0
//     1. drop                 B {0} can reach 3.2 + 3 = 6.2 at most: it leaves the batch, and tree 7 never sees it
//     2. list walks by set    {0}: A        {0, 1}: A, B
//     3. walk tree 7          A and B go left at the root: the rows of the tree that go left are filtered once, for all
//                             three walks. {0} of A ends there; {0, 1} of A and B go on together until a split on
//                             variable 1 tells A from B
//     4. add the shares       0.8 for A {0}, 0.9 for A {0, 1}, 0.7 for B {0, 1}; then the same with tree 8
//
// The shares of a candidate are added in the order of the trees, as if its row were alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "projection.hpp"
#include "row_view.hpp"
#include "rows.hpp"
#include "search_space.hpp"
#include "shared_walks.hpp"

namespace suffice {

// How many rows are searched batched. Rows have few sets each, and their trees are not too small: in small trees, the
// shares that search.hpp keeps are faster.
struct BatchPlan {
    std::size_t batch_size = 1;  // 1: each row alone
    std::size_t least_rows = 0;  // for fewer rows, each row alone is faster

    // Measured alone and batched: on bank (150 splits a tree, 200 rows), on flights (1,480 splits, 300,000 training
    // rows, 20 trees; 200 rows batched take 0.9 of the time, 1,500 take 0.6), and on bike, whose outcomes are numbers
    // (1,000 rows are equally fast, 2,000 take 0.7). What a set costs is shared by the rows that have it: on the switch
    // model, in which rows choose 10 of 100 variables, nearly each row has sets of its own, and 5,000 take 1.2 times as
    // long.
    static constexpr std::size_t kMaxSets = 4096;                       // of a row; not tuned
    static constexpr std::size_t kSetsTogether = std::size_t{1} << 20;  // of 64 bytes each; not tuned
    static constexpr std::size_t kMostRows = 4096;                      // not tuned
    static constexpr std::size_t kManySplits =
        64;  // of a tree, on average: those of smaller ones fit into a word, see row_view.hpp
    static constexpr std::size_t kMostSplits = 8192;          // of a tree: the splits below each of them take 16 MiB
    static constexpr std::size_t kFewOutcomes = 64;           // more are numbers; not tuned
    static constexpr std::size_t kLeastRows = 200;            // from the figures of bank and flights above
    static constexpr std::size_t kLeastRowsOfNumbers = 2000;  // from those of bike
    static constexpr double kRowsOfSet = 30.0;                // from the switch model, which must stay alone
    static constexpr std::size_t kUsualSize = 4;              // of the sets by which rows are compared; not tuned

    BatchPlan(const Projection& projection, const SearchOptions& options) {
        const std::size_t n_variables = projection.n_variables;
        const std::size_t n = options.n_by_row == 0 ? n_variables : std::min(options.n_by_row, n_variables);
        const std::size_t largest = std::min(options.max_size, n_variables);
        if (options.min_size > largest || projection.trees.empty()) return;
        double n_sets = 0.0, n_of_size = 1.0, most_of_size = 0.0;
        for (std::size_t size = 0; size <= std::min(largest, n); ++size) {
            n_sets += n_of_size;
            most_of_size = std::max(most_of_size, n_of_size);
            n_of_size *= static_cast<double>(n - size) / static_cast<double>(size + 1);
        }
        if (n_sets > static_cast<double>(kMaxSets)) return;
        std::size_t n_splits = 0, most_splits = 0;
        for (const CodedTree& tree : projection.trees) {
            n_splits += tree.nodes.size();
            most_splits = std::max(most_splits, tree.nodes.size());
        }
        if (n_splits < kManySplits * projection.trees.size() || most_splits > kMostSplits) return;
        const bool are_numbers = projection.forest->y_values.size() > kFewOutcomes;
        double share_of_rows = 1.0;  // that have a set of the usual size, if rows choose their variables at random
        for (std::size_t i = 0; i < std::min(kUsualSize, n); ++i)
            share_of_rows *= static_cast<double>(n - i) / static_cast<double>(n_variables - i);
        const double worth = kRowsOfSet / share_of_rows;
        const std::size_t n_of_row = static_cast<std::size_t>(most_of_size) + n_variables;
        const std::size_t most_rows = std::clamp<std::size_t>(kSetsTogether / n_of_row, 2, kMostRows);
        if (worth > static_cast<double>(most_rows)) return;
        batch_size = most_rows;
        least_rows = std::max(are_numbers ? kLeastRowsOfNumbers : kLeastRows, static_cast<std::size_t>(worth));
    }
};

// Rows that no split on a set tells apart have the same sum for it, which is computed once.
template <class Set>
class SquaredWeights {
  public:
    SquaredWeights(const Projection& projection, std::size_t min_node_size)
        : projection_(projection), row_(projection, min_node_size) {}

    double find(const float* x, Set set) {
        key_.clear();
        for (const std::uint8_t v : Members<Set>(set)) {
            key_.push_back(v);
            for (const std::int32_t column : projection_.columns[v])
                key_.push_back(projection_.code(column, x[column]));
        }
        if (known_.size() > kMaxKnown) known_.clear();
        const auto [at, is_new] = known_.try_emplace(key_, 0.0);
        if (is_new) {
            row_.set_row(x);
            at->second = row_.squared_weights(set);
        }
        return at->second;
    }

  private:
    static constexpr std::size_t kMaxKnown = 1 << 14;  // about 2 MiB; not tuned

    const Projection& projection_;
    RowView<Set> row_;
    std::vector<std::uint32_t> key_;
    std::map<std::vector<std::uint32_t>, double> known_;  // by variables and codes
};

template <class Set>
class RowsBatched {
  public:
    using Candidates = std::vector<Candidate<Set>>;

    RowsBatched(const Projection& projection, std::size_t min_node_size)
        : projection_(projection),
          n_trees_(projection.trees.size()),
          walks_(projection, min_node_size),
          squared_weights_(projection, min_node_size) {}

    void set_rows(const Rows& rows, std::span<const std::uint32_t> numbers, const StopFlag& stop) {
        stop_ = &stop;
        all_rows_ = &rows;
        numbers_ = numbers;
        walking_.set(rows, numbers);
    }

    void keep_reaching(Candidates& sets, Race<Set>& race) { compare(sets, n_trees_, race); }
    void keep_highest(Candidates& sets, Race<Set>& race) { compare(sets, n_trees_, race); }

    // Each candidate goes on from the tree at which it stopped, as long as it can reach what its row needs.
    void compare(Candidates& sets, std::size_t n, Race<Set>& race) {
        list_living(sets);
        for (std::size_t t = 0; !is_stopped(); ++t) {
            drop_and_list_walks(sets, t, n, race);
            if (t == n || living_.empty()) break;
            walks_.add_shares(t, walking_, groups_, list_.data(), sums_.data(), *stop_);
        }
        for (const Living& living : living_) sets[living.place] = living.set;  // its sum was taken over last
        std::erase_if(sets, [](const Candidate<Set>& set) { return set.n_trees == kDropped; });
    }

    void start_chains(Candidates& empty, std::size_t) {
        Race<Set> race;
        race.start(walking_.size(), 0);
        compare(empty, n_trees_, race);
    }
    double extend_chain(const Candidate<Set>& best) { return best.sum; }
    std::size_t count_votes(Set set) const { return projection_.count_votes(Members<Set>(set)); }

    // Rows share their sets: all have the numbers of the projection, and the trees have one order.
    void begin_larger(const std::vector<std::uint8_t>&) {}
    void end_choice(const std::vector<std::uint8_t>&) {}
    std::vector<std::uint8_t> number_first(const std::vector<std::uint8_t>&) { return {}; }
    WideSet named(Set set) const { return set; }

    double squared_weights(std::size_t i, Set set) { return squared_weights_.find(all_rows_->row(numbers_[i]), set); }

  private:
    static constexpr std::uint32_t kDropped = ~std::uint32_t{0};

    // A candidate that still goes through the trees. Its sum is kept in `sums_`.
    struct Living {
        Candidate<Set> set;
        std::uint32_t place;  // among all candidates
    };

    bool is_stopped() const { return stop_->load(std::memory_order_relaxed); }

    // Copies the candidates, by set, so that those that remain stay side by side: every tree goes through all of them.
    void list_living(const Candidates& sets) {
        living_.clear();
        for (const Candidate<Set>& set : sets) living_.push_back({set, static_cast<std::uint32_t>(&set - sets.data())});
        std::sort(living_.begin(), living_.end(), [](const Living& a, const Living& b) {
            return a.set.variables != b.set.variables ? a.set.variables < b.set.variables : a.place < b.place;
        });
        sums_.resize(living_.size());
        for (std::size_t i = 0; i < living_.size(); ++i) sums_[i] = living_[i].set.sum;
    }

    // Drops the candidates that cannot reach what their rows need over the first n trees, and lists the walks of the
    // others that come to tree t next, by set.
    void drop_and_list_walks(Candidates& sets, std::size_t t, std::size_t n, Race<Set>& race) {
        list_.clear();
        groups_.clear();
        std::uint32_t n_living = 0;
        for (std::size_t i = 0; i < living_.size(); ++i) {
            Candidate<Set>& set = living_[i].set;
            set.sum = sums_[i];
            if (!set.can_reach(race.needed[set.row])) {
                race.drop(set);
                sets[living_[i].place].n_trees = kDropped;
                continue;
            }
            const bool is_next = set.n_trees == t && t < n;
            set.n_trees += is_next;
            if (is_next && set.has_vote_of(static_cast<Set>(projection_.trees[t].variables), n_trees_)) {
                const auto at = static_cast<std::uint32_t>(list_.size());
                if (groups_.empty() || groups_.back().set != set.variables) groups_.push_back({set.variables, at, at});
                ++groups_.back().end;
                list_.push_back({set.row, n_living});
                ++set.n_voted;
            }
            sums_[n_living] = sums_[i];
            living_[n_living++] = living_[i];
        }
        living_.resize(n_living);
    }

    const Projection& projection_;
    std::size_t n_trees_;
    SharedWalks<Set> walks_;
    SquaredWeights<Set> squared_weights_;
    const StopFlag* stop_ = nullptr;
    const Rows* all_rows_ = nullptr;
    std::span<const std::uint32_t> numbers_;
    WalkingRows walking_;
    std::vector<Living> living_;  // by set
    std::vector<double> sums_;    // of their shares
    std::vector<SharedWalk> list_;
    std::vector<WalksOfSet<Set>> groups_;
};

}  // namespace suffice
