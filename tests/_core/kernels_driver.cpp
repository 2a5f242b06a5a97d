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

void compare_meet(const Kernels& portable, const Kernels& build) {
    const std::size_t n_words = kWordsTogether * (1 + below(4)), kind = below(3);
    const std::vector<std::uint64_t> rows = words(n_words), other = words(n_words), counted = words(n_words);
    std::vector<std::uint64_t> a(n_words), b(n_words);
    Meet meet{
        rows.data(), kind == 1 ? other.data() : nullptr, kind == 2 ? other.data() : nullptr, counted.data(), n_words,
        a.data()};
    const MeetCounts n_a = portable.meet(meet);
    meet.found = b.data();
    const MeetCounts n_b = build.meet(meet);
    meet.found = nullptr;
    const MeetCounts without = build.meet(meet);
    require(n_a.n_rows == n_b.n_rows && n_a.n_counted == n_b.n_counted && a == b, build, "meet");
    require(n_a.n_rows == without.n_rows && n_a.n_counted == without.n_counted, build, "meet");
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
            compare_meet(portable, build);
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
