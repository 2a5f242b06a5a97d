// Sufficient sets of one row: level by level over the sets of candidates, with exact early stopping.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "parallel.hpp"
#include "projection.hpp"

namespace suffice {

// A sum of fractions is compared with pi (and a CDF with a level) up to this, so that rounding decides no tie:
// 18 of 20 trees reach pi = 0.9.
inline constexpr double kRounding = 1e-10;

struct SearchOptions {
    double pi = 0.9;
    std::size_t min_node_size = 1;
    std::size_t min_size = 1;
    std::size_t max_size = kMaxVariables;
    bool minimal_only = false;                   // stop at the first size that has a sufficient set
    std::uint64_t max_sets = ~std::uint64_t{0};  // a row's search ends when it has gone through so many
};

// Sets where splits have departure masks of type Mask.
template <class Mask>
using SetOf = std::conditional_t<std::is_same_v<Mask, WideSet>, WideSet, std::uint64_t>;

struct ScoredSet {
    WideSet variables;
    double sdp;
};

struct SearchResult {
    std::vector<ScoredSet> sufficient;  // smallest first, then surest, then by variables
    ScoredSet best{0, 0.0};             // the first of these, or the set that comes nearest to pi
    bool is_complete = true;            // false: there were more sets than `max_sets`
};

// Remembers some shares of one row by set. A slot holds the set that came last; what is lost is computed again.
template <class Set>
class ShareMemo {
  public:
    explicit ShareMemo(std::size_t n_variables)
        : bits_(static_cast<int>(std::min<std::size_t>(n_variables, 11))), entries_(std::size_t{1} << bits_) {}
    // The slot of a set, and whether it holds the set's share at this row already. Rows are numbered from 1.
    std::pair<double*, bool> find(Set set, std::uint64_t row) {
        Entry& entry = entries_[set < entries_.size() ? static_cast<std::size_t>(set) : hash(set)];
        const bool known = entry.set == set && entry.row == row;
        entry.set = set;
        entry.row = row;  // cheaper than to clear all slots for every row
        return {&entry.share, known};
    }

  private:
    struct Entry {
        Set set = 0;
        std::uint64_t row = 0;
        double share = 0.0;
    };

    std::size_t hash(Set set) const {
        auto word = static_cast<std::uint64_t>(set);
        if constexpr (sizeof(Set) > sizeof(word)) word ^= static_cast<std::uint64_t>(set >> 64) * 0xC2B2AE3D27D4EB4Full;
        return static_cast<std::size_t>((word * 0x9E3779B97F4A7C15ull) >> (64 - bits_));
    }

    int bits_;
    std::vector<Entry> entries_;
};

// What is known of one row x and its outcome, tree by tree, and the SDP of sets of variables there.
template <class Mask>
class RowView {
  public:
    using Set = SetOf<Mask>;
    explicit RowView(const Projection& projection)
        : projection_(projection),
          splits_(projection.trees.size()),
          bits_(projection.trees.size()),
          n_marginal_(projection.trees.size()),
          is_ready_(projection.trees.size()),
          memo_(projection.trees.size(), ShareMemo<Set>(projection.n_variables)) {}

    // The outcome is: lo <= rank of y <= hi.
    void set_row(const float* x, std::uint32_t lo, std::uint32_t hi) {
        x_ = x;
        lo_ = lo;
        hi_ = hi;
        ++row_;
        std::fill(is_ready_.begin(), is_ready_.end(), 0);
    }

    std::size_t n_trees() const { return projection_.trees.size(); }

    // Share of the rows in the cell of x for S, in one tree, that have the outcome.
    double share(std::size_t tree, Set S, std::size_t min_node_size) {
        prepare(tree);
        const Set effective = effective_set(splits_[tree], S);
        const auto [share, known] = memo_[tree].find(effective, row_);
        if (known) return *share;
        const auto cell = finder_.find(projection_.trees[tree], splits_[tree], effective, min_node_size);
        const std::size_t hits = cell.is_whole ? n_marginal_[tree] : kernels().count(cell.rows, bits_[tree].data());
        return *share = static_cast<double>(hits) / static_cast<double>(cell.n_rows);
    }

