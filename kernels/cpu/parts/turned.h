// The product of a matrix with few rows, turned: matrices take the rows of W where they lie, so that W
// is read from memory once and copied nowhere; the few rows of x alone are packed. The sums are those of
// product.h, factor by factor.
//
// What decoding spends its time on: W streams by at what memory gives. Rows of W are streams of their
// own, pages apart, that the hardware follows too late, so each line is asked for six lines ahead, and
// the first lines of the rows that a thread takes next while it ends those at hand. Rows of x lie side
// by side as closely as there are, so packing them is little next to W.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "kernel-entry.h"
#include "pack.h"
#include "rows-of-a.h"

#if defined(__AMX_BF16__)

namespace saccade {
namespace SACCADE_ISA {

// Rows of W at a time, and of x at most.
constexpr int64_t TURNED_ROWS = 2 * MATRIX;
constexpr int64_t TURNED_WIDTH = PANEL;

// Rows of x as words side by side: word k of row r at words[k · width + r].
struct TurnedRows {
  const float* words;
  int64_t width;
};

// Packs at most TURNED_WIDTH rows, on all threads.
static inline TurnedRows packTurned(const SaccadeLaunch& launch, const Source<Bf16>& x, int64_t rows,
                                    int64_t depth) {
  constexpr Words WORDS = Words::pairs;
  constexpr int64_t CHUNK = 256;
  if (rows == 1) {
    const float* inPlace = rowsInPlace<WORDS>(x.data, x.stride, depth);
    if (inPlace) return {inPlace, 1};
  }
  // Lines hold whole words of all rows.
  int64_t width = 1;
  while (width < rows) width *= 2;
  const int64_t deep = wordsIn<WORDS>(depth);
  float* words = scratchFloats(launch, deep * width);
  const double nanoseconds = 0.3 * (double)(rows * depth);
  parallelFor(launch, divideUp(deep, CHUNK), nanoseconds, [&](int64_t item, int32_t) {
    const int64_t first = item * CHUNK, count = smaller(CHUNK, deep - first);
    alignas(64) float block[CHUNK][LANES];
    for (int64_t r = 0; r < width; r += LANES) {
      packColumns<WORDS>(block[0], LANES, rows - r, smaller(2 * CHUNK, depth - 2 * first),
                         [&](int c) { return x.data + (r + c) * x.stride + 2 * first; });
      const int64_t lanes = smaller(LANES, width - r);
      float* to = words + first * width + r;
      for (int64_t k = 0; k < count; k++) storeWidth(to + k * width, load(block[k]), lanes);
    }
  });
  return {words, width};
}

// Two matrices of operands and two of sums at a time: of those that a processor has, two hyperthreads
// share what is not taken, and each load needs one.
template <int TALL, int VECS>
SACCADE_INLINE void turnedStep(const float* w, int64_t stride, const float* x, int64_t xStride) {
  static_assert(TALL == 1 || VECS == 1, "two matrices of sums");
  const int64_t bytes = 4 * stride, xBytes = 4 * xStride;
  _tile_loadd(4, w, bytes);
  _tile_loadd(6, x, xBytes);
  _tile_dpbf16ps(0, 4, 6);
  if (VECS > 1) {
    _tile_loadd(6, x + LANES, xBytes);
    _tile_dpbf16ps(1, 4, 6);
  }
  if (TALL > 1) {
    _tile_loadd(4, w + MATRIX * stride, bytes);
    _tile_dpbf16ps(1, 4, 6);
  }
}

// One chain of sums, of words [from, to) of depth. Lines are asked for AHEAD words before they are
// needed, beyond the depth those of the rows at `next`.
template <int TALL, int VECS>
SACCADE_INLINE void turnedBlock(const float* w, int64_t stride, int64_t rows, int64_t from, int64_t to,
                                int64_t deep, const TurnedRows& x, const float* next, float* sums) {
  constexpr int64_t AHEAD = 6 * MATRIX;
  const int64_t width = x.width, bytes = 4 * width;
  _tile_zero(0);
  if (TALL > 1 || VECS > 1) _tile_zero(1);
  const int64_t whole = from + (to - from) / MATRIX * MATRIX, rest = to - whole;
  for (int64_t k = from; k < whole; k += MATRIX) {
    const int64_t later = k + AHEAD;
    const float* line = later < deep ? w + later : next + (later - deep);
#pragma GCC unroll 8
    for (int i = 0; i < TALL * MATRIX; i += 4, line += 4 * stride) {
      __builtin_prefetch(line, 0, 2);
      __builtin_prefetch(line + stride, 0, 2);
      __builtin_prefetch(line + 2 * stride, 0, 2);
      __builtin_prefetch(line + 3 * stride, 0, 2);
    }
    turnedStep<TALL, VECS>(w + k, stride, x.words + k * width, width);
  }
  if (rest > 0) {
    alignas(64) float lastW[TALL * MATRIX][MATRIX] = {}, lastX[MATRIX * VECS * LANES] = {};
    for (int64_t i = 0; i < rows; i++) {
      memcpy(lastW[i], w + i * stride + whole, (size_t)rest * sizeof(float));
    }
    memcpy(lastX, x.words + whole * width, (size_t)(rest * width) * sizeof(float));
    settleMemory();
    turnedStep<TALL, VECS>(lastW[0], MATRIX, lastX, width);
  }
  _tile_stored(0, sums, bytes);
  if (VECS > 1) _tile_stored(1, sums + LANES, bytes);
  if (TALL > 1) _tile_stored(1, sums + MATRIX * width, bytes);
  settleMemory();
}

template <int TALL, int VECS>
static inline void turnedGroup(const float* w, int64_t stride, int64_t rows, int64_t deep,
                               const TurnedRows& x, const float* next, float* sums) {
  TileConfig config(smaller(MATRIX, rows), smaller(MATRIX, rows));
  const uint16_t bytes = (uint16_t)smaller(64, 4 * x.width);
  config.columnBytes[0] = config.columnBytes[1] = config.columnBytes[6] = bytes;
  configure(config);
  alignas(64) float part[TURNED_ROWS * TURNED_WIDTH];
  for (int64_t k = 0; k < deep; k += DEPTH_BLOCK) {
    turnedBlock<TALL, VECS>(w, stride, rows, k, smaller(k + DEPTH_BLOCK, deep), deep, x, next,
                            k == 0 ? sums : part);
    if (k == 0) continue;
    for (int64_t i = 0; i < rows * x.width; i += LANES) {
      store(sums + i, load(sums + i) + load(part + i));
    }
  }
}

// sums[i · x.width + r] = row i of W · row r of x, of at most TURNED_ROWS rows of W, which are `stride`
// words apart and `deep` > 0 words long. `sums` is TURNED_ROWS · TURNED_WIDTH floats. The first words of
// the rows at `next`, as many, are asked for. finishMatrices comes after the last.
static inline void turnedSums(const float* w, int64_t stride, int64_t rows, int64_t deep,
                              const TurnedRows& x, const float* next, float* sums) {
  const bool isWide = x.width > LANES;
  if (rows == TURNED_ROWS && !isWide) return turnedGroup<2, 1>(w, stride, rows, deep, x, next, sums);
  for (int64_t i = 0; i < rows; i += MATRIX) {
    const float *from = w + i * stride, *later = i + MATRIX < rows ? from + MATRIX * stride : next;
    const int64_t count = smaller(MATRIX, rows - i);
    if (isWide) turnedGroup<1, 2>(from, stride, count, deep, x, later, sums + i * x.width);
    else turnedGroup<1, 1>(from, stride, count, deep, x, later, sums + i * x.width);
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade

#endif
