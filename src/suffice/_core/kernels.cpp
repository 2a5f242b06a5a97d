#include "kernels.hpp"

#include <stdexcept>

namespace suffice {

namespace portable {
extern const Kernels table;
}
#ifdef SUFFICE_HAS_AVX2
namespace avx2 {
extern const Kernels table;
}
#endif

namespace {

std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> tables;
#ifdef SUFFICE_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi"))
        tables.push_back(&avx2::table);
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
        if (name == table->name) {
            chosen_kernels = table;
            return;
        }
    throw std::invalid_argument("This processor cannot run the kernels '" + name + "'.");
}

}  // namespace suffice