    double sdp(Set S, std::size_t min_node_size) {
        double sum = 0.0;
        for (std::size_t tree = 0; tree < n_trees(); ++tree) sum += share(tree, S, min_node_size);
        return sum / static_cast<double>(n_trees());
    }

  private:
    [[gnu::noinline]] void prepare(std::size_t t) {
        if (is_ready_[t]) return;
        is_ready_[t] = 1;
        const CodedTree& tree = projection_.trees[t];
        splits_[t].find(tree, x_, scratch_);
        bits_[t].resize(n_blocks(tree.n_rows));
        n_marginal_[t] = kernels().outcome(tree.rank, tree.n_rows, lo_, hi_, bits_[t].data());
    }

    const Projection& projection_;
    const float* x_ = nullptr;
    std::uint64_t row_ = 0;  // how many rows have been set
    std::uint32_t lo_ = 0, hi_ = 0;
    std::vector<Splits<Mask>> splits_;
    std::vector<std::vector<std::uint64_t>> bits_;  // rows of each tree with the outcome
    std::vector<std::size_t> n_marginal_;           // their number
    std::vector<std::uint8_t> is_ready_;
    std::vector<ShareMemo<Set>> memo_;
    typename Splits<Mask>::Scratch scratch_;
    CellFinder finder_;
};

// All sets of `size` of the variables (ascending numbers), in ascending order of their masks.
template <class Set>
class SetsOfSize {
  public:
    SetsOfSize(std::span<const std::uint8_t> variables, std::size_t size)
        : variables_(variables), chosen_(size), is_done_(size > variables.size()) {
        for (std::size_t i = 0; i < size && !is_done_; ++i) choose(i, i);
    }
    bool is_done() const { return is_done_; }
    Set set() const { return set_; }
    void advance() {
        // The first that can move up by one does; those before it begin again.
        std::size_t j = 0;
        while (j + 1 < chosen_.size() && chosen_[j] + 1 == chosen_[j + 1]) ++j;
        is_done_ = chosen_.empty() || chosen_[j] + 1 == variables_.size();
        if (is_done_) return;
        for (std::size_t i = 0; i <= j; ++i) set_ &= ~bit(chosen_[i]);
        choose(j, chosen_[j] + 1);
        for (std::size_t i = 0; i < j; ++i) choose(i, i);
    }

  private:
    Set bit(std::size_t position) const { return Set{1} << variables_[position]; }
    void choose(std::size_t i, std::size_t position) {
        chosen_[i] = position;
        set_ |= bit(position);
    }

    std::span<const std::uint8_t> variables_;
    std::vector<std::size_t> chosen_;  // positions in `variables_`, ascending
    bool is_done_;
    Set set_ = 0;
};

template <class Mask>
class Search {
  public:
    using Set = SetOf<Mask>;

    Search(const Projection& projection, const SearchOptions& options, const StopFlag& stop)
        : n_variables_(projection.n_variables), options_(options), stop_(stop), row_(projection) {}

    SearchResult run(const float* x, std::uint32_t lo, std::uint32_t hi) {
        row_.set_row(x, lo, hi);
        dropped_.clear();
        variables_.resize(n_variables_);
        std::iota(variables_.begin(), variables_.end(), std::uint8_t{0});
        SearchResult result;
        find_sufficient(result);
        result.best = result.sufficient.empty() ? nearest() : result.sufficient.front();
        return result;
    }

  private:
    // A set and the sum of its shares over the first trees.
    struct Partial {
        Set variables;
        double sum;
        std::size_t n_trees;
    };

    // Sets that go through the trees together: each tree's rows stay in the cache for all of them.
    static constexpr std::size_t kBatch = 4096;
    // Dropped sets that are remembered, in case none is sufficient (24 bytes each).
    static constexpr std::size_t kRemembered = 1 << 16;

