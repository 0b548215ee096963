// The draw of the kernels that sample: Gumbel noise from Philox at an address of the row's own key, and
// the best entry of a fold with it.
#pragma once

#include "../../include/philox.h"
#include "vocabulary.h"

namespace saccade {
namespace SACCADE_ISA {

// Words of Philox4x32-10 at FOLD / 4 counters from `first` on: words[4·i + r] is word r of the
// i-th.
static inline void philoxWords(uint32_t* words, uint32_t first, const int32_t* key) {
  WordVec lane;
  for (int i = 0; i < LANES; i++) lane[i] = (uint32_t)i;
  for (int64_t i = 0; i < FOLD / 4; i += LANES) {
    WordVec c0 = lane + (first + (uint32_t)i);
    WordVec c1 = WordVec{} + (uint32_t)key[2];
    WordVec c2 = WordVec{} + (uint32_t)key[3];
    WordVec c3{};
    uint32_t k0 = (uint32_t)key[0], k1 = (uint32_t)key[1];
    for (int round = 0; round < 10; round++) {
      const WordProduct product0 = multiplyWords(c0, PHILOX_M0);
      const WordProduct product1 = multiplyWords(c2, PHILOX_M1);
      c0 = product1.high ^ c1 ^ k0;
      c2 = product0.high ^ c3 ^ k1;
      c1 = product1.low;
      c3 = product0.low;
      k0 += PHILOX_W0;
      k1 += PHILOX_W1;
    }
    uint32_t rows[4][LANES];
    memcpy(rows[0], &c0, sizeof c0);
    memcpy(rows[1], &c1, sizeof c1);
    memcpy(rows[2], &c2, sizeof c2);
    memcpy(rows[3], &c3, sizeof c3);
    for (int j = 0; j < LANES; j++) {
      for (int r = 0; r < 4; r++) words[4 * (i + j) + r] = rows[r][j];
    }
  }
}

// −ln(−ln u), u = ((word >> 8) + ½)/2²⁴. Above ½ such a u needs 25 bits, so there it is taken as
// 1 − w with w exact, and ln u = ln1p(−w).
SACCADE_INLINE Vec gumbel(IntVec word) {
  const IntVec n = (word >> 8) & 0xffffff;
  const IntVec upper = (IntVec)(n >= 0x800000);
  const IntVec small = (n & ~upper) | ((0xffffff - n) & upper);
  const Vec exact = (__builtin_convertvector(small, Vec) + splat(0.5f)) * splat(0x1p-24f);
  const Vec u = selectGreater(__builtin_convertvector(n, Vec), splat(8388607.5f),
                              splat(1.0f) - exact, exact);
  const Vec rounded = splat(1.0f) - exact;
  const Vec lost = -exact - (rounded - splat(1.0f));
  const Vec correction = selectGreater(__builtin_convertvector(n, Vec), splat(8388607.5f),
                                       lost / rounded, Vec{});
  return -logarithm(-(logarithm(u) + correction));
}

struct Candidate {
  float score;
  float logit;
  int32_t token;
};

// The first of the largest z + noise; noise null: of the largest z.
static inline Candidate bestOf(const float* z, const uint32_t* words, int64_t first, int64_t count) {
  Vec best = splat(-__builtin_inff());
  Vec place = laneIndex();
  forLanes(count, [&](int64_t j, int64_t width) {
    Vec score = loadWidth(z + j, width);
    if (words) {
      IntVec word;
      memcpy(&word, words + j, sizeof word);
      score = score + gumbel(word);
    }
    score = selectGreater(splat((float)width), laneIndex(), score, splat(-__builtin_inff()));
    place = selectGreater(score, best, laneIndex() + splat((float)j), place);
    best = maximum(score, best);
  });
  float scores[LANES], places[LANES];
  store(scores, best);
  store(places, place);
  int lane = 0;
  for (int i = 1; i < LANES && i < count; i++) {
    const bool tieBefore = scores[i] == scores[lane] && places[i] < places[lane];
    if (scores[i] > scores[lane] || tieBefore) lane = i;
  }
  const int64_t at = (int64_t)places[lane];
  return {scores[lane], z[at], (int32_t)(first + at)};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
