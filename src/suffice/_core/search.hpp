// Sufficient sets of one row: level by level over the sets of candidates, with exact early stopping.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
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
    bool minimal_only = false;  // stop at the first size that has a sufficient set
};

struct ScoredSet {
    std::uint64_t variables;
    double sdp;
};

struct SearchResult {
    std::vector<ScoredSet> sufficient;  // smallest first, then surest, then by variables
    ScoredSet best{0, 0.0};             // the first of these, or the set that comes nearest to pi
};

// Remembers some shares of one row by set. A slot holds the set that came last; what is lost is computed again.
class ShareMemo {
  public:
    explicit ShareMemo(std::size_t n_variables)
        : bits_(static_cast<int>(std::min<std::size_t>(n_variables, 11))), entries_(std::size_t{1} << bits_) {}
    // The slot of a set, and whether it holds the set's share at this row already. Rows are numbered from 1.
    std::pair<double*, bool> find(std::uint64_t set, std::uint64_t row) {
        const std::uint64_t hash = set < entries_.size() ? set : (set * 0x9E3779B97F4A7C15ull) >> (64 - bits_);
        Entry& entry = entries_[hash];
        const bool known = entry.set == set && entry.row == row;
        entry.set = set;
        entry.row = row;  // cheaper than to clear all slots for every row
        return {&entry.share, known};
    }

  private:
    struct Entry {
        std::uint64_t set = 0, row = 0;
        double share = 0.0;
    };
    int bits_;
    std::vector<Entry> entries_;
};

// What is known of one row x and its outcome, tree by tree, and the SDP of sets of variables there.
template <class Mask>
class RowView {
  public:
    explicit RowView(const Projection& projection)
        : projection_(projection),
          splits_(projection.trees.size()),
          bits_(projection.trees.size()),
          n_marginal_(projection.trees.size()),
          is_ready_(projection.trees.size()),
          memo_(projection.trees.size(), ShareMemo(projection.n_variables)) {}

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
    double share(std::size_t tree, std::uint64_t S, std::size_t min_node_size) {
        prepare(tree);
        const std::uint64_t effective = effective_set(splits_[tree], S);
        const auto [share, known] = memo_[tree].find(effective, row_);
        if (known) return *share;
        const auto cell = finder_.find(projection_.trees[tree], splits_[tree], effective, min_node_size);
        const std::size_t hits = cell.is_whole ? n_marginal_[tree] : kernels().count(cell.rows, bits_[tree].data());
        return *share = static_cast<double>(hits) / static_cast<double>(cell.n_rows);
    }

    double sdp(std::uint64_t S, std::size_t min_node_size) {
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
    std::vector<ShareMemo> memo_;
    typename Splits<Mask>::Scratch scratch_;
    CellFinder finder_;
};

// All sets of `size` among n variables, in ascending order of their masks.
class SetsOfSize {
  public:
    SetsOfSize(std::size_t n, std::size_t size) : n_(n), size_(size) {
        is_done_ = size > n;
        if (!is_done_) set_ = size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    }
    bool is_done() const { return is_done_; }
    std::uint64_t set() const { return set_; }
    void advance() {
        const std::uint64_t last = size_ == 0 ? 0
                                              : (n_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_) - 1) &
                                                    ~((std::uint64_t{1} << (n_ - size_)) - 1);
        if (size_ == 0 || size_ == n_ || set_ == last) {
            is_done_ = true;
            return;
        }
        // Gosper: the next larger number with as many bits.
        const std::uint64_t lowest = set_ & (~set_ + 1), ripple = set_ + lowest;
        set_ = ripple | (((set_ ^ ripple) >> 2) / lowest);
    }

  private:
    std::size_t n_, size_;
    std::uint64_t set_ = 0;
    bool is_done_ = false;
};

template <class Mask>
class Search {
  public:
    Search(const Projection& projection, const SearchOptions& options, const StopFlag& stop)
        : n_variables_(projection.n_variables), options_(options), stop_(stop), row_(projection) {}

    SearchResult run(const float* x, std::uint32_t lo, std::uint32_t hi) {
        row_.set_row(x, lo, hi);
        dropped_.clear();
        SearchResult result;
        find_sufficient(result.sufficient);
        result.best = result.sufficient.empty() ? nearest() : result.sufficient.front();
        return result;
    }

  private:
    // A set and the sum of its shares over the first trees.
    struct Partial {
        std::uint64_t variables;
        double sum;
        std::size_t n_trees;
    };

    // Sets that go through the trees together: each tree's rows stay in the cache for all of them.
    static constexpr std::size_t kBatch = 4096;
    // Dropped sets that are remembered, in case none is sufficient (24 bytes each).
    static constexpr std::size_t kRemembered = 1 << 16;

    void find_sufficient(std::vector<ScoredSet>& found) {
        for (std::size_t size = options_.min_size; size <= last_size() && !stop_; ++size) {
            const std::size_t n_before = found.size();
            bool has_new_sets = false;
            for (SetsOfSize sets(n_variables_, size); !sets.is_done() && !stop_;) {
                living_.clear();
                for (; !sets.is_done() && !stop_ && living_.size() < kBatch; sets.advance())
                    if (!has_subset(found, n_before, sets.set())) living_.push_back({sets.set(), 0.0, 0});
                has_new_sets = has_new_sets || !living_.empty();
                drop_insufficient();
                for (const Partial& set : living_) found.push_back({set.variables, sdp_of(set)});
            }
            if (!has_new_sets) return;  // a larger set holds one of this size, and so a sufficient one
            std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(n_before), found.end(),
                             [](const ScoredSet& a, const ScoredSet& b) { return a.sdp > b.sdp; });
            if (options_.minimal_only && !found.empty()) return;
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
            for (std::size_t size = options_.min_size; size <= last_size(); ++size)
                for (SetsOfSize sets(n_variables_, size); !sets.is_done() && !stop_; sets.advance()) {
                    Partial set{sets.set(), 0.0, 0};
                    challenge(best, set);
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
        const int n_a = std::popcount(a.variables), n_b = std::popcount(b.variables);
        return n_a != n_b ? n_a < n_b : a.variables < b.variables;
    }

    void advance(Partial& set) { set.sum += row_.share(set.n_trees++, set.variables, options_.min_node_size); }
    double bound(const Partial& set) const { return set.sum + static_cast<double>(row_.n_trees() - set.n_trees); }
    double sdp_of(const Partial& set) const { return set.sum / static_cast<double>(row_.n_trees()); }
    std::size_t last_size() const { return std::min(options_.max_size, n_variables_); }

    static bool has_subset(const std::vector<ScoredSet>& found, std::size_t n, std::uint64_t set) {
        for (std::size_t i = 0; i < n; ++i)
            if ((found[i].variables & ~set) == 0) return true;
        return false;
    }

    std::size_t n_variables_;
    SearchOptions options_;
    const StopFlag& stop_;
    RowView<Mask> row_;
    std::vector<Partial> living_, dropped_;
};

}  // namespace suffice
