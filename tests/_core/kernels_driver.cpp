// Runs every build of the kernels that this processor can run on random inputs, and compares each bit with the portable
// build. It needs no Python, so it also runs under an emulator of another processor: test_kernels.py builds and runs
// it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "wide_set.hpp"

namespace suffice {
namespace {

std::mt19937_64 draw{20260601};

std::size_t below(std::size_t n) { return draw() % n; }

// Words of few, of half and of many ones.
std::vector<std::uint64_t> words(std::size_t n) {
    std::vector<std::uint64_t> out(n);
    const std::size_t kind = below(4);
    for (std::uint64_t& word : out)
        word = kind == 0   ? draw() & draw() & draw()
               : kind == 1 ? draw()
               : kind == 2 ? draw() | draw()
                           : draw() & -draw();
    return out;
}

void require(bool same, const Kernels& build, const char* kernel) {
    if (same) return;
    std::printf("%s: the kernel '%s' differs from the portable build.\n", build.name, kernel);
    std::exit(1);
}

void compare_bit_plane(const Kernels& portable, const Kernels& build) {
    const std::size_t n_words = 1 + below(6);
    std::vector<std::uint8_t> bytes(64 * n_words);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draw());
    for (int bit = 0; bit < 8; ++bit) {
        std::vector<std::uint64_t> a(n_words), b(n_words);
        portable.bit_plane(bytes.data(), n_words, bit, a.data());
        build.bit_plane(bytes.data(), n_words, bit, b.data());
        require(a == b, build, "bit_plane");
    }
}

void compare_visit(const Kernels& portable, const Kernels& build) {
    const std::size_t n_words = kWordsTogether * (1 + below(3)), n_variables = 1 + below(9);
    auto departed = words(n_words * n_variables), own = words(n_words * n_variables);
    for (std::uint64_t& word : own) word &= below(3) ? draw() & draw() & draw() & draw() & draw() : 0;
    std::vector<std::uint8_t> members;
    for (std::size_t v = 0; v < n_variables; ++v)
        if (below(2)) members.push_back(static_cast<std::uint8_t>(v));
    const SplitSets splits{departed.data(), own.data(), n_words};
    std::vector<std::uint64_t> a(n_words), b(n_words);
    std::vector<std::uint8_t> effective_a(members.size()), effective_b(members.size());
    portable.visit(splits, members.data(), members.size(), a.data(), effective_a.data());
    build.visit(splits, members.data(), members.size(), b.data(), effective_b.data());
    require(a == b && effective_a == effective_b, build, "visit");
}

// The memory of a trail in a tree.
struct TrailMemory {
    TrailMemory(std::size_t n_splits, std::size_t n_words, std::size_t n_blocks, const std::vector<std::uint64_t>& rows,
                std::uint32_t n_rows, const std::vector<CodeInterval>& everything)
        : visited(n_words), levels(n_blocks * (n_splits + 2)), counts(n_splits + 2), steps(n_splits), box(everything) {
        std::memcpy(levels.data(), rows.data(), 8 * n_blocks);
        counts[0] = n_rows;
        trail = {visited.data(), levels.data(), counts.data(), steps.data(), box.data(), 0, 0, kNoStop};
    }

    bool operator==(const TrailMemory& other) const {
        if (visited != other.visited || levels != other.levels || counts != other.counts) return false;
        if (trail.n_steps != other.trail.n_steps || trail.level != other.trail.level || trail.stop != other.trail.stop)
            return false;
        for (std::size_t i = 0; i < box.size(); ++i)
            if (box[i].lo != other.box[i].lo || box[i].hi != other.box[i].hi || box[i].missing != other.box[i].missing)
                return false;
        for (std::size_t i = 0; i < trail.n_steps; ++i)
            if (steps[i].split != other.steps[i].split || steps[i].level != other.steps[i].level) return false;
        return true;
    }

