// weights = softmax(logits) at the K experts with the largest logits, or at given ones; with the
// scalar normalize ≠ 0 divided by their sum; and the gradient of the logits.
//
// Layout: logits [T,E]; given, weights, experts [T,K]. A thread owns 16 tokens. Experts are chosen one
// after the other, each the first of the largest logits that are left: K passes over E logits, which
// lie in L1, are cheaper than a sort for the few that are wanted.
#include "parts/elementwise.h"
#include "parts/math.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t TOKENS = 16;

// Runs body(token, row) with the token's logits in float32, on all threads.
template <class Stored, class Body>
void forTokens(const SaccadeLaunch& launch, const Stored* logits, int64_t T, int64_t E,
               double nanosecondsEach, const Body& body) {
  float* rows = scratchFloats(launch, launch.runtime->threads * (E + LANES));
  parallelFor(launch, divideUp(T, TOKENS), nanosecondsEach * (double)T,
              [&](int64_t item, int32_t worker) {
                float* row = rows + worker * (E + LANES);
                const int64_t end = smaller(T, (item + 1) * TOKENS);
                for (int64_t t = item * TOKENS; t < end; t++) {
                  convertRun(row, logits + t * E, E);
                  body(t, row);
                }
              });
}

// The first of the largest values; where all are NaN, the first that is not in `taken`.
int64_t largestOf(const float* values, const bool* taken, int64_t count) {
  int64_t best = -1;
  for (int64_t i = 0; i < count; i++) {
    if (!taken[i] && (best < 0 || values[i] > values[best])) best = i;
  }
  return best;
}

// Replaces values by eˣ of their distances from the largest; returns the sum.
float softmaxPowers(float* values, int64_t count) {
  float most = values[0];
  for (int64_t i = 1; i < count; i++) most = values[i] > most ? values[i] : most;
  Vec sum{};
  forLanes(count, [&](int64_t i, int64_t width) {
    const Vec power = exponential(loadWidth(values + i, width) - splat(most));
    // Lanes beyond the values hold some power too.
    sum = sum + (width == LANES ? power
                                : selectGreater(splat((float)width), laneIndex(), power, Vec{}));
    storeWidth(values + i, power, width);
  });
  return sumLanes(sum);
}

// The weights of the chosen experts of one token. `row` is the token's and is overwritten.
void weigh(float* row, const int32_t* experts, float* weights, int64_t E, int64_t K,
           bool isNormalized) {
  if (K == 0) return;
  if (isNormalized) {
    for (int64_t k = 0; k < K; k++) weights[k] = row[experts[k]];
    const float scale = 1.0f / softmaxPowers(weights, K);
    for (int64_t k = 0; k < K; k++) weights[k] *= scale;
    return;
  }
  const float scale = 1.0f / softmaxPowers(row, E);
  for (int64_t k = 0; k < K; k++) weights[k] = row[experts[k]] * scale;
}

// Fails unless every row is −1 throughout or names experts.
int checkGiven(const SaccadeLaunch& launch, const int32_t* given, int64_t T, int64_t E, int64_t K) {
  for (int64_t t = 0; t < T; t++) {
    const bool isRouted = K > 0 && given[t * K] == -1;
    for (int64_t i = t * K; i < (t + 1) * K; i++) {
      if (isRouted ? given[i] == -1 : given[i] >= 0 && given[i] < E) continue;
      return fail(launch,
                  "given[%lld] is %d; expected at least 0 and below %lld, or -1 in all of a row. "
                  "Check the indices.",
                  (long long)i, (int)given[i], (long long)E);
    }
  }
  return 0;
}

int checkCount(const SaccadeLaunch& launch, int64_t E, int64_t K) {
  if (K <= E) return 0;
  return fail(launch, "%lld experts are wanted of %lld. Pass fewer.", (long long)K, (long long)E);
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], E = launch->dims[1], K = launch->dims[2];
  const Stored* logits = stored<Stored>(*launch, 0);
  const int32_t* given = ints(*launch, 1);
  float* weights = floats(*launch, 2);
  int32_t* experts = static_cast<int32_t*>(launch->operands[3]);
  const bool isNormalized = launch->scalars[0] != 0;
  if (checkCount(*launch, E, K) || checkGiven(*launch, given, T, E, K)) return 1;
  bool* allTaken = scratchArray<bool>(*launch, larger(1, divideUp(T, TOKENS) * E));
  forTokens(*launch, logits, T, E, (double)(E * (K + 1)), [&](int64_t t, float* row) {
    int32_t* own = experts + t * K;
    if (K > 0 && given[t * K] >= 0) {
      memcpy(own, given + t * K, (size_t)K * sizeof *own);
    } else {
      bool* taken = allTaken + t / TOKENS * E;
      memset(taken, 0, (size_t)E);
      for (int64_t k = 0; k < K; k++) {
        const int64_t best = largestOf(row, taken, E);
        taken[best] = true;
        own[k] = (int32_t)best;
      }
    }
    weigh(row, own, weights + t * K, E, K, isNormalized);
  });
  return 0;
}

// Operands: dWeights, logits, given, weights, experts, dLogits.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], E = launch->dims[1], K = launch->dims[2];
  const float* dWeights = floats(*launch, 0);
  const Stored* logits = stored<Stored>(*launch, 1);
  const float* weights = floats(*launch, 3);
  const int32_t* experts = ints(*launch, 4);
  Stored* dLogits = stored<Stored>(*launch, 5);
  const bool isNormalized = launch->scalars[0] != 0;
  if (checkCount(*launch, E, K)) return 1;
  if (checkIndices(*launch, "experts", experts, T * K, 0, E)) return 1;
  if (!dLogits) return 0;
  if (!dWeights || K == 0) {
    zero(dLogits, T * E);
    return 0;
  }
  forTokens(*launch, logits, T, E, (double)(2 * E), [&](int64_t t, float* row) {
    const float* w = weights + t * K;
    const float* dw = dWeights + t * K;
    float dot = 0;
    for (int64_t k = 0; k < K; k++) dot += w[k] * dw[k];
    if (isNormalized) {
      memset(row, 0, (size_t)E * sizeof *row);
    } else {
      const float scale = -dot / softmaxPowers(row, E);
      for (int64_t e = 0; e < E; e++) row[e] *= scale;
    }
    for (int64_t k = 0; k < K; k++) {
      row[experts[t * K + k]] += w[k] * (isNormalized ? dw[k] - dot : dw[k]);
    }
    convertRun(dLogits + t * E, row, E);
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(routeExperts,
               "logits[T,E]' given[T,K]# -> weights[T,K]'! experts[T,K]# ; normalize",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
