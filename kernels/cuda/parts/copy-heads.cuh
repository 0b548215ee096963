// Rows of one head copied to a tile by one warp: those that lie one behind the other need one
// look-up and one addition for each eight; others are looked up by the lanes, one each.
#pragma once

#include "attend.cuh"

namespace saccade {

// A matrix [rows·heads, D] of which one head is copied.
template <class T>
struct HeadColumn {
  Matrix<T> matrix;
  int32_t heads, head;
};

// Logical keys up to `end` lie in rows key + offset.
struct KeyRun {
  int32_t end, offset;
};

// Rows [firstRow, firstRow + ROWS) of a tile of TILE_ROWS; a lane has the same chunk of each panel
// of every fourth row.
template <class T, int HEAD, int TILE_ROWS, int ROWS>
struct HeadCopier {
  static constexpr int PANELS = HEAD_PANELS<T, HEAD>;
  static constexpr int PANEL_TILE = TILE_ROWS * PANEL_BYTES;
  HeadColumn<T> column;
  int firstRow, lane;

  // Whether whole rows can be copied without a look at edges.
  __device__ __forceinline__ bool isWhole() const {
    return column.matrix.isAligned && column.matrix.columns == HEAD;
  }
  // The tile's rows lie one behind the other from `row` on.
  __device__ __forceinline__ void copyRun(uint8_t* tile, int64_t row) const {
    const int64_t stride = column.matrix.stride * column.heads;
    const T* from = column.matrix.data + (row + firstRow + lane / 8) * stride +
                    column.matrix.stride * column.head + lane % 8 * CHUNK<T>;
    uint8_t* even = tile + firstRow * PANEL_BYTES + chunkOffset(lane / 8, lane % 8);
    uint8_t* odd = tile + firstRow * PANEL_BYTES + chunkOffset(lane / 8 + 4, lane % 8);
    // Few registers are left to copying warps, so few addresses at a time.
#pragma unroll 2
    for (int i = 0; i < ROWS / 8; i++) {
#pragma unroll
      for (int panel = 0; panel < PANELS; panel++) {
        copyAsync(even + panel * PANEL_TILE, from + panel * PANEL<T>, true);
        copyAsync(odd + panel * PANEL_TILE, from + 4 * stride + panel * PANEL<T>, true);
      }
      from += 8 * stride;
      even += 8 * PANEL_BYTES;
      odd += 8 * PANEL_BYTES;
    }
  }
  // Row r of the warp's is row rows[r / 32] of lane r % 32; zeros if negative.
  __device__ __forceinline__ void copyScattered(uint8_t* tile, const int32_t (&rows)[ROWS / 32]) const {
#pragma unroll
    for (int part = 0; part < ROWS / 32; part++) {
#pragma unroll 1
      for (int i = 0; i < 8; i++) {
        const int r = lane / 8 + 4 * i;
        const int32_t from = shuffleFrom(rows[part], r);
        const int64_t row = from < 0 ? -1 : (int64_t)from * column.heads + column.head;
#pragma unroll
        for (int panel = 0; panel < PANELS; panel++) {
          stageChunk<T>(tile + panel * PANEL_TILE + chunkOffset(firstRow + 32 * part + r, lane % 8),
                        column.matrix, row, panel * PANEL<T> + lane % 8 * CHUNK<T>);
        }
      }
    }
  }
  // Keys [first, first + TILE_ROWS) as the tile's rows, of which [from, to) are there. `run` is
  // what runAt(key) said last; rowAt(key) finds a single one.
  template <class RunAt, class RowAt>
  __device__ __forceinline__ void copyKeys(uint8_t* tile, int32_t first, int32_t from, int32_t to,
                                           KeyRun& run, const RunAt& runAt,
                                           const RowAt& rowAt) const {
    const int32_t own = first + firstRow;
    if (own >= run.end && own < to) {
      const KeyRun found = runAt(own);
      run.end = found.end;
      run.offset = found.offset;
    }
    if (own >= from && own + ROWS <= run.end && own + ROWS <= to && isWhole()) {
      copyRun(tile, (int64_t)first + run.offset);
      return;
    }
    int32_t rows[ROWS / 32];
#pragma unroll
    for (int i = 0; i < ROWS / 32; i++) {
      const int32_t key = own + 32 * i + lane;
      rows[i] = key >= from && key < to ? rowAt(key) : -1;
    }
    copyScattered(tile, rows);
  }
};

}  // namespace saccade
