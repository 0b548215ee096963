// One block's tile of C = A·B, staged in steps of 128 bytes of depth.
//
// An operand lies along the depth (its rows are C's rows or columns; contiguous in depth) or across
// it (its rows are the depth). Sums run over the depth in order, in steps of 32 bytes, whatever the
// tile's place and shape: a row of C depends on its own row of A and on B, and has the same bits in
// a wide tile and in a low one.
#pragma once

#include "group-tile.cuh"

namespace saccade {

// Warps of WARP_ROWS × WARP_COLUMNS, row after row of them.
template <int TILE_ROWS, int TILE_COLUMNS, int TILE_WARP_ROWS, int TILE_WARP_COLUMNS,
          int TILE_STAGES>
struct TileShape {
  static constexpr bool IS_GROUP = false;
  static constexpr int ROWS = TILE_ROWS, COLUMNS = TILE_COLUMNS;
  static constexpr int WARP_ROWS = TILE_WARP_ROWS, WARP_COLUMNS = TILE_WARP_COLUMNS;
  static constexpr int STAGES = TILE_STAGES;
  static constexpr int WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
  static constexpr int THREADS = ROWS / WARP_ROWS * WARPS_ACROSS * 32;
  // A stage holds as many panel rows of each operand as the tile has rows and columns.
  static constexpr int STAGE_BYTES = (ROWS + COLUMNS) * PANEL_BYTES;
  static constexpr int SHARED = STAGES * STAGE_BYTES;
  static_assert(WARP_ROWS % 16 == 0 && WARP_COLUMNS % 16 == 0, "fragments have 16 rows");
};

// Keeps the tensor cores busy: 96 KiB of stages, two blocks to a multiprocessor.
using WideTile = TileShape<128, 128, 64, 32, 3>;
// The same on Hopper, for storage of 16 bits; and where such tiles would leave multiprocessors
// without work.
using WideGroupTile = GroupShape<128, 256, 4>;
using NarrowGroupTile = GroupShape<128, 128, 6>;
// For few rows, where reading the right operand is all the work: more stages in flight.
using LowTile = TileShape<32, 128, 32, 16, 4>;
// The same of a matrix so small that 128 columns would make too few blocks.
using SmallTile = TileShape<32, 32, 16, 16, 6>;
// Blocks for which registers are left on a multiprocessor: two, where their sums leave room for it.
template <class T, class Shape>
constexpr int BLOCKS_TOGETHER = Shape::IS_GROUP || sizeof(T) == 4 ? 1 : 2;
// Rows up to which the low tiles are taken.
constexpr int64_t FEW_ROWS = LowTile::ROWS;

// The sums of a tile that a thread holds: of its warp's rows 16·i + g and 16·i + g + 8 the columns
// 8·j + 2·c and the next, g = lane / 4 and c = lane % 4.
template <class Shape>
struct TileSums {
  float sums[Shape::WARP_ROWS / 16][Shape::WARP_COLUMNS / 8][4];
};
template <class Shape>
__device__ __forceinline__ int warpRow(int thread) {
  return thread / 32 / Shape::WARPS_ACROSS * Shape::WARP_ROWS;
}
template <class Shape>
__device__ __forceinline__ int warpColumn(int thread) {
  return thread / 32 % Shape::WARPS_ACROSS * Shape::WARP_COLUMNS;
}

template <class T, Lie LIE, int COUNT, int THREADS>
__device__ __forceinline__ void stageOperand(uint8_t* stage, const Matrix<T>& matrix, int64_t first,
                                             int64_t depth, int thread) {
  if constexpr (LIE == Lie::along) {
    stagePanel<T, COUNT, THREADS>(stage, matrix, first, depth, thread);
  } else {
    static_assert(COUNT % PANEL<T> == 0, "panels across the depth are whole");
#pragma unroll
    for (int panel = 0; panel < COUNT / PANEL<T>; panel++) {
      stagePanel<T, PANEL<T>, THREADS>(stage + panel * PANEL<T> * PANEL_BYTES, matrix, depth,
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

// multiplyTile by warps. stageBoth(step, stage) begins to copy both operands.
template <class T, Lie LEFT, Lie RIGHT, class Shape, class StageBoth>
__device__ __forceinline__ void multiplyWarpTile(TileSums<Shape>& tile, int64_t steps,
                                                 uint8_t* shared, const StageBoth& stageBoth) {
  constexpr int RIGHT_OFFSET = Shape::ROWS * PANEL_BYTES;
  const int thread = (int)threadIdx.x, lane = laneOf(thread);
  const int firstRow = warpRow<Shape>(thread), firstColumn = warpColumn<Shape>(thread);
  const auto stage = [&](int64_t step) {
    if (step < steps) stageBoth(step, shared + step % Shape::STAGES * Shape::STAGE_BYTES);
    commitCopies();
  };
#pragma unroll
  for (int step = 0; step < Shape::STAGES - 1; step++) stage(step);
  for (int64_t step = 0; step < steps; step++) {
    waitCopies<Shape::STAGES - 2>();
    syncBlock();
    stage(step + Shape::STAGES - 1);
    const uint8_t* at = shared + step % Shape::STAGES * Shape::STAGE_BYTES;
    // float32 has two words and a sum of its own for each of the others': one step at a time fits.
#pragma unroll(sizeof(T) == 2 ? 4 : 1)
    for (int k = 0; k < 4; k++) {
      Fragment<T> rights[Shape::WARP_COLUMNS / 16];
#pragma unroll
      for (int j = 0; j < Shape::WARP_COLUMNS / 16; j++) {
        loadOperand<T, RIGHT>(rights[j], at + RIGHT_OFFSET, firstColumn + 16 * j, k, lane);
      }
#pragma unroll
      for (int i = 0; i < Shape::WARP_ROWS / 16; i++) {
        Fragment<T> lefts;
        loadOperand<T, LEFT>(lefts, at, firstRow + 16 * i, k, lane);
#pragma unroll
        for (int j = 0; j < Shape::WARP_COLUMNS / 16; j++) {
          multiplyStep(tile.sums[i][2 * j], tile.sums[i][2 * j + 1], lefts, rights[j]);
        }
      }
    }
  }
  waitCopies<0>();
  syncBlock();
}

// Adds the products over depths [begin, end) to `tile`. `row` and `column` are the tile's first of
// C; `shared` has Shape::SHARED bytes, free again when this returns.
template <class T, Lie LEFT, Lie RIGHT, class Shape>
__device__ __forceinline__ void multiplyTile(TileSums<Shape>& tile, const Matrix<T>& left,
                                             const Matrix<T>& right, int64_t row, int64_t column,
                                             int64_t begin, int64_t end, uint8_t* shared) {
  const int thread = (int)threadIdx.x;
  const int64_t steps = end > begin ? (end - begin + PANEL<T> - 1) / PANEL<T> : 0;
  const auto stageBoth = [&](int64_t step, uint8_t* at) {
    const int64_t depth = begin + step * PANEL<T>;
    stageOperand<T, LEFT, Shape::ROWS, Shape::THREADS>(at, left, row, depth, thread);
    stageOperand<T, RIGHT, Shape::COLUMNS, Shape::THREADS>(at + Shape::ROWS * PANEL_BYTES, right,
                                                           column, depth, thread);
  };
  if constexpr (Shape::IS_GROUP && !HAS_WARPGROUPS) {
    return;
  } else if constexpr (Shape::IS_GROUP) {
    multiplyGroupTile<T, LEFT, RIGHT, Shape>(tile.sums[0], left, right, row, column, begin,
                                             (int)steps, shared);
  } else {
    multiplyWarpTile<T, LEFT, RIGHT>(tile, steps, shared, stageBoth);
  }
}

// Calls body(row, column, first, second) for the tile's neighboring pairs, counted within the
// tile.
template <class Shape, class Body>
__device__ __forceinline__ void forPairs(const TileSums<Shape>& tile, const Body& body) {
  const int thread = (int)threadIdx.x, lane = laneOf(thread);
  const int firstRow = warpRow<Shape>(thread) + lane / 4;
  const int firstColumn = warpColumn<Shape>(thread) + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Shape::WARP_ROWS / 16; i++) {
#pragma unroll
    for (int j = 0; j < Shape::WARP_COLUMNS / 8; j++) {
      const int row = firstRow + 16 * i, column = firstColumn + 8 * j;
      body(row, column, tile.sums[i][j][0], tile.sums[i][j][1]);
      body(row + 8, column, tile.sums[i][j][2], tile.sums[i][j][3]);
    }
  }
}

}  // namespace saccade
