// Logits of a tile of rows against 128 entries of the vocabulary, folded at once into what the
// softmax needs. linearLogprob and linearSample share every function here, so the log-probability
// recorded while sampling has the bits of the one recomputed for training.
//
// The vocabulary is cut at multiples of FOLD. Each piece gives m = max z, s = Σ e^(z−m) and
// t = Σ e^(z−m)·(z−m); one block a row merges the pieces in a fixed order, in double. Then
// lse = m + ln s and the entropy is ln s − t/s, which does not cancel.
//
// A tile's logits go through shared memory, so that a fold does not depend on the tile's shape:
// eight lanes own a row, lane i entries 4·i + 32·k + {0, 1, 2, 3}, which are one counter of Philox.
#pragma once

#include <math.h>

#include "product.cuh"

namespace saccade {

constexpr int FOLD = WideTile::COLUMNS;
constexpr int FOLD_LANES = 8;
constexpr int RUNS = FOLD / (4 * FOLD_LANES);
// Floats of a row of logits: rows begin four banks apart.
constexpr int LOGIT_STRIDE = FOLD + 4;

struct FoldPart {
  float max;
  float sum;
  float weighted;
};

// A lane's entries of one row; −∞ beyond the vocabulary.
struct FoldLane {
  float z[RUNS][4];
};
__device__ __forceinline__ int entryOf(int lane, int run) { return 4 * lane + 32 * run; }

// The fold of a row, in all of its eight lanes.
__device__ __forceinline__ FoldPart foldRow(const FoldLane& lane) {
  float highest = -INFINITY;
#pragma unroll
  for (int run = 0; run < RUNS; run++) {
#pragma unroll
    for (int i = 0; i < 4; i++) highest = fmaxf(highest, lane.z[run][i]);
  }
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) highest = fmaxf(highest, shuffleXor(highest, mask));
  float sum = 0, weighted = 0;
#pragma unroll
  for (int run = 0; run < RUNS; run++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float shift = lane.z[run][i] - highest;
      const float p = powerOfTwo(shift * 1.44269504f);
      sum += p;
      // Not −∞ · 0.
      weighted = p > 0 ? fmaf(p, shift, weighted) : weighted;
    }
  }
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) {
    sum += shuffleXor(sum, mask);
    weighted += shuffleXor(weighted, mask);
  }
  return {highest, sum, weighted};
}

// Folds columns [place·FOLD, +FOLD) of a tile's products, which are fold `fold` of the vocabulary.
template <class Shape, class Taker>
__device__ __forceinline__ void foldTile(const TileSums<Shape>& tile, int place, int64_t firstRow,
                                         int64_t fold, int64_t rows, int64_t entries,
                                         float inverse, FoldPart* parts, const Taker& taker) {
  constexpr int ROWS_AT_ONCE = Shape::THREADS / FOLD_LANES;
  const int64_t folds = divideUp(entries, FOLD);
  float* logits = reinterpret_cast<float*>(sharedMemory());
  // Others may still read the fold before.
  if (place > 0) syncBlock();
  forPairs(tile, [&](int row, int column, float first, float second) {
    // Known when compiled, where a warp has all columns.
    if (column < place * FOLD || column >= (place + 1) * FOLD) return;
    float* at = logits + row * LOGIT_STRIDE + column - place * FOLD;
    at[0] = first * inverse;
    at[1] = second * inverse;
  });
  syncBlock();
  const int lane = (int)threadIdx.x % FOLD_LANES;
#pragma unroll 1
  for (int r = (int)threadIdx.x / FOLD_LANES; r < Shape::ROWS; r += ROWS_AT_ONCE) {
    const float* z = logits + r * LOGIT_STRIDE;
    FoldLane own;
#pragma unroll
    for (int run = 0; run < RUNS; run++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int entry = entryOf(lane, run) + i;
        own.z[run][i] = fold * FOLD + entry < entries ? z[entry] : -INFINITY;
      }
    }
    const FoldPart part = foldRow(own);
    const int64_t row = firstRow + r;
    if (row < rows && lane == 0) parts[row * folds + fold] = part;
    taker.take(row, fold, lane, own, z);
  }
}

