// A set of up to 128 variables as a number: the compiler's own type, or two words where the compiler has none (MSVC).
// SUFFICE_WITHOUT_BUILTINS tests the two words.
#pragma once

#include <compare>
#include <cstdint>

namespace suffice {

// The operators of an unsigned number that sets need, in two words.
class TwoWords {
  public:
    constexpr TwoWords(std::uint64_t low = 0) : low_(low) {}  // implicit, as numbers are

    constexpr explicit operator bool() const { return (low_ | high_) != 0; }
    constexpr explicit operator std::uint64_t() const { return low_; }
    constexpr explicit operator std::uint8_t() const { return static_cast<std::uint8_t>(low_); }

    friend constexpr auto operator<=>(const TwoWords&, const TwoWords&) = default;  // of high_ first
    friend constexpr TwoWords operator|(TwoWords a, TwoWords b) { return {a.low_ | b.low_, a.high_ | b.high_}; }
    friend constexpr TwoWords operator&(TwoWords a, TwoWords b) { return {a.low_ & b.low_, a.high_ & b.high_}; }
    friend constexpr TwoWords operator^(TwoWords a, TwoWords b) { return {a.low_ ^ b.low_, a.high_ ^ b.high_}; }
    constexpr TwoWords operator~() const { return {~low_, ~high_}; }
    friend constexpr TwoWords operator-(TwoWords a, TwoWords b) {
        return {a.low_ - b.low_, a.high_ - b.high_ - (a.low_ < b.low_ ? 1 : 0)};
    }
    // By fewer than 128 places. A word shifted by 64 is undefined, hence the cases.
    template <class Places>
    friend constexpr TwoWords operator<<(TwoWords a, Places places) {
        if (places == 0) return a;
        if (places >= 64) return {0, a.low_ << (places - 64)};
        return {a.low_ << places, a.high_ << places | a.low_ >> (64 - places)};
    }
    template <class Places>
    friend constexpr TwoWords operator>>(TwoWords a, Places places) {
        if (places == 0) return a;
        if (places >= 64) return {a.high_ >> (places - 64), 0};
        return {a.low_ >> places | a.high_ << (64 - places), a.high_ >> places};
    }
    constexpr TwoWords& operator|=(TwoWords b) { return *this = *this | b; }
    constexpr TwoWords& operator&=(TwoWords b) { return *this = *this & b; }

  private:
    constexpr TwoWords(std::uint64_t low, std::uint64_t high) : high_(high), low_(low) {}

    std::uint64_t high_ = 0, low_;
};

#if defined(__SIZEOF_INT128__) && !defined(SUFFICE_WITHOUT_BUILTINS)
__extension__ typedef unsigned __int128 WideSet;
#else
using WideSet = TwoWords;
#endif

}  // namespace suffice
