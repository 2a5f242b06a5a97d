// The hot loops as plain functions on pointers, and the choice among their builds at run time.
//
// kernels.inc is compiled once per instruction set, and each build fills one table. The builds call no template or
// inline function of the standard library: the linker keeps only one copy of such a function, and the copy of one build
// could end up in another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace suffice {

// The thresholds of a column cut its values into pieces, numbered from 0: the code of a value is the number of
// thresholds below it (see thresholds.hpp). This interval has the codes with lo <= code <= hi (none if lo > hi), and
// missing values if `missing`.
struct CodeInterval {
    std::uint32_t lo = 0;
    std::uint32_t hi = 0;
    bool missing = false;

    bool has_values() const { return lo <= hi; }
    bool is_empty() const { return lo > hi && !missing; }
    bool operator==(const CodeInterval&) const = default;
};

// Rows of a tree are handled in blocks of 64: one bit of a mask each.
inline constexpr std::size_t kBlock = 64;

// Some rows of a tree, by block.
struct RowSet {
    std::uint64_t* mask;
    std::size_t n_blocks;
};

// A set of splits of one tree has one bit for each, in breadth-first order. It takes a multiple of this many words,
// which fill a register of AVX2.
inline constexpr std::size_t kWordsTogether = 4;

// Sets of splits at one row x, `n_words` words for each variable.
struct SplitSets {
    const std::uint64_t* departed;  // the splits whose path from the root leaves that of x at a split on the variable
    const std::uint64_t* own;       // the splits on the variable
    std::size_t n_words;
};

// A split by codes: values with at most this code go left.
struct SplitCode {
    std::uint32_t code;
    std::uint16_t column;  // position among the columns of the tree
    bool missing_left;

    // Cuts the interval of the column down to the side that x takes. Returns whether that changes it.
    [[gnu::always_inline]] bool cut(bool goes_left, CodeInterval& interval) const {
        const CodeInterval before = interval;
        if (goes_left && code < interval.hi) interval.hi = code;
        if (!goes_left && code >= interval.lo) interval.lo = code + 1;
        interval.missing = interval.missing && goes_left == missing_left;
        return interval.lo != before.lo || interval.hi != before.hi || interval.missing != before.missing;
    }
};

// A tree, and the splits that remove rows from it.
struct Walk {
    const std::uint64_t* left_rows;  // by split: the blocks of rows that go left
    std::size_t n_blocks;            // a multiple of kWordsTogether
    const std::uint64_t* visited;    // the splits
    const std::uint64_t* goes_left;  // those at which x goes left
    std::size_t n_words;
    std::size_t min_rows;
    const SplitCode* codes;  // by split
};

// What a walk did, so that the next one in the same tree at the same row goes on where the two differ.
struct Trail {
    // A split that cut the box: the side of its column before, and the level of the rows before.
    struct Step {
        std::uint32_t split;
        std::uint32_t level;
        CodeInterval before;
    };

    std::uint64_t* visited;  // the splits
    std::uint64_t* rows;     // by level: the blocks of the rows that are left. Level 0 has all rows
    std::uint32_t* n_rows;   // by level
    Step* steps;
    CodeInterval* box;  // by column of the tree
    std::size_t n_steps;
    std::size_t level;
    std::size_t stop;  // the split that would have left too few rows; kNoStop if there was none
};
inline constexpr std::size_t kNoStop = ~std::size_t{0};

struct Kernels {
    const char* name;
    // out[w]: bit `bit` of the bytes 64 w ... 64 w + 63, one after the other.
    void (*bit_plane)(const std::uint8_t* bytes, std::size_t n_words, int bit, std::uint64_t* out);
    // Fills `visited` with the splits that are visited for a set of variables, and says in is_effective[j] whether one
    // of them is on members[j].
    void (*visit)(const SplitSets& splits, const std::uint8_t* members, std::size_t n_members, std::uint64_t* visited,
                  std::uint8_t* is_effective);
    // Keeps the rows that go the way of x, split by split, until a split would leave fewer than min_rows: those of the
    // last level of the trail. Returns whether they may be others than before.
    bool (*walk)(const Walk& walk, Trail& trail);
    // out = in & (bits ^ flip), by words, whose number is a multiple of kWordsTogether; returns the number of ones.
    std::size_t (*keep)(const std::uint64_t* in, const std::uint64_t* bits, std::uint64_t flip, std::size_t n_words,
                        std::uint64_t* out);
    // The number of rows in `rows` whose bit is on in `bits` (one word per block).
    std::size_t (*count)(const RowSet& rows, const std::uint64_t* bits);
    // bits[b] = rows of block b with lo <= rank <= hi; returns their number. `rank` is padded to full blocks.
    std::size_t (*outcome)(const std::uint32_t* rank, std::size_t n_rows, std::uint32_t lo, std::uint32_t hi,
                           std::uint64_t* bits);
};

extern std::atomic<const Kernels*> chosen_kernels;
// The build in use: the fastest that this processor can run, unless use_kernels chose another.
inline const Kernels& kernels() { return *chosen_kernels.load(std::memory_order_relaxed); }
std::vector<std::string> kernel_names();    // the builds that this processor can run, fastest first
void use_kernels(const std::string& name);  // for tests and benchmarks

}  // namespace suffice