// Folds every tile of logits z = inverse · hidden·weightᵀ into parts[row][fold]. `Taker` says which
// tiles are wanted, and takes what else it needs of each row from all of its eight lanes:
//   bool isWanted<ROWS>(firstRow)                      the same in all threads
//   void take(row, fold, lane, entries, logits)        logits: of the fold, in shared memory
template <class T, class Shape, class Taker>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_TOGETHER<T, Shape>)
    foldLogits(Matrix<T> hidden, Matrix<T> weight, float inverse, FoldPart* parts, Taker taker) {
  static_assert(Shape::SHARED >= Shape::ROWS * LOGIT_STRIDE * (int)sizeof(float), "logits fit");
  static_assert(Shape::COLUMNS % FOLD == 0, "tiles of all shapes hold whole folds");
  // Neighboring blocks share a piece of the vocabulary, which is read from memory once.
  const int64_t rowTiles = divideUp(hidden.rows, Shape::ROWS);
  const int64_t firstRow = (int64_t)blockIdx.x % rowTiles * Shape::ROWS;
  const int64_t firstEntry = (int64_t)blockIdx.x / rowTiles * Shape::COLUMNS;
  if (!taker.template isWanted<Shape::ROWS>(firstRow)) return;
  TileSums<Shape> tile = {};
  multiplyTile<T, Lie::along, Lie::along>(tile, hidden, weight, firstRow, firstEntry, 0,
                                          hidden.columns, sharedMemory());
  // One fold at a time, which a tile of any width has room for.
#pragma unroll
  for (int f = 0; f < Shape::COLUMNS / FOLD; f++) {
    if (firstEntry + f * FOLD >= weight.rows) return;
    foldTile(tile, f, firstRow, firstEntry / FOLD + f, hidden.rows, weight.rows, inverse, parts,
             taker);
  }
}

template <class T, class Taker>
int foldVocabulary(const SaccadeDeviceLaunch& launch, const Matrix<T>& hidden,
                   const Matrix<T>& weight, float inverse, FoldPart* parts, const Taker& taker) {
  const auto fold = [&](auto shape) {
    using Shape = decltype(shape);
    return launchKernel(launch, foldLogits<T, Shape, Taker>,
                        dim3((unsigned)tilesOf<Shape>(hidden.rows, weight.rows)),
                        dim3(Shape::THREADS), Shape::SHARED, hidden, weight, inverse, parts, taker);
  };
  if (hidden.rows <= FEW_ROWS) return fold(LowTile{});
  return withWideTile<T>(launch, hidden.rows, weight.rows, hidden.isAligned && weight.isAligned,
                         fold);
}

// Threads that merge a row, and the shared memory they need.
constexpr int MERGE_THREADS = 128;
constexpr int MERGE_SHARED = MERGE_THREADS * 2 * (int)sizeof(double);

struct FoldState {
  double max, sum, weighted;

  __device__ double lse() const { return max + log(sum); }
  __device__ double entropy() const { return log(sum) - weighted / sum; }
};

// All pieces of a row, in every thread of its block. Thread i adds pieces i, i + 128, …; then the
// threads' sums are added as a tree.
__device__ inline FoldState mergeFolds(const FoldPart* parts, int64_t folds) {
  const int thread = (int)threadIdx.x;
  float* highs = reinterpret_cast<float*>(sharedMemory());
  float highest = -INFINITY;
  for (int64_t fold = thread; fold < folds; fold += MERGE_THREADS) {
    highest = fmaxf(highest, parts[fold].max);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) highest = fmaxf(highest, shuffleXor(highest, mask));
  if (thread % 32 == 0) highs[thread / 32] = highest;
  syncBlock();
#pragma unroll
  for (int warp = 0; warp < MERGE_THREADS / 32; warp++) highest = fmaxf(highest, highs[warp]);
  syncBlock();
  double* sums = reinterpret_cast<double*>(sharedMemory());
  double* weights = sums + MERGE_THREADS;
  double sum = 0, weighted = 0;
  for (int64_t fold = thread; fold < folds; fold += MERGE_THREADS) {
    const FoldPart part = parts[fold];
    const double shift = (double)part.max - (double)highest;
    const double scale = exp(shift);
    sum = fma(scale, (double)part.sum, sum);
    // Not −∞ · 0.
    if (scale > 0) {
      const double own = fma(shift, (double)part.sum, (double)part.weighted);
      weighted = fma(scale, own, weighted);
    }
  }
  sums[thread] = sum;
  weights[thread] = weighted;
  for (int half = MERGE_THREADS / 2; half > 0; half /= 2) {
    syncBlock();
    if (thread < half) {
      sums[thread] += sums[thread + half];
      weights[thread] += weights[thread + half];
    }
  }
  syncBlock();
  return {(double)highest, sums[0], weights[0]};
}

}  // namespace saccade
