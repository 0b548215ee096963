// Arrays of bf16 that checks of whole kernels fill and compare.
#pragma once

#include "checks.h"
#include "launches.h"

namespace maps {

constexpr int BF16 = 1;
constexpr int64_t HUGE_COUNT = (int64_t)1 << 32;

inline void fill(uint16_t* to, int64_t count, uint64_t seed) {
  Draw draw(seed);
  for (int64_t i = 0; i < count; i++) {
    to[i] = saccade::rounded<saccade::Bf16>((float)(draw.below(257) - 128) / 64).bits;
  }
}
inline void expectRan(int refused, const Launch& launch) {
  expect(refused == 0, "it is refused: %s", launch.error());
  expect(launch.fault().launch == 0, "index %ld is reported", (long)launch.fault().index);
}
inline void expectSame(const char* what, const uint16_t* got, const uint16_t* wanted, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    expect(got[i] == wanted[i], "%s: element %ld is %x, expected %x", what, (long)i, got[i], wanted[i]);
  }
}
inline void expectSame(const char* what, const float* got, const float* wanted, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    expect(std::memcmp(&got[i], &wanted[i], sizeof(float)) == 0, "%s: element %ld is %g, expected %g",
           what, (long)i, got[i], wanted[i]);
  }
}

}  // namespace maps
