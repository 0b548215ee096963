// One block's tile of C = A·B by warpgroups, for 16-bit storage on compute capability 9.0: sums in
// the order of tile-product.cuh and with its bits, since wgmma adds 16 depths exactly as mma.sync
// does (measured on an H100 over wide exponents), at three times its speed.
//
// A thread copies the same chunk of some rows at every step, so it keeps one address for them all.
// While the products of a step run, the copies of a later one begin and those of the step before
// are waited for.
#pragma once

#include "warpgroup.cuh"

namespace saccade {

// Warpgroups one below the other, 64 rows each, as wide as the tile.
template <int TILE_ROWS, int TILE_COLUMNS, int TILE_STAGES>
struct GroupShape {
  static constexpr bool IS_GROUP = true;
  static constexpr int ROWS = TILE_ROWS, COLUMNS = TILE_COLUMNS, STAGES = TILE_STAGES;
  static constexpr int WARP_ROWS = 16, WARP_COLUMNS = COLUMNS, WARPS_ACROSS = 1;
  static constexpr int THREADS = ROWS / GROUP_ROWS * WARPGROUP;
  static constexpr int STAGE_BYTES = (ROWS + COLUMNS) * PANEL_BYTES;
  static constexpr int SHARED = STAGES * STAGE_BYTES;
  // One stage is read, one was read last and may still be.
  static constexpr int AHEAD = STAGES - 2;
  static_assert(ROWS % GROUP_ROWS == 0 && AHEAD >= 1, "whole warpgroups, and a stage that arrives");
};

// A thread's copies of COUNT rows or columns of an operand, from depth `depth` on and panel after
// panel.
template <class T, Lie LIE, int COUNT, int THREADS>
class OperandCopies {
 public:
  __device__ __forceinline__ OperandCopies(const Matrix<T>& matrix, int64_t first, int64_t depth,
                                           int thread)
      : base_(matrix.data), stride_(matrix.stride) {
    const int row = thread / 8, column = thread % 8 * CHUNK<T>;
    offset_ = chunkOffset(row, thread % 8);
    if constexpr (LIE == Lie::along) {
      from_ = matrix.data + (first + row) * stride_ + depth + column;
      left_ = matrix.columns - depth - column;
#pragma unroll
      for (int i = 0; i < COPIES; i++) {
        present_ |= (first + row + i * ROWS_APART < matrix.rows ? 1u : 0u) << i;
      }
    } else {
      from_ = matrix.data + (depth + row) * stride_ + first + column;
      left_ = matrix.rows - depth - row;
#pragma unroll
      for (int i = 0; i < PANELS; i++) {
        present_ |= (first + i * PANEL<T> + column < matrix.columns ? 1u : 0u) << i;
      }
    }
  }

  // Begins to copy a panel's width of depth, and goes on to the next.
  __device__ __forceinline__ void begin(uint8_t* stage) {
    uint8_t* to = stage + offset_;
    if constexpr (LIE == Lie::along) {
#pragma unroll
      for (int i = 0; i < COPIES; i++) {
        copy(to + i * ROWS_APART * PANEL_BYTES, from_ + i * ROWS_APART * stride_,
             left_ > 0 && (present_ >> i & 1u));
      }
      from_ += PANEL<T>;
    } else {
#pragma unroll
      for (int i = 0; i < COPIES; i++) {
        const int panel = i / COPIES_OF_PANEL, row = i % COPIES_OF_PANEL * ROWS_APART;
        copy(to + panel * PANEL<T> * PANEL_BYTES + row * PANEL_BYTES,
             from_ + row * stride_ + panel * PANEL<T>, left_ > row && (present_ >> panel & 1u));
      }
      from_ += PANEL<T> * stride_;
    }
    left_ -= PANEL<T>;
  }

 private:
  static constexpr int ROWS_APART = THREADS / 8;
  static constexpr int COPIES = COUNT / ROWS_APART;
  static constexpr int PANELS = COUNT / PANEL<T>;
  static constexpr int COPIES_OF_PANEL = PANEL<T> / ROWS_APART;
  static_assert(COUNT % ROWS_APART == 0 && COPIES <= 32, "every thread copies as many");
  static_assert(LIE == Lie::along || COPIES_OF_PANEL > 0, "a panel has a row for every thread");

  __device__ __forceinline__ void copy(uint8_t* to, const T* from, bool isPresent) const {
    copyAsync(to, isPresent ? from : base_, isPresent);
  }

  const T* base_;
  const T* from_;
  int64_t stride_;
  // Depth that is left from this thread's on.
  int64_t left_;
  uint32_t present_ = 0;
  int offset_;
};

template <class T, Lie LIE, int COUNT>
__device__ __forceinline__ GroupOperand operandOf(const uint8_t* stage, int first, int step) {
  if constexpr (LIE == Lie::along) {
    return operandAlong(stage, first, step);
  } else {
    constexpr int BYTES = PANEL<T> * PANEL_BYTES;
    return operandAcross(stage + first / PANEL<T> * BYTES, step, BYTES);
  }
}

// multiplyTile for such a shape; `sums` are this thread's. Rows of both operands are whole aligned
// chunks.
template <class T, Lie LEFT, Lie RIGHT, class Shape>
__device__ __forceinline__ void multiplyGroupTile(float (&sums)[Shape::COLUMNS / 8][4],
                                                  const Matrix<T>& left, const Matrix<T>& right,
                                                  int64_t row, int64_t column, int64_t begin,
                                                  int steps, uint8_t* shared) {
  constexpr int RIGHT_OFFSET = Shape::ROWS * PANEL_BYTES;
  const int thread = (int)threadIdx.x, firstRow = thread / WARPGROUP * GROUP_ROWS;
  OperandCopies<T, LEFT, Shape::ROWS, Shape::THREADS> lefts(left, row, begin, thread);
  OperandCopies<T, RIGHT, Shape::COLUMNS, Shape::THREADS> rights(right, column, begin, thread);
  const auto stage = [&](int step) {
    if (step < steps) {
      uint8_t* at = shared + step % Shape::STAGES * Shape::STAGE_BYTES;
      lefts.begin(at);
      rights.begin(at + RIGHT_OFFSET);
    }
    commitCopies();
  };
#pragma unroll
  for (int step = 0; step < Shape::AHEAD; step++) stage(step);
  holdSums(sums);
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    waitCopies<Shape::AHEAD - 1>();
    publishPanels();
    // Everyone's copies of this step have arrived, and everyone's products of two steps ago are
    // done.
    syncBlock();
    const uint8_t* at = shared + step % Shape::STAGES * Shape::STAGE_BYTES;
    beginProducts();
#pragma unroll
    for (int k = 0; k < 4; k++) {
      multiplyPanels<T, LEFT, RIGHT>(sums, operandOf<T, LEFT, Shape::ROWS>(at, firstRow, k),
                                     operandOf<T, RIGHT, Shape::COLUMNS>(at + RIGHT_OFFSET, 0, k));
    }
    commitProducts();
    stage(step + Shape::AHEAD);
    waitProducts<1>();
  }
  waitProducts<0>();
  holdSums(sums);
  waitCopies<0>();
  syncBlock();
}

}  // namespace saccade
