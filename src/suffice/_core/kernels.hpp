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

// Sets of splits and of rows take a multiple of this many words, which fill a register of AVX-512.
inline constexpr std::size_t kWordsTogether = 8;

// Rows that are in one set, or not in another.
struct Meet {
    const std::uint64_t* rows;     // among these
    const std::uint64_t* in;       // null: every row is
    const std::uint64_t* not_in;   // null: no row is
    const std::uint64_t* counted;  // rows that are counted besides
    std::size_t n_words;           // a multiple of kWordsTogether
    std::uint64_t* found;          // gets the rows, unless it is null
};
struct MeetCounts {
    std::size_t n_rows;
    std::size_t n_counted;
};

struct Kernels {
    const char* name;
    // out[w]: bit `bit` of the bytes 64 w ... 64 w + 63, one after the other.
    void (*bit_plane)(const std::uint8_t* bytes, std::size_t n_words, int bit, std::uint64_t* out);
    MeetCounts (*meet)(const Meet& meet);
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
