// Draws a token from softmax(hidden·weightᵀ/temperature) with its exact log-probability.
//
// token = argmaxⱼ zⱼ + gⱼ with Gumbel noise from Philox at an address of the row's own key, so a
// draw depends on nothing around it; temperature 0 takes the largest z. The lowest entry wins a
// tie.
// Layout and tiles as in linear-logprob: while a tile's logits are in shared memory they are folded
// and compared, eight lanes a row, a lane 16 entries: four counters of Philox. One block merges a
// row.
#include "../include/philox.h"
#include "parts/vocabulary.cuh"

namespace saccade {
namespace {

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

// Keeps the best of each fold.
template <bool IS_GREEDY>
struct DrawTaker {
  const int32_t* keys;
  int64_t rows, folds;
  Candidate* candidates;

  template <int COUNT>
  __device__ bool isWanted(int64_t) const {
    return true;
  }
  __device__ void take(int64_t row, int64_t fold, int lane, const FoldLane& own,
                       const float* logits) const {
    const bool isRow = row < rows;
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
    if (!isRow || lane != 0) return;
    candidates[row * folds + fold] = {score, logits[best], (int32_t)(fold * FOLD + best)};
  }
};

__global__ void __launch_bounds__(MERGE_THREADS)
    chooseTokens(const FoldPart* parts, const Candidate* candidates, int64_t folds, int32_t* tokens,
                 float* logprobs) {
  const int64_t row = blockIdx.x;
  const int thread = (int)threadIdx.x;
  const FoldState state = mergeFolds(parts + row * folds, folds);
  syncBlock();
  Candidate* shared = reinterpret_cast<Candidate*>(sharedMemory());
  Candidate best = candidates[row * folds];
  for (int64_t fold = thread; fold < folds; fold += MERGE_THREADS) {
    const Candidate other = candidates[row * folds + fold];
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
  if (thread > 0) return;
  tokens[row] = shared[0].token;
  logprobs[row] = (float)((double)shared[0].logit - state.lse());
}

static_assert(MERGE_SHARED >= MERGE_THREADS * (int)sizeof(Candidate), "candidates fit");

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2], Q = launch->dims[3];
  const double temperature = launch->scalars[0];
  if (Q != 4) return fail(*launch, "a key has %lld words, expected 4.", (long long)Q);
  if (V < 1) return fail(*launch, "the vocabulary is empty; there is nothing to draw.");
  if (!(temperature >= 0)) {
    return fail(*launch, "temperature is %g, expected at least 0.", temperature);
  }
  const int64_t folds = divideUp(V, FOLD);
  const int32_t* keys = ints(*launch, 2);
  FoldPart* parts = scratchArray<FoldPart>(*launch, N * folds);
  Candidate* candidates = scratchArray<Candidate>(*launch, N * folds);
  if (!parts || !candidates) return outOfScratch(*launch);
  const Matrix<T> hidden = matrixOf(stored<T>(*launch, 0), D, N, D);
  const Matrix<T> weight = matrixOf(stored<T>(*launch, 1), D, V, D);
  const int refused =
      temperature == 0
          ? foldVocabulary(*launch, hidden, weight, 1.0f, parts,
                           DrawTaker<true>{keys, N, folds, candidates})
          : foldVocabulary(*launch, hidden, weight, (float)(1.0 / temperature), parts,
                           DrawTaker<false>{keys, N, folds, candidates});
  if (refused) return refused;
  return launchKernel(*launch, chooseTokens, dim3((unsigned)N), dim3(MERGE_THREADS), MERGE_SHARED,
                      parts, candidates, folds, ints(*launch, 3), floats(*launch, 4));
}

}  // namespace

SACCADE_KERNEL(linearSample,
               "hidden[N,D] weight[V,D]~ keys[N,Q]# -> tokens[N]# logprobs[N]! ; temperature",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
