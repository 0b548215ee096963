// Draws a token from softmax(hidden·weightᵀ/temperature) with its exact log-probability.
//
// token = argmaxⱼ zⱼ + gⱼ with Gumbel noise from Philox at an address of the row's own key, so a
// draw depends on nothing around it. Layout and threads as in linear-logprob: a thread owns 192 rows
// × 256 entries at a time and folds and compares them while they are in L1.
#include "../include/philox.h"
#include "parts/vocabulary.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Words of Philox4x32-10 at FOLD / 4 counters from `first` on: words[4·i + r] is word r of the
// i-th.
void philoxWords(uint32_t* words, uint32_t first, const int32_t* key) {
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
Candidate bestOf(const float* z, const uint32_t* words, int64_t first, int64_t count) {
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

template <class Stored, class Weight>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2], Q = launch->dims[3];
  const int32_t* keys = ints(*launch, 2);
  int32_t* tokens = static_cast<int32_t*>(launch->operands[3]);
  float* logprobs = floats(*launch, 4);
  const double temperature = launch->scalars[0];
  if (Q != 4) return fail(*launch, "a key has %lld words, expected 4.", (long long)Q);
  if (V < 1) return fail(*launch, "the vocabulary is empty; there is nothing to draw.");
  if (!(temperature >= 0)) {
    return fail(*launch, "temperature is %g, expected at least 0.", temperature);
  }

  const bool greedy = temperature == 0;
  const Vocabulary<Stored, Weight> vocabulary{stored<Stored>(*launch, 0), stored<Weight>(*launch, 1),
                                              N, D, V, greedy ? 1.0f : (float)(1.0 / temperature)};
  const int64_t folds = vocabulary.folds();
  FoldPart* parts = scratchArray<FoldPart>(*launch, N * folds);
  Candidate* candidates = scratchArray<Candidate>(*launch, N * folds);
  forLogits(*launch, vocabulary,
            [&](int64_t row, int64_t fold, const float* z, int64_t first, int64_t count) {
              uint32_t words[FOLD];
              if (!greedy) philoxWords(words, (uint32_t)(first / 4), keys + 4 * row);
              parts[row * folds + fold] = foldLogits(z, count);
              candidates[row * folds + fold] = bestOf(z, greedy ? nullptr : words, first, count);
            });
  for (int64_t n = 0; n < N; n++) {
    FoldState state;
    Candidate best{-__builtin_inff(), 0.0f, -1};
    for (int64_t f = 0; f < folds; f++) {
      state.merge(parts[n * folds + f]);
      const Candidate& candidate = candidates[n * folds + f];
      if (best.token < 0 || candidate.score > best.score) best = candidate;
    }
    tokens[n] = best.token;
    logprobs[n] = (float)((double)best.logit - state.lse());
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(linearSample,
               "hidden[N,D] weight[V,D]~ keys[N,Q]# -> tokens[N]# logprobs[N]! ; temperature",
               SACCADE_WEIGHTED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
