// The functions of parts/device.cuh and the words of CUDA C++, on the CPU.
#pragma once

#include <cmath>
#include <cstring>

#include "block.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define threadIdx (::saccade::emulator::place().thread)
#define blockIdx (::saccade::emulator::place().block)
#define blockDim (::saccade::emulator::place().blockSize)
#define gridDim (::saccade::emulator::place().gridSize)

namespace saccade {

inline uint8_t* sharedMemory() { return emulator::sharedMemory(); }

inline float wordAsFloat(uint32_t word) {
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline uint32_t floatAsWord(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}
inline float halfToFloat(uint16_t bits) {
  const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  const int exponent = bits >> 10 & 31;
  const uint32_t fraction = bits & 1023u;
  if (exponent == 31) return wordAsFloat(sign | 0x7f800000u | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp((float)fraction, -24)
                                        : std::ldexp((float)(1024u + fraction), exponent - 25);
  return wordAsFloat(sign | floatAsWord(magnitude));
}
inline uint16_t floatToHalf(float value) {
  const uint32_t word = floatAsWord(value);
  const uint16_t sign = (uint16_t)(word >> 16 & 0x8000u);
  if (std::isnan(value)) return (uint16_t)(sign | 0x7e00u);
  const double magnitude = std::fabs((double)value);
  if (magnitude == 0.0) return sign;
  if (magnitude >= 65520.0) return (uint16_t)(sign | 0x7c00u);
  // frexp gives zero the exponent of one half.
  if (magnitude == 0.0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The unit of the last place; numbers below 2^-14 share one.
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const double units = std::nearbyint(std::ldexp(magnitude, -unit));
  // Rounding up to the next power of two carries into the exponent, as it should.
  if (unit == -24) return (uint16_t)(sign | (uint16_t)units);
  return (uint16_t)(sign | (uint16_t)((uint32_t)(unit + 24) * 1024u + (uint32_t)units));
}
inline uint16_t floatToBf16(float value) {
  const uint32_t word = floatAsWord(value);
  if (std::isnan(value)) return (uint16_t)(word >> 16 | 0x40u);
  return (uint16_t)((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}
// To the nearest, ties away from zero, as cvt.rna does.
inline uint32_t floatToTf32(float value) {
  const uint32_t word = floatAsWord(value);
  if (std::isnan(value) || std::isinf(value)) return word;
  return (word + 0x1000u) & 0xffffe000u;
}
inline float roundedProduct(float a, float b) { return a * b; }
inline float powerOfTwo(float x) { return x < -126.0f ? 0.0f : std::exp2(x); }

inline void expectAligned(const void* address) {
  if (reinterpret_cast<uint64_t>(address) % 16 == 0) return;
  std::fprintf(stderr, "16 bytes are loaded or stored at an address that is not 16-byte aligned.\n");
  std::abort();
}
inline void loadWords(uint32_t (&words)[4], const void* from) {
  expectAligned(from);
  std::memcpy(words, from, sizeof words);
}
inline void storeWords(void* to, const uint32_t (&words)[4]) {
  expectAligned(to);
  std::memcpy(to, words, sizeof words);
}

inline void storePairOfWords(void* to, uint32_t first, uint32_t second) {
  if (reinterpret_cast<uint64_t>(to) % 8 != 0) {
    std::fprintf(stderr, "8 bytes are stored at an address that is not 8-byte aligned.\n");
    std::abort();
  }
  const uint32_t words[2] = {first, second};
  std::memcpy(to, words, sizeof words);
}

inline int blockThreads() {
  const emulator::Index3& size = emulator::place().blockSize;
  return (int)(size.x * size.y * size.z);
}
inline void syncBlock() { emulator::meetBlock(0, blockThreads()); }

namespace emulator {

inline void exchangeNothing(const uint32_t (*)[MEETING_WORDS], uint32_t (*)[MEETING_WORDS],
                            const void*) {}
// A lane brings its word and the lane it asks.
inline void exchangeWords(const uint32_t (*brought)[MEETING_WORDS],
                          uint32_t (*taken)[MEETING_WORDS], const void*) {
  for (int lane = 0; lane < WARP; lane++) taken[lane][0] = brought[brought[lane][1] % WARP][0];
}
inline uint32_t exchange(uint32_t word, int lane) {
  const uint32_t bring[2] = {word, (uint32_t)lane};
  uint32_t take = 0;
  meetWarp(exchangeWords, nullptr, bring, 2, &take, 1);
  return take;
}

inline const uint8_t* broughtRow(const uint32_t (*brought)[MEETING_WORDS], int lane) {
  uint64_t address;
  std::memcpy(&address, brought[lane], sizeof address);
  if (address % 16 != 0) {
    std::fprintf(stderr, "A row of a matrix to load is not 16-byte aligned.\n");
    std::abort();
  }
  return reinterpret_cast<const uint8_t*>(address);
}
inline void gatherMatrices(const uint32_t (*brought)[MEETING_WORDS],
                           uint32_t (*taken)[MEETING_WORDS], const void*) {
  for (int matrix = 0; matrix < 4; matrix++) {
    for (int lane = 0; lane < WARP; lane++) {
      const uint8_t* row = broughtRow(brought, 8 * matrix + lane / 4);
      std::memcpy(&taken[lane][matrix], row + 4 * (lane % 4), 4);
    }
  }
}
inline void gatherTransposed(const uint32_t (*brought)[MEETING_WORDS],
                             uint32_t (*taken)[MEETING_WORDS], const void*) {
  for (int matrix = 0; matrix < 4; matrix++) {
    for (int lane = 0; lane < WARP; lane++) {
      uint32_t word = 0;
      for (int half = 0; half < 2; half++) {
        uint16_t element;
        const uint8_t* row = broughtRow(brought, 8 * matrix + 2 * (lane % 4) + half);
        std::memcpy(&element, row + 2 * (lane / 4), 2);
        word |= (uint32_t)element << (16 * half);
      }
      taken[lane][matrix] = word;
    }
  }
}

enum class Product { bf16, f16, tf32 };

// Words brought: c, a, b. The places of elements in lanes are those of the PTX manual.
template <Product KIND>
inline void multiplyMatrices(const uint32_t (*brought)[MEETING_WORDS],
                             uint32_t (*taken)[MEETING_WORDS], const void*) {
  constexpr int DEPTH = KIND == Product::tf32 ? 8 : 16;
  float a[16][DEPTH], b[DEPTH][8];
  const auto half = [](uint32_t word, int place) {
    const uint16_t bits = (uint16_t)(word >> (16 * place));
    return KIND == Product::bf16 ? wordAsFloat((uint32_t)bits << 16) : halfToFloat(bits);
  };
  for (int lane = 0; lane < WARP; lane++) {
    const int g = lane / 4, c = lane % 4;
    const uint32_t* words = brought[lane] + 4;
    for (int i = 0; i < 4; i++) {
      const int row = g + 8 * (i % 2);
      if (KIND == Product::tf32) {
        a[row][c + 4 * (i / 2)] = wordAsFloat(words[i] & 0xffffe000u);
      } else {
        for (int p = 0; p < 2; p++) a[row][2 * c + p + 8 * (i / 2)] = half(words[i], p);
      }
    }
    for (int i = 0; i < 2; i++) {
      if (KIND == Product::tf32) {
        b[c + 4 * i][g] = wordAsFloat(words[4 + i] & 0xffffe000u);
      } else {
        for (int p = 0; p < 2; p++) b[2 * c + p + 8 * i][g] = half(words[4 + i], p);
      }
    }
  }
  float c[16][8];
  const auto elementOf = [&](int lane, int i) -> float& {
    return c[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
  };
  for (int lane = 0; lane < WARP; lane++) {
    for (int i = 0; i < 4; i++) elementOf(lane, i) = wordAsFloat(brought[lane][i]);
  }
  for (int row = 0; row < 16; row++) {
    for (int k = 0; k < DEPTH; k++) {
      for (int column = 0; column < 8; column++) c[row][column] += a[row][k] * b[k][column];
    }
  }
  for (int lane = 0; lane < WARP; lane++) {
    for (int i = 0; i < 4; i++) taken[lane][i] = floatAsWord(elementOf(lane, i));
  }
}
template <Product KIND>
inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  uint32_t bring[10];
  std::memcpy(bring, c, sizeof c);
  std::memcpy(bring + 4, a, sizeof a);
  bring[8] = b0;
  bring[9] = b1;
  uint32_t take[4];
  meetWarp(multiplyMatrices<KIND>, nullptr, bring, 10, take, 4);
  std::memcpy(c, take, sizeof c);
}

}  // namespace emulator

inline void syncWarp() {
  emulator::meetWarp(emulator::exchangeNothing, nullptr, nullptr, 0, nullptr, 0);
}
inline float shuffleFrom(float value, int lane) {
  return wordAsFloat(emulator::exchange(floatAsWord(value), lane));
}
inline int32_t shuffleFrom(int32_t value, int lane) {
  return (int32_t)emulator::exchange((uint32_t)value, lane);
}
inline float shuffleXor(float value, int mask) {
  return shuffleFrom(value, emulator::place().lane ^ mask);
}
inline int32_t shuffleXor(int32_t value, int mask) {
  return (int32_t)emulator::exchange((uint32_t)value, emulator::place().lane ^ mask);
}

inline void copyAsync(void* to, const void* from, bool isPresent) {
  emulator::copyAsync(to, isPresent ? from : nullptr);
}
inline void copyWordAsync(void* to, const void* from, bool isPresent) {
  emulator::copyAsync(to, isPresent ? from : nullptr, 4);
}
inline void commitCopies() { emulator::commitCopies(); }
template <int LEFT>
inline void waitCopies() {
  emulator::waitCopies(LEFT);
}

inline void loadMatrices(uint32_t (&words)[4], const void* row) {
  emulator::meetWarp(emulator::gatherMatrices, nullptr, reinterpret_cast<const uint32_t*>(&row), 2,
                     words, 4);
}
inline void loadMatricesTransposed(uint32_t (&words)[4], const void* row) {
  emulator::meetWarp(emulator::gatherTransposed, nullptr, reinterpret_cast<const uint32_t*>(&row),
                     2, words, 4);
}
inline void multiplyBf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  emulator::multiply<emulator::Product::bf16>(c, a, b0, b1);
}
inline void multiplyF16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  emulator::multiply<emulator::Product::f16>(c, a, b0, b1);
}
inline void multiplyTf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  emulator::multiply<emulator::Product::tf32>(c, a, b0, b1);
}

inline uint32_t atomicCAS(uint32_t* at, uint32_t expected, uint32_t value) {
  const uint32_t before = *at;
  if (before == expected) *at = value;
  return before;
}
inline int32_t atomicMax(int32_t* at, int32_t value) {
  const int32_t before = *at;
  if (before < value) *at = value;
  return before;
}

}  // namespace saccade
