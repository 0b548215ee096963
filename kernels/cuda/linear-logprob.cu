// Log-probability and entropy of targets under softmax(hidden·weightᵀ/temperature), and gradients,
// without an [N,V] array.
//
// Layout: hidden [N,D], weight [V,D], targets [N], −1 for a row to leave out; such a row may hold
// anything. Tiles whose rows are all left out are skipped.
// Forward: a block owns 128 rows (or 32, of few) × 128 entries (parts/vocabulary.cuh), then one
// block merges a row. The pieces take 3/128 of the memory of the logits.
// Backward: chunks of the vocabulary, cut by V and the storage type alone so that ∂z of a chunk
// takes at most 1/40 of the logits in float32, but never less than 1024 entries. For each: ∂z from
// recomputed logits, ∂weight[chunk] = ∂zᵀ·hidden, ∂hidden += ∂z·weight[chunk] in float32. ∂z is
// rounded to the storage type: with f16, scale the loss.
#include "parts/vocabulary.cuh"

namespace saccade {
namespace {

// Whether one of `count` rows from `first` on has a target; the same in all lanes.
template <int COUNT>
__device__ __forceinline__ bool hasTarget(const int32_t* targets, int64_t rows, int64_t first,
                                          int lane) {
  int32_t isKept = 0;
#pragma unroll
  for (int i = lane; i < COUNT; i += 32) {
    isKept |= first + i < rows && targets[first + i] >= 0 ? 1 : 0;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) isKept |= shuffleXor(isKept, mask);
  return isKept != 0;
}

// Keeps the target's logit.
struct TargetTaker {
  const int32_t* targets;
  int64_t rows;
  float* chosen;