    std::vector<std::uint64_t> visited, levels;
    std::vector<std::uint32_t> counts;
    std::vector<Trail::Step> steps;
    std::vector<CodeInterval> box;
    Trail trail;
};

void compare_walk(const Kernels& portable, const Kernels& build) {
    const std::size_t n_words = kWordsTogether, n_splits = 64 * n_words, n_columns = 1 + below(5);
    const std::size_t n_blocks = kWordsTogether * (1 + below(4));
    // Most rows stay at most splits, so that walks are long.
    std::vector<std::uint64_t> left_rows(n_blocks * n_splits);
    std::vector<std::uint64_t> goes_left = words(n_words);
    for (std::size_t split = 0; split < n_splits; ++split) {
        const bool left = goes_left[split / 64] >> (split % 64) & 1;
        for (std::size_t b = 0; b < n_blocks; ++b) {
            const std::uint64_t leaves = below(4) ? 0 : draw() & draw() & draw() & draw();
            left_rows[n_blocks * split + b] = left ? ~leaves : leaves;
        }
    }
    std::vector<SplitCode> codes(n_splits);
    for (SplitCode& code : codes)
        code = {static_cast<std::uint32_t>(below(200)), static_cast<std::uint16_t>(below(n_columns)), below(2) == 0};
    const std::vector<CodeInterval> everything(n_columns, CodeInterval{0, 200, true});
    const std::vector<std::uint64_t> rows = words(n_blocks);
    std::size_t n_rows = 0;
    for (std::uint64_t word : rows)
        for (; word; word &= word - 1) ++n_rows;
    const auto n = static_cast<std::uint32_t>(n_rows);
    TrailMemory a(n_splits, n_words, n_blocks, rows, n, everything),
        b(n_splits, n_words, n_blocks, rows, n, everything);
    std::vector<std::uint64_t> visited = words(n_words);
    for (int turn = 0; turn < 6; ++turn) {
        const Walk walk{left_rows.data(), n_blocks,      visited.data(), goes_left.data(),
                        n_words,          1 + below(20), codes.data()};
        const bool moved_a = portable.walk(walk, a.trail), moved_b = build.walk(walk, b.trail);
        require(moved_a == moved_b && a == b, build, "walk");
        visited[below(n_words)] ^= draw() & draw() & draw();  // the next walk begins as this one
    }
}

void compare_keep(const Kernels& portable, const Kernels& build) {
    const std::size_t n_words = kWordsTogether * (1 + below(4));
    const std::vector<std::uint64_t> in = words(n_words), bits = words(n_words);
    const std::uint64_t flip = below(2) ? ~std::uint64_t{0} : 0;
    std::vector<std::uint64_t> a(n_words), b(n_words);
    const std::size_t n_a = portable.keep(in.data(), bits.data(), flip, n_words, a.data());
    const std::size_t n_b = build.keep(in.data(), bits.data(), flip, n_words, b.data());
    require(n_a == n_b && a == b, build, "keep");
}

void compare_count(const Kernels& portable, const Kernels& build) {
    const std::size_t n_blocks = 1 + below(9);
    std::vector<std::uint64_t> mask = words(n_blocks);
    const std::vector<std::uint64_t> bits = words(n_blocks);
    const RowSet rows{mask.data(), n_blocks};
    require(portable.count(rows, bits.data()) == build.count(rows, bits.data()), build, "count");
}

void compare_outcome(const Kernels& portable, const Kernels& build) {
    const std::size_t n_rows = 1 + below(400), n_blocks = (n_rows + kBlock - 1) / kBlock;
    std::vector<std::uint32_t> rank(kBlock * n_blocks);
    for (std::uint32_t& r : rank) r = static_cast<std::uint32_t>(below(2) ? draw() : below(50));
    const std::uint32_t lo = rank[below(n_rows)], hi = rank[below(n_rows)];
    std::vector<std::uint64_t> a(n_blocks), b(n_blocks);
    const std::size_t n_a = portable.outcome(rank.data(), n_rows, lo, hi, a.data());
    const std::size_t n_b = build.outcome(rank.data(), n_rows, lo, hi, b.data());
    require(n_a == n_b && a == b, build, "outcome");
}

// The build of this name.
const Kernels& build_of(const std::string& name) {
    use_kernels(name);
    return kernels();
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Wide;

Wide wide_of(TwoWords set) {
    return static_cast<Wide>(static_cast<std::uint64_t>(set >> 64)) << 64 | static_cast<std::uint64_t>(set);
}

// Sets in two words beside numbers of 128 bits.
void compare_two_words() {
    const auto number = [] { return below(4) ? draw() : draw() % 3; };
    for (int turn = 0; turn < 2000; ++turn) {
        const std::uint64_t low = number(), high = number();
        const TwoWords a = TwoWords{high} << 64 | low, b = below(4) ? TwoWords{number()} << 64 | number() : a;
        const Wide wide_a = static_cast<Wide>(high) << 64 | low, wide_b = wide_of(b);
        bool same = wide_of(a) == wide_a && (a == b) == (wide_a == wide_b) && (a != b) == (wide_a != wide_b) &&
                    (a < b) == (wide_a < wide_b) && static_cast<bool>(a) == static_cast<bool>(wide_a) &&
                    static_cast<std::uint8_t>(a) == static_cast<std::uint8_t>(wide_a) &&
                    wide_of(a | b) == (wide_a | wide_b) && wide_of(a & b) == (wide_a & wide_b) &&
                    wide_of(a ^ b) == (wide_a ^ wide_b) && wide_of(~a) == ~wide_a && wide_of(a - b) == wide_a - wide_b;
        for (unsigned places = 0; places < 128; ++places)
            same = same && wide_of(a << places) == wide_a << places && wide_of(a >> places) == wide_a >> places;
        if (!same) {
            std::printf("Sets in two words differ from numbers of 128 bits.\n");
            std::exit(1);
        }
    }
    std::printf("two words: the same as numbers of 128 bits\n");
}
#else
void compare_two_words() {}
#endif

int run(int n_turns) {
    const Kernels& portable = build_of("portable");
    for (const std::string& name : kernel_names()) {
        if (name == portable.name) continue;
        const Kernels& build = build_of(name);
        for (int turn = 0; turn < n_turns; ++turn) {
            compare_bit_plane(portable, build);
            compare_visit(portable, build);
            compare_keep(portable, build);
            compare_walk(portable, build);
            compare_count(portable, build);
            compare_outcome(portable, build);
        }
        std::printf("%s: the same bits as the portable build on %d inputs of each kernel\n", name.c_str(), n_turns);
    }
    compare_two_words();
    return 0;
}

}  // namespace
}  // namespace suffice

int main(int argc, char** argv) { return suffice::run(argc > 1 ? std::atoi(argv[1]) : 200); }
