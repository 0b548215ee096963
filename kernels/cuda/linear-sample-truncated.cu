// Draws a token from the most likely ones of softmax(hidden·weightᵀ/temperature), with its exact
// log-probability among them.
//
// The logits of some rows are kept, 256 MiB of them at most, while their tiles are folded as in
// linear-logprob. Then one block a row finds the threshold, two bits at a time from the highest on,
// and folds and compares the entries above it as in linear-sample, eight lanes a fold.
// Probabilities are added as integers, which gives the same sum in any order.
#include "parts/draw.cuh"

namespace saccade {
namespace {

// Logits of the rows at a time.
constexpr int64_t KEPT_LOGITS = 1 << 26;
constexpr float MASS_UNITS = 0x1p36f;
// Candidates for the next two bits of a threshold, besides 0.
constexpr int PROBES = 3;
constexpr int DRAW_SHARED = MERGE_THREADS * PROBES * (int)sizeof(uint64_t);
static_assert(DRAW_SHARED >= MERGE_SHARED, "what the merge needs fits");
constexpr int FOLDS_AT_ONCE = MERGE_THREADS / FOLD_LANES;

struct Filters {
  // 0: all.
  int64_t topK;
  // 1: all.
  double topP;
  // −∞: all.
  float logMinP;
};

// As unsigned integers, orders are in the order of the logits. −0 counts as 0.
__device__ __forceinline__ uint32_t orderOf(float z) {
  const uint32_t bits = floatAsWord(z + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float logitOf(uint32_t order) {
  return wordAsFloat(order & 0x80000000u ? order & 0x7fffffffu : ~order);
}
__device__ __forceinline__ uint64_t massOf(float z, float highest) {
  return (uint64_t)(powerOfTwo((z - highest) * 1.44269504f) * MASS_UNITS);
}

// The sums over the block, in all of its threads.
__device__ __forceinline__ void sumBlock(uint64_t (&sums)[PROBES]) {
  const int thread = (int)threadIdx.x;
  uint64_t* shared = reinterpret_cast<uint64_t*>(sharedMemory());
  syncBlock();
#pragma unroll
  for (int i = 0; i < PROBES; i++) shared[i * MERGE_THREADS + thread] = sums[i];
  for (int half = MERGE_THREADS / 2; half > 0; half /= 2) {
    syncBlock();
    if (thread >= half) continue;
#pragma unroll
    for (int i = 0; i < PROBES; i++) {
      shared[i * MERGE_THREADS + thread] += shared[i * MERGE_THREADS + thread + half];
    }
  }
  syncBlock();
#pragma unroll
  for (int i = 0; i < PROBES; i++) sums[i] = shared[i * MERGE_THREADS];
}

// The largest order t for which the entries z[0, count) of order t or more weigh `needed`, which all
// of them do: by their mass, or one each.
template <bool BY_MASS>
__device__ __forceinline__ uint32_t thresholdOf(const float* z, int64_t count, float highest,
                                       uint64_t needed) {
  uint32_t threshold = 0;
#pragma unroll 1
  for (int shift = 30; shift >= 0; shift -= 2) {
    uint64_t sums[PROBES] = {};
    for (int64_t j = threadIdx.x; j < count; j += MERGE_THREADS) {
      const uint32_t order = orderOf(z[j]);
      const uint64_t weight = BY_MASS ? massOf(z[j], highest) : 1;
#pragma unroll
      for (int i = 0; i < PROBES; i++) {
        if (order >= (threshold | (uint32_t)(i + 1) << shift)) sums[i] += weight;
      }
    }
    sumBlock(sums);
    uint32_t digit = 0;
#pragma unroll
    for (int i = 0; i < PROBES; i++) digit = sums[i] >= needed ? (uint32_t)(i + 1) : digit;
    threshold |= digit << shift;
  }
  return threshold;
}

// The least logit that is kept of z[0, count), whose largest is `highest`; the same in all threads.
__device__ __forceinline__ float leastKept(const float* z, int64_t count, float highest,
                                  const Filters& filters) {
  uint32_t threshold = 0;
  if (filters.topK > 0 && filters.topK < count) {
    threshold = thresholdOf<false>(z, count, highest, (uint64_t)filters.topK);
  }
  if (filters.topP < 1) {
    uint64_t sums[PROBES] = {};
    for (int64_t j = threadIdx.x; j < count; j += MERGE_THREADS) {
      if (orderOf(z[j]) >= threshold) sums[0] += massOf(z[j], highest);
    }
    sumBlock(sums);
    const uint64_t needed = (uint64_t)ceil(filters.topP * (double)sums[0]);
    threshold = thresholdOf<true>(z, count, highest, needed);
  }
  const float byRatio = highest + filters.logMinP;
  return threshold > 0 ? fmaxf(logitOf(threshold), byRatio) : byRatio;
}

// Keeps every logit; −∞ beyond the vocabulary.
struct LogitTaker {
  int64_t rows, folds;
  float* kept;

  template <int COUNT>
  __device__ bool isWanted(int64_t) const {
    return true;
  }
  __device__ void take(int64_t row, int64_t fold, int lane, const FoldLane& own,
                       const float*) const {
    if (row >= rows) return;
    float* to = kept + (row * folds + fold) * FOLD;
#pragma unroll
    for (int run = 0; run < RUNS; run++) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; i++) words[i] = floatAsWord(own.z[run][i]);
      storeWords(to + entryOf(lane, run), words);
    }
  }
};

// One block a row. `parts` and `candidates` become those of the entries that are kept.
__global__ void __launch_bounds__(MERGE_THREADS, 4)
    drawTruncated(const float* kept, FoldPart* parts, Candidate* candidates, const int32_t* keys,
                  int64_t entries, Filters filters, int32_t* tokens, float* logprobs,
                  float* keptMass) {
  const int64_t row = blockIdx.x, folds = divideUp(entries, FOLD);
  const float* z = kept + row * folds * FOLD;
  FoldPart* ownParts = parts + row * folds;
  Candidate* ownCandidates = candidates + row * folds;
  const FoldState whole = mergeFolds(ownParts, folds);
  // Where a logit is NaN there is no threshold, and the log-prob becomes NaN.
  const bool isSound = isfinite(whole.max) && isfinite(whole.sum);
  const float least = isSound ? leastKept(z, entries, (float)whole.max, filters) : -INFINITY;
  // All have read the parts.
  syncBlock();
  const int lane = (int)threadIdx.x % FOLD_LANES;
#pragma unroll 1
  for (int64_t first = 0; first < folds; first += FOLDS_AT_ONCE) {
    const int64_t fold = first + (int64_t)threadIdx.x / FOLD_LANES;
    const bool isFold = fold < folds;
    FoldLane own;
#pragma unroll
    for (int run = 0; run < RUNS; run++) {
      uint32_t words[4] = {};
      if (isFold) loadWords(words, z + fold * FOLD + entryOf(lane, run));
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float one = wordAsFloat(words[i]);
        own.z[run][i] = isFold && !(one < least) ? one : -INFINITY;
      }
    }
    FoldPart part = foldRow(own);
    if (part.max == -INFINITY) part = {-INFINITY, 0.0f, 0.0f};
    const Drawn drawn = drawFold<false>(own, lane, fold, isFold, keys, row);
    if (!isFold || lane != 0) continue;
    ownParts[fold] = part;
    ownCandidates[fold] = {drawn.score, z[fold * FOLD + drawn.entry],
                           (int32_t)(fold * FOLD + drawn.entry)};
  }
  syncBlock();
  const FoldState state = mergeFolds(ownParts, folds);
  const Candidate best = bestOfFolds(ownCandidates, folds);
  if (threadIdx.x > 0) return;
  tokens[row] = best.token;
  logprobs[row] = (float)((double)best.logit - state.lse());
  // The largest is always kept, so both sums are in its units.
  keptMass[row] = (float)(state.sum / whole.sum);
}

int checkScalars(const SaccadeDeviceLaunch& launch, double temperature, double topK, double topP,
                 double minP) {
  if (!(temperature > 0)) {
    return fail(launch, "temperature is %g, expected more than 0. Take linearSample for 0.",
                temperature);
  }
  if (!(topK >= 0) || topK != floor(topK)) {
    return fail(launch, "topK is %g, expected a whole number of at least 0.", topK);
  }
  if (!(topP > 0 && topP <= 1)) {
    return fail(launch, "topP is %g, expected more than 0 and at most 1.", topP);
  }
  if (!(minP >= 0 && minP <= 1)) {
    return fail(launch, "minP is %g, expected at least 0 and at most 1.", minP);
  }
  return 0;
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2], Q = launch->dims[3];
  const double temperature = launch->scalars[0], topK = launch->scalars[1];
  const double topP = launch->scalars[2], minP = launch->scalars[3];
  if (Q != 4) return fail(*launch, "a key has %lld words, expected 4.", (long long)Q);
  if (V < 1) return fail(*launch, "the vocabulary is empty; there is nothing to draw.");
  if (checkScalars(*launch, temperature, topK, topP, minP)) return 1;
  const Filters filters{topK < (double)V ? (int64_t)topK : 0, topP, (float)log(minP)};

