// Named checks of a program that a test runner starts: each says what it found wrong, one line each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace maps {

// Registers a check; they run in the order of their files.
struct Check {
  Check(const char* name, void (*run)());
};

// Notes that something is wrong; the first few of a check are shown.
__attribute__((format(printf, 2, 3))) void expect(bool isRight, const char* format, ...);

// Random whole numbers below a bound, the same in every run.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  int64_t below(int64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int64_t>((state_ >> 11) % static_cast<uint64_t>(bound));
  }
  // A whole number that every storage type holds.
  float small() { return static_cast<float>(below(9) - 4); }

 private:
  uint64_t state_;
};

}  // namespace maps

#define MAPS_JOIN(a, b) a##b
#define MAPS_NAME(a, b) MAPS_JOIN(a, b)
#define CHECK(sentence)                                                            \
  static void MAPS_NAME(check, __LINE__)();                                        \
  static const maps::Check MAPS_NAME(entry, __LINE__)(sentence, MAPS_NAME(check, __LINE__)); \
  static void MAPS_NAME(check, __LINE__)()
