// Draws a token from softmax(hidden·weightᵀ/temperature) with its exact log-probability.
//
// token = argmaxⱼ zⱼ + gⱼ with Gumbel noise from Philox at an address of the row's own key, so a
// draw depends on nothing around it; temperature 0 takes the largest z. The lowest entry wins a
// tie.
// Layout and tiles as in linear-logprob: while a tile's logits are in shared memory they are folded
// and compared, eight lanes a row, a lane 16 entries: four counters of Philox. One block merges a
// row.
#include "parts/draw.cuh"

namespace saccade {
namespace {

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
    const Drawn drawn = drawFold<IS_GREEDY>(own, lane, fold, isRow, keys, row);
    if (!isRow || lane != 0) return;
    candidates[row * folds + fold] = {drawn.score, logits[drawn.entry],
                                      (int32_t)(fold * FOLD + drawn.entry)};
  }
};

__global__ void __launch_bounds__(MERGE_THREADS)
    chooseTokens(const FoldPart* parts, const Candidate* candidates, int64_t folds, int32_t* tokens,
                 float* logprobs) {
  const int64_t row = blockIdx.x;
  const FoldState state = mergeFolds(parts + row * folds, folds);
  const Candidate best = bestOfFolds(candidates + row * folds, folds);
  if (threadIdx.x > 0) return;
  tokens[row] = best.token;
  logprobs[row] = (float)((double)best.logit - state.lse());
}

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
               "hidden[N,D] weight[V,D] keys[N,Q]# -> tokens[N]# logprobs[N]! ; temperature",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
