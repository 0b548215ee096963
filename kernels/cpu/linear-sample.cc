// Draws a token from softmax(hidden·weightᵀ/temperature) with its exact log-probability.
//
// token = argmaxⱼ zⱼ + gⱼ with Gumbel noise from Philox at an address of the row's own key, so a
// draw depends on nothing around it. Layout and threads as in linear-logprob: a thread owns 192 rows
// × 256 entries at a time and folds and compares them while they are in L1.
#include "parts/draw.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
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
  const Vocabulary<Stored> vocabulary{stored<Stored>(*launch, 0), stored<Stored>(*launch, 1), N, D, V,
                                      greedy ? 1.0f : (float)(1.0 / temperature)};
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
               "hidden[N,D] weight[V,D] keys[N,Q]# -> tokens[N]# logprobs[N]! ; temperature",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