    void find_sufficient(SearchResult& result) {
        std::vector<ScoredSet>& found = result.sufficient;
        n_seen_ = 0;
        for (std::size_t size = options_.min_size; size <= last_size() && !stop_; ++size) {
            const std::size_t n_before = found.size();
            bool has_new_sets = false;
            for (SetsOfSize<Set> sets(variables_, size); !sets.is_done() && !stop_ && result.is_complete;) {
                living_.clear();
                for (; !sets.is_done() && living_.size() < kBatch; sets.advance()) {
                    result.is_complete = n_seen_ < options_.max_sets && !stop_;
                    if (!result.is_complete) break;
                    ++n_seen_;
                    if (!has_subset(found, n_before, sets.set())) living_.push_back({sets.set(), 0.0, 0});
                }
                has_new_sets = has_new_sets || !living_.empty();
                drop_insufficient();
                for (const Partial& set : living_) found.push_back({set.variables, sdp_of(set)});
            }
            std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(n_before), found.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
            // Without a new set every larger one holds one of this size, and so a sufficient one.
            if (!has_new_sets || !result.is_complete || (options_.minimal_only && !found.empty())) return;
            if (size == 1)  // larger sets with a variable that is enough by itself need not be gone through
                for (const ScoredSet& set : found)
                    std::erase_if(variables_, [&](std::uint8_t v) { return set.variables == WideSet{1} << v; });
        }
    }

    // Leaves in `living_` the sets with SDP >= pi. After l of k trees the SDP is at most (sum + k - l) / k.
    void drop_insufficient() {
        const double needed = (options_.pi - kRounding) * static_cast<double>(row_.n_trees());
        for (std::size_t tree = 0; tree < row_.n_trees() && !living_.empty() && !stop_; ++tree) {
            std::size_t n_living = 0;
            for (Partial& set : living_) {
                advance(set);
                if (bound(set) >= needed)
                    living_[n_living++] = set;
                else if (dropped_.size() <= kRemembered)
                    dropped_.push_back(set);
            }
            living_.resize(n_living);
        }
    }

    // The set of highest SDP; of equals the smallest, then the first.
    ScoredSet nearest() {
        if (dropped_.empty()) return {0, 0.0};
        // The last set that was dropped held out longest or is the largest: a good first guess.
        Partial best = dropped_.back();
        while (best.n_trees < row_.n_trees() && !stop_) advance(best);
        if (dropped_.size() <= kRemembered) {
            for (Partial& set : dropped_) challenge(best, set);
        } else {
            std::uint64_t n_left = n_seen_;
            for (std::size_t size = options_.min_size; size <= last_size(); ++size)
                for (SetsOfSize<Set> sets(variables_, size); !sets.is_done() && n_left && !stop_; sets.advance()) {
                    Partial set{sets.set(), 0.0, 0};
                    challenge(best, set);
                    --n_left;
                }
        }
        return {best.variables, sdp_of(best)};
    }

    // Puts `set` in the place of `best` if it is better; stops looking as soon as it cannot be.
    void challenge(Partial& best, Partial& set) {
        const double tie = kRounding * static_cast<double>(row_.n_trees());
        while (bound(set) >= best.sum - tie) {
            if (set.n_trees == row_.n_trees()) {
                if (set.sum > best.sum + tie || comes_before(set, best)) best = set;
                return;
            }
            if (stop_) return;
            advance(set);
        }
    }

    static bool comes_before(const Partial& a, const Partial& b) {
        const int n_a = count(a.variables), n_b = count(b.variables);
        return n_a != n_b ? n_a < n_b : a.variables < b.variables;
    }

    static int count(Set set) {
        int n = std::popcount(static_cast<std::uint64_t>(set));
        if constexpr (sizeof(Set) > 8) n += std::popcount(static_cast<std::uint64_t>(set >> 64));
        return n;
    }

    void advance(Partial& set) { set.sum += row_.share(set.n_trees++, set.variables, options_.min_node_size); }
    double bound(const Partial& set) const { return set.sum + static_cast<double>(row_.n_trees() - set.n_trees); }
    double sdp_of(const Partial& set) const { return set.sum / static_cast<double>(row_.n_trees()); }
    std::size_t last_size() const { return std::min(options_.max_size, n_variables_); }

    static bool has_subset(const std::vector<ScoredSet>& found, std::size_t n, Set set) {
        for (std::size_t i = 0; i < n; ++i)
            if ((static_cast<Set>(found[i].variables) & ~set) == 0) return true;
        return false;
    }

    std::size_t n_variables_;
    SearchOptions options_;
    const StopFlag& stop_;
    RowView<Mask> row_;
    std::vector<std::uint8_t> variables_;  // of which sets are made
    std::uint64_t n_seen_ = 0;             // how many sets were gone through
    std::vector<Partial> living_, dropped_;
};

}  // namespace suffice
