// The draw of the kernels that sample: Gumbel noise from Philox at an address of the row's own key,
// the best entry of a fold with it, and the best of a row's folds. The lowest entry wins a tie.
#pragma once

#include "../../include/philox.h"
#include "vocabulary.cuh"

namespace saccade {

struct Candidate {
  float score;
  float logit;
  int32_t token;
};

// Philox4x32-10.
__device__ __forceinline__ void philoxWords(uint32_t (&words)[4], uint32_t counter,
                                            const int32_t* key) {
  uint32_t c0 = counter, c1 = (uint32_t)key[2], c2 = (uint32_t)key[3], c3 = 0;
  uint32_t k0 = (uint32_t)key[0], k1 = (uint32_t)key[1];
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const uint64_t product0 = (uint64_t)PHILOX_M0 * c0, product1 = (uint64_t)PHILOX_M1 * c2;
    c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)product1;
    c3 = (uint32_t)product0;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

// −ln(−ln u), u = ((word >> 8) + ½)/2²⁴. Above ½ such a u needs 25 bits; there it is 1 − w, w
// exact.
__device__ __forceinline__ float gumbel(uint32_t word) {
  const uint32_t n = word >> 8;
  const bool isUpper = n >= 0x800000u;
  const float exact = ((float)(isUpper ? 0xffffffu - n : n) + 0.5f) * 0x1p-24f;
  return -logf(-(isUpper ? log1pf(-exact) : logf(exact)));
}

__device__ __forceinline__ bool wins(float score, int32_t token, float overScore,
                                     int32_t overToken) {
  return score > overScore || (score == overScore && token < overToken);
}

// The best entry of a fold, and its score.
struct Drawn {
  float score;
  int32_t entry;
};

// In all eight lanes of a row. Where there is no row the noise is 0; greedy draws have none.
template <bool IS_GREEDY>
__device__ __forceinline__ Drawn drawFold(const FoldLane& own, int lane, int64_t fold,
                                          bool isRow, const int32_t* keys, int64_t row) {
  // Entries beyond the vocabulary score −∞, and so lose to the fold's first.
  int32_t best = entryOf(lane, 0);
  float score = -INFINITY;
#pragma unroll
  for (int run = 0; run < RUNS; run++) {
    const int entry = entryOf(lane, run);
    uint32_t words[4] = {};
    if (!IS_GREEDY && isRow) {
      philoxWords(words, (uint32_t)((fold * FOLD + entry) / 4), keys + 4 * row);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float z = IS_GREEDY ? own.z[run][i] : own.z[run][i] + gumbel(words[i]);
      if (z > score) {
        score = z;
        best = entry + i;
      }
    }
  }
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) {
    const float otherScore = shuffleXor(score, mask);
    const int32_t other = shuffleXor(best, mask);
    if (wins(otherScore, other, score, best)) {
      score = otherScore;
      best = other;
    }
  }
  return {score, best};
}

// The best of a row's folds, in the first thread of its block of MERGE_THREADS.
__device__ inline Candidate bestOfFolds(const Candidate* candidates, int64_t folds) {
  const int thread = (int)threadIdx.x;
  syncBlock();
  Candidate* shared = reinterpret_cast<Candidate*>(sharedMemory());
  Candidate best = candidates[0];
  for (int64_t fold = thread; fold < folds; fold += MERGE_THREADS) {
    const Candidate other = candidates[fold];
    if (wins(other.score, other.token, best.score, best.token)) best = other;
  }
  shared[thread] = best;
  for (int half = MERGE_THREADS / 2; half > 0; half /= 2) {
    syncBlock();
    if (thread >= half) continue;
    const Candidate other = shared[thread + half];
    if (wins(other.score, other.token, shared[thread].score, shared[thread].token)) {
      shared[thread] = other;
    }
  }
  return shared[thread];
}

static_assert(MERGE_SHARED >= MERGE_THREADS * (int)sizeof(Candidate), "candidates fit");

}  // namespace saccade