  template <int COUNT>
  __device__ bool isWanted(int64_t first) const {
    return hasTarget<COUNT>(targets, rows, first, laneOf((int)threadIdx.x));
  }
  __device__ void take(int64_t row, int64_t fold, int lane, const FoldLane&,
                       const float* logits) const {
    if (lane != 0 || row >= rows) return;
    const int64_t entry = targets[row] - fold * FOLD;
    if (entry >= 0 && entry < FOLD) chosen[row] = logits[entry];
  }
};

__global__ void __launch_bounds__(MERGE_THREADS)
    scoreTargets(const FoldPart* parts, int64_t folds, const float* chosen, const int32_t* targets,
                 int64_t V, float* logprobs, float* entropy, float* lse, Refusal refusal) {
  const int64_t row = blockIdx.x;
  if (targets[row] < 0 || targets[row] >= V) {
    if (threadIdx.x > 0) return;
    expectIndex(refusal, 2, row, targets[row], -1, V);
    logprobs[row] = entropy[row] = lse[row] = 0;
    return;
  }
  const FoldState state = mergeFolds(parts + row * folds, folds);
  if (threadIdx.x > 0) return;
  logprobs[row] = (float)((double)chosen[row] - state.lse());
  entropy[row] = (float)state.entropy();
  lse[row] = (float)state.lse();
}

int checkTemperature(const SaccadeDeviceLaunch& launch, double temperature) {
  if (temperature > 0) return 0;
  return fail(launch, "temperature is %g, expected more than 0.", temperature);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const int32_t* targets = ints(*launch, 2);
  const double temperature = launch->scalars[0];
  if (checkTemperature(*launch, temperature)) return 1;
  const int64_t folds = divideUp(V, FOLD);
  FoldPart* parts = scratchArray<FoldPart>(*launch, N * folds);
  float* chosen = scratchArray<float>(*launch, N);
  if (!parts || !chosen) return outOfScratch(*launch);
  const TargetTaker taker = {targets, N, chosen};
  if (foldVocabulary(*launch, matrixOf(stored<T>(*launch, 0), D, N, D),
                     matrixOf(stored<T>(*launch, 1), D, V, D), (float)(1.0 / temperature), parts,
                     taker)) {
    return 1;
  }
  return launchKernel(*launch, scoreTargets, dim3((unsigned)N), dim3(MERGE_THREADS), MERGE_SHARED,
                      parts, folds, chosen, targets, V, floats(*launch, 3), floats(*launch, 4),
                      floats(*launch, 5), refusalOf(*launch));
}

// The values of each row that the gradient of the logits uses.
struct RowGradients {
  const int32_t* targets;
  const float* logprob;
  const float* entropyGradient;
  const float* entropy;
  const float* lse;
  Refusal refusal;
  int64_t V;
};

// dz[row][0, chunk) of the entries [first, first + chunk), zeros beyond the vocabulary:
//   ∂z = (∂logprob·(1[target] − p) − ∂entropy·p·(ln p + H)) / temperature
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, 1)
    differentiateLogits(Matrix<T> hidden, Matrix<T> weight, float inverse, RowGradients rows,
                        int64_t first, int64_t chunk, T* dz) {
  const TilePlace place = tilePlace<Shape>(blockIdx.x, hidden.rows, chunk);
  TileSums<Shape> tile = {};
  const bool hasEntries = first + place.column < weight.rows;
  if (hasEntries &&
      hasTarget<Shape::ROWS>(rows.targets, hidden.rows, place.row, laneOf((int)threadIdx.x))) {
    multiplyTile<T, Lie::along, Lie::along>(tile, hidden, weight, place.row, first + place.column,
                                            0, hidden.columns, sharedMemory());
  }
  const auto gradient = [&](float logit, int64_t entry, int32_t target, float g, float h,
                            float entropy, float lse) {
    if (entry >= weight.rows) return 0.0f;
    const float logP = fmaf(logit, inverse, -lse);
    const float p = powerOfTwo(logP * 1.44269504f);
    const float pull = -p * fmaf(h, logP + entropy, g);
    return (entry == target ? pull + g : pull) * inverse;
  };
  forPairs(tile, [&](int row, int column, float z0, float z1) {
    const int64_t n = place.row + row, j = place.column + column;
    // The last tile of a chunk may be wider than what is left of it.
    if (n >= hidden.rows || j >= chunk) return;
    T* at = dz + n * chunk + j;
    const int32_t target = rows.targets[n];
    if (target < 0) {
      storeTwo(at, 0.0f, 0.0f);
      return;
    }
    const float g = rows.logprob ? rows.logprob[n] : 0.0f;
    const float h = rows.entropyGradient ? rows.entropyGradient[n] : 0.0f;
    const float H = rows.entropy[n], lse = rows.lse[n];
    storeTwo(at, gradient(z0, first + j, target, g, h, H, lse),
             gradient(z1, first + j + 1, target, g, h, H, lse));
  });
}

// Zeros for the rows left out, so that nothing they hold reaches ∂weight; and looks at the targets.
template <class T>
__global__ void __launch_bounds__(256)
    keepRows(const T* hidden, int64_t D, RowGradients rows, T* kept) {
  const int64_t n = blockIdx.x;
  const int32_t target = rows.targets[n];
  if (threadIdx.x == 0) expectIndex(rows.refusal, 4, n, target, -1, rows.V);
  for (int64_t d = threadIdx.x; d < D; d += 256) {
    kept[n * D + d] = target < 0 ? T{} : hidden[n * D + d];
  }
}

template <class T>
__global__ void __launch_bounds__(256) roundSums(const float* sums, T* to, int64_t count) {
  const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (i < count) to[i] = rounded<T>(sums[i]);
}

constexpr int64_t LEAST_CHUNK = 1024;

// Entries of a chunk, all about the same: ∂z of it takes at most 1/40 of float32 logits, or 1024.
template <class T>
int64_t chunkOf(int64_t V) {
  const int64_t fitting = V * 4 / ((int64_t)sizeof(T) * 40);
  const int64_t most = (fitting > LEAST_CHUNK ? fitting : LEAST_CHUNK) / FOLD;
  const int64_t folds = divideUp(V, FOLD);
  return divideUp(folds, divideUp(folds, most)) * FOLD;
}

// Operands: dLogprobs, dEntropy, hidden, weight, targets, logprobs, entropy, lse, dHidden, dWeight.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const T* hidden = stored<T>(*launch, 2);
  const T* weight = stored<T>(*launch, 3);
  T* dHidden = stored<T>(*launch, 8);
  float* dWeight = floats(*launch, 9);
  const double temperature = launch->scalars[0];
  if (checkTemperature(*launch, temperature)) return 1;
  const RowGradients rows = {ints(*launch, 4),   floats(*launch, 0), floats(*launch, 1),
                             floats(*launch, 6), floats(*launch, 7), refusalOf(*launch), V};
  if ((!rows.logprob && !rows.entropyGradient) || N == 0 || V == 0) {
    return fillZeros(*launch, dHidden, N * D) || fillZeros(*launch, dWeight, V * D);
  }
  const int64_t chunk = chunkOf<T>(V);
  T* dz = scratchArray<T>(*launch, N * chunk);
  // float32 sums need no memory of their own; where they have, the rows kept lie in ∂hidden until
  // it is rounded.
  const bool isWide = sizeof(T) == sizeof(float);
  float* sums = isWide ? floats(*launch, 8) : nullptr;
  if (dHidden && !isWide) sums = scratchArray<float>(*launch, N * D);
  T* kept = sums && !isWide ? dHidden : scratchArray<T>(*launch, N * D);
  if (!dz || !kept || (dHidden && !sums)) return outOfScratch(*launch);
  if (launchKernel(*launch, keepRows<T>, dim3((unsigned)N), dim3(256), 0, hidden, D, rows,
                   kept)) {
    return 1;
  }
  const Matrix<T> left = matrixOf<T>(kept, D, N, D), head = matrixOf(weight, D, V, D);
  const Matrix<T> gradient = matrixOf<T>(dz, chunk, N, chunk);
  const bool areAligned = left.isAligned && head.isAligned;
  for (int64_t first = 0; first < V; first += chunk) {
    const int64_t entries = V - first < chunk ? V - first : chunk;
    const int refused = withWideTile<T>(*launch, N, chunk, areAligned, [&](auto shape) {
      using Shape = decltype(shape);
      return launchKernel(*launch, differentiateLogits<T, Shape>,
                          dim3((unsigned)tilesOf<Shape>(N, chunk)), dim3(Shape::THREADS),
                          Shape::SHARED, left, head, (float)(1.0 / temperature), rows, first, chunk,
                          dz);
    });
    if (refused) return 1;
    if (dWeight) {
      const auto result =
          productResult<float, float>(dWeight + first * D, D, entries, D, nullptr, false);
      if (multiply<T, Lie::across, Lie::across>(*launch, gradient, left, result, N, false)) {
        return 1;
      }
    }
    if (dHidden) {
      const auto result = productResult<float, float>(sums, D, N, D, nullptr, first > 0);
      if (multiply<T, Lie::along, Lie::across>(*launch, gradient,
                                               matrixOf(weight + first * D, D, entries, D), result,
                                               entries, false)) {
        return 1;
      }
    }
  }
  if (!dHidden || isWide) return 0;
  return launchKernel(*launch, roundSums<T>, dim3((unsigned)divideUp(N * D, 256)), dim3(256), 0,
                      sums, dHidden, N * D);
}

}  // namespace

SACCADE_KERNEL(linearLogprob,
               "hidden[N,D]' weight[V,D]+ targets[N]# -> logprobs[N]'! entropy[N]'! "
               "lse[N]! ; temperature",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