  const int64_t folds = divideUp(V, FOLD), most = KEPT_LOGITS / (folds * FOLD);
  const int64_t rowsAtOnce = N < most ? N : most > 0 ? most : 1;
  const int32_t* keys = ints(*launch, 2);
  float* kept = scratchArray<float>(*launch, rowsAtOnce * folds * FOLD);
  FoldPart* parts = scratchArray<FoldPart>(*launch, rowsAtOnce * folds);
  Candidate* candidates = scratchArray<Candidate>(*launch, rowsAtOnce * folds);
  if (!kept || !parts || !candidates) return outOfScratch(*launch);
  const Matrix<T> weight = matrixOf(stored<T>(*launch, 1), D, V, D);
  for (int64_t start = 0; start < N; start += rowsAtOnce) {
    const int64_t rows = N - start < rowsAtOnce ? N - start : rowsAtOnce;
    const Matrix<T> hidden = matrixOf(stored<T>(*launch, 0) + start * D, D, rows, D);
    const int refused = foldVocabulary(*launch, hidden, weight, (float)(1.0 / temperature), parts,
                                       LogitTaker{rows, folds, kept});
    if (refused) return refused;
    const int failed = launchKernel(*launch, drawTruncated, dim3((unsigned)rows), dim3(MERGE_THREADS),
                                    DRAW_SHARED, kept, parts, candidates, keys + 4 * start, V,
                                    filters, ints(*launch, 3) + start, floats(*launch, 4) + start,
                                    floats(*launch, 5) + start);
    if (failed) return failed;
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(linearSampleTruncated,
               "hidden[N,D] weight[V,D] keys[N,Q]# -> tokens[N]# logprobs[N]! keptMass[N]! ; "
               "temperature topK topP minP",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
