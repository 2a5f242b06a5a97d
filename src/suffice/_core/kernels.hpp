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

#include "code_interval.hpp"

namespace suffice {

// Rows of a tree are handled in blocks of 64: one bit of a mask each.
inline constexpr std::size_t kBlock = 64;

// Codes of one column of one tree, `width` bytes each, in the order of the tree's rows.
struct CodeView {
    const void* codes;
    const void* block_lo;  // smallest and largest code of each block, padded to a multiple of 64 blocks
    const void* block_hi;
    int width;
    std::uint32_t missing_code;  // of missing values; larger than all other codes
};

// Some rows of a tree: `mask[i]` marks rows of the block `block[i]`.
struct RowSet {
    std::uint32_t* block;
    std::uint64_t* mask;
    std::size_t size;
};

struct Kernels {
    const char* name;
    // Positions i < n with (departure[i] & S) == 0 and (own[i] & S) != 0, ascending; n is a multiple of 16.
    std::size_t (*visited16)(const std::uint16_t* departure, const std::uint16_t* own, std::size_t n, std::uint16_t S,
                             std::uint32_t* out);
    std::size_t (*visited64)(const std::uint64_t* departure, const std::uint64_t* own, std::size_t n, std::uint64_t S,
                             std::uint32_t* out);
    // The union of own[i] over these positions.
    std::uint16_t (*effective16)(const std::uint16_t* departure, const std::uint16_t* own, std::size_t n,
                                 std::uint16_t S);
    std::uint64_t (*effective64)(const std::uint64_t* departure, const std::uint64_t* own, std::size_t n,
                                 std::uint64_t S);
    // alive[w] &= blocks 64 w ... 64 w + 63 that may have a row inside the interval.
    void (*overlap)(const CodeView& column, const CodeInterval& interval, std::size_t n_words, std::uint64_t* alive);
    // Rows of `in` inside the interval, without empty blocks; returns their number. `out` may be `in`.
    std::size_t (*refine)(const CodeView& column, const CodeInterval& interval, const RowSet& in, RowSet& out);
    // out[b] = in[b] & bits[b], or in[b] & ~bits[b]; returns the number of rows.
    std::size_t (*keep)(const std::uint64_t* in, const std::uint64_t* bits, bool inverted, std::size_t n_blocks,
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
