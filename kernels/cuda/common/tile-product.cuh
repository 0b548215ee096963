// One block's tile of C = A·B: 128 × 128, eight warps of 64 × 32, three stages of 128 bytes of depth.
//
// An operand lies along the depth (its rows are C's rows or columns; contiguous in depth) or across
// it (its rows are the depth). Sums run over the depth in order, in steps of 32 bytes, whatever the
// tile's place: a row of C depends on its own row of A and on B.
#pragma once

#include "fragment.cuh"

namespace saccade {

enum class Lie { along, across };

constexpr int TILE = 128;
constexpr int TILE_THREADS = 256;
constexpr int TILE_STAGES = 3;
// An operand's stage: 128 rows of one panel, or a panel's depth of 128 columns; 16 KiB in each case.
constexpr int STAGE_BYTES = TILE * PANEL_BYTES;
constexpr int TILE_SHARED = TILE_STAGES * 2 * STAGE_BYTES;

// What a warp holds of the tile: rows 64·(warp / 4) + 16·i, columns 32·(warp % 4) + 8·j.
struct TileSums {
  float sums[4][4][4];
};
__device__ __forceinline__ int tileRow(int thread) {
  return thread / 128 * 64 + laneOf(thread) / 4;
}
__device__ __forceinline__ int tileColumn(int thread) {
  return thread / 32 % 4 * 32 + laneOf(thread) % 4 * 2;
}

template <class T, Lie LIE>
__device__ __forceinline__ void stageOperand(uint8_t* stage, const Matrix<T>& matrix, int64_t first,
                                             int64_t depth, int thread) {
  if constexpr (LIE == Lie::along) {
    stagePanel<T, TILE, TILE_THREADS>(stage, matrix, first, depth, thread);
  } else {
#pragma unroll
    for (int panel = 0; panel < TILE / PANEL<T>; panel++) {
      stagePanel<T, PANEL<T>, TILE_THREADS>(stage + panel * PANEL<T> * PANEL_BYTES, matrix, depth,
                                            first + panel * PANEL<T>, thread);
    }
  }
}

template <class T, Lie LIE>
__device__ __forceinline__ void loadOperand(Fragment<T>& fragment, const uint8_t* stage, int row,
                                            int step, int lane) {
  if constexpr (LIE == Lie::along) {
    loadAlong<T>(fragment, stage, row, step, lane);
  } else {
    const uint8_t* panel = stage + row / PANEL<T> * PANEL<T> * PANEL_BYTES;
    loadAcross<T>(fragment, panel, step * DEPTH<T>, row % PANEL<T>, lane);
  }
}

// Adds the products over depths [begin, end) to `tile`. `row` and `column` are the tile's first of C;
// `shared` has TILE_SHARED bytes, free again when this returns.
template <class T, Lie LEFT, Lie RIGHT>
__device__ __forceinline__ void multiplyTile(TileSums& tile, const Matrix<T>& left,
                                             const Matrix<T>& right, int64_t row, int64_t column,
                                             int64_t begin, int64_t end, uint8_t* shared) {
  const int thread = (int)threadIdx.x, lane = laneOf(thread);
  const int warpRow = thread / 128 * 64, warpColumn = thread / 32 % 4 * 32;
  const int64_t steps = end > begin ? (end - begin + PANEL<T> - 1) / PANEL<T> : 0;
  const auto stage = [&](int64_t step) {
    if (step < steps) {
      uint8_t* at = shared + step % TILE_STAGES * 2 * STAGE_BYTES;
      const int64_t depth = begin + step * PANEL<T>;
      stageOperand<T, LEFT>(at, left, row, depth, thread);
      stageOperand<T, RIGHT>(at + STAGE_BYTES, right, column, depth, thread);
    }
    commitCopies();
  };
#pragma unroll
  for (int step = 0; step < TILE_STAGES - 1; step++) stage(step);
  for (int64_t step = 0; step < steps; step++) {
    waitCopies<TILE_STAGES - 2>();
    syncBlock();
    stage(step + TILE_STAGES - 1);
    const uint8_t* at = shared + step % TILE_STAGES * 2 * STAGE_BYTES;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      Fragment<T> rights[2];
#pragma unroll
      for (int j = 0; j < 2; j++) {
        loadOperand<T, RIGHT>(rights[j], at + STAGE_BYTES, warpColumn + 16 * j, k, lane);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        Fragment<T> lefts;
        loadOperand<T, LEFT>(lefts, at, warpRow + 16 * i, k, lane);
#pragma unroll
        for (int j = 0; j < 2; j++) {
          multiply(tile.sums[i][2 * j], tile.sums[i][2 * j + 1], lefts, rights[j]);
        }
      }
    }
  }
  waitCopies<0>();
  syncBlock();
}

// Calls body(row, column, first, second) for the tile's neighbouring pairs, counted within the tile.
template <class Body>
__device__ __forceinline__ void forPairs(const TileSums& tile, const Body& body) {
  const int thread = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int row = tileRow(thread) + 16 * i, column = tileColumn(thread) + 8 * j;
      body(row, column, tile.sums[i][j][0], tile.sums[i][j][1]);
      body(row + 8, column, tile.sums[i][j][2], tile.sums[i][j][3]);
    }
  }
}

}  // namespace saccade
