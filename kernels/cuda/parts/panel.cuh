// Tiles in shared memory: panels of rows of 128 bytes, cut into eight chunks of 16.
//
// Chunk c of row r lies at place c ^ (r % 8) of the row, so that eight rows' chunks of one column,
// which is what a tensor core's operand is loaded from, fall into different banks.
#pragma once

#include "storage.cuh"

namespace saccade {

constexpr int PANEL_BYTES = 128;

// An operand lies along the depth of a product (its rows are the result's rows or columns) or
// across it (its rows are the depth).
enum class Lie { along, across };

// Elements of a panel's row, and of a chunk.
template <class T>
constexpr int PANEL = PANEL_BYTES / (int)sizeof(T);
template <class T>
constexpr int CHUNK = 16 / (int)sizeof(T);

__host__ __device__ constexpr int chunkOffset(int row, int chunk) {
  return row * PANEL_BYTES + ((chunk ^ (row & 7)) << 4);
}
template <class T>
__host__ __device__ constexpr int elementOffset(int row, int column) {
  return chunkOffset(row, column / CHUNK<T>) + column % CHUNK<T> * (int)sizeof(T);
}

// A row-major matrix in global memory. Beyond its rows and columns it is zero.
template <class T>
struct Matrix {
  const T* data;
  int64_t stride;
  int64_t rows, columns;
  // Every row is made of whole, 16-byte aligned chunks.
  bool isAligned;
};

template <class T>
Matrix<T> matrixOf(const T* data, int64_t stride, int64_t rows, int64_t columns) {
  const uint64_t bits = reinterpret_cast<uint64_t>(data) | (uint64_t)(stride * (int64_t)sizeof(T)) |
                        (uint64_t)(columns * (int64_t)sizeof(T));
  return {data, stride, rows, columns, bits % 16 == 0};
}

// Begins to copy a chunk to shared memory: columns [first, first + CHUNK) of a row, zeros where the
// matrix has none. Complete after waitCopies and a barrier.
template <class T>
__device__ __forceinline__ void stageChunk(uint8_t* to, const Matrix<T>& matrix, int64_t row,
                                           int64_t first) {
  const bool isRow = row >= 0 && row < matrix.rows;
  if (matrix.isAligned) {
    const bool isPresent = isRow && first < matrix.columns;
    copyAsync(to, isPresent ? matrix.data + row * matrix.stride + first : matrix.data, isPresent);
    return;
  }
  T* elements = reinterpret_cast<T*>(to);
#pragma unroll
  for (int e = 0; e < CHUNK<T>; e++) {
    const bool isPresent = isRow && first + e < matrix.columns;
    elements[e] = isPresent ? matrix.data[row * matrix.stride + first + e] : T{};
  }
}

// ROWS rows of PANEL<T> columns from `row` and `column` on.
template <class T, int ROWS, int THREADS>
__device__ __forceinline__ void stagePanel(uint8_t* panel, const Matrix<T>& matrix, int64_t row,
                                           int64_t column, int thread) {
#pragma unroll
  for (int i = thread; i < ROWS * 8; i += THREADS) {
    const int r = i / 8, chunk = i % 8;
    stageChunk<T>(panel + chunkOffset(r, chunk), matrix, row + r, column + chunk * CHUNK<T>);
  }
}

}  // namespace saccade
