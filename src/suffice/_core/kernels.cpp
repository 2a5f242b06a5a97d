#include "kernels.hpp"

#include <stdexcept>

#if defined(SUFFICE_HAS_AVX2) && defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace suffice {

// Those that are not built are declared, too.
namespace portable {
extern const Kernels table;
}
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
namespace neon {
extern const Kernels table;
}

namespace {

#ifdef SUFFICE_HAS_AVX2
// Whether the processor has AVX2, POPCNT and BMI, and the system saves the registers.
bool has_avx2() {
#if defined(_MSC_VER) && !defined(__clang__)
    int leaf[4];  // EAX, EBX, ECX, EDX
    __cpuid(leaf, 0);
    if (leaf[0] < 7) return false;
    __cpuid(leaf, 1);
    const bool has_popcnt = leaf[2] >> 23 & 1, has_xgetbv = leaf[2] >> 27 & 1;
    if (!has_popcnt || !has_xgetbv || (_xgetbv(0) & 6) != 6) return false;
    __cpuidex(leaf, 7, 0);
    return (leaf[1] >> 5 & 1) && (leaf[1] >> 3 & 1);
#else
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
#endif
}
#endif

std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> tables;
#ifdef SUFFICE_HAS_AVX512  // not with MSVC
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vpopcntdq"))
        tables.push_back(&avx512::table);
#endif
#ifdef SUFFICE_HAS_AVX2
    if (has_avx2()) tables.push_back(&avx2::table);
#endif
#ifdef SUFFICE_HAS_NEON
    tables.push_back(&neon::table);
#endif
    tables.push_back(&portable::table);
    return tables;
}

}  // namespace

std::atomic<const Kernels*> chosen_kernels{usable().front()};

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const Kernels* table : usable()) names.emplace_back(table->name);
    return names;
}

void use_kernels(const std::string& name) {
    for (const Kernels* table : usable())
        if (name == table->name) return chosen_kernels.store(table);
    throw std::invalid_argument("This processor cannot run the kernels '" + name + "'.");
}

}  // namespace suffice
