// C[M,N] = A[M,K] · B[K,N] for any storage order of A and B, on all threads.
//
// The order of additions is part of the contract: depth is cut at multiples of DEPTH_BLOCK, each
// block is one fused chain from zero (tile.h), blocks are added in order, the bias last. It depends
// on K alone, not on M, N, threads or tiles, so an output row has the same bits alone and in any
// batch.
#pragma once

#include "kernel-entry.h"
#include "pack.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t DEPTH_BLOCK = 384;
constexpr int64_t COLUMN_BLOCK = 1024;
// Rows of A one item works on: 96 × 384 floats are 144 KiB, a part of L2.
constexpr int64_t ROW_BLOCK = 96;

// A matrix in memory: element (row or column i, depth k) at data[i·stride + k·depthStride]; one of
// the two strides is 1.
template <class Stored>
struct Source {
  const Stored* data;
  int64_t stride;
  int64_t depthStride;
};

template <class StoredA, class StoredB>
struct Product {
  int64_t rows, columns, depth;
  Source<StoredA> a;
  Source<StoredB> b;
  float* c;
  int64_t cStride;
  const float* bias = nullptr;
  // C += A·B instead of C = A·B.
  bool accumulate = false;
};

// Packs columns [first, first + count) of B at depths [from, from + depth) into panels.
template <class Stored>
static inline void packPanels(float* panels, const Source<Stored>& b, int64_t first, int64_t count,
                              int64_t from, int64_t depth) {
  for (int64_t j = 0; j < count; j += PANEL) {
    const int64_t width = smaller(PANEL, count - j);
    const Stored* source = b.data + (first + j) * b.stride + from * b.depthStride;
    if (b.depthStride == 1) {
      packPanelByColumns(panels + j * depth, source, b.stride, width, depth);
    } else {
      packPanelByRows(panels + j * depth, source, b.depthStride, width, depth);
    }
  }
}

// Rows that lie a multiple of 2 KiB apart fall into the same few cache sets; copies do not.
constexpr int64_t COPY_STRIDE = DEPTH_BLOCK + LANES;
SACCADE_INLINE const float* inPlace(const float* values) { return values; }
SACCADE_INLINE const float* inPlace(const Bf16*) { return nullptr; }
SACCADE_INLINE bool collides(int64_t stride) { return stride % 512 == 0; }

// Floats of workspace one worker needs for `packRows`.
constexpr int64_t ROW_COPY = ROW_BLOCK * COPY_STRIDE;

template <class Stored>
static inline void copyDepthMajor(float* out, const Stored* source, int64_t stride, int64_t rows,
                                  int64_t depth) {
  for (int64_t k = 0; k < depth; k++) {
    forLanes(rows, [&](int64_t i, int64_t width) {
      store(out + k * ROW_BLOCK + i, loadWidth(source + k * stride + i, width));
    });
  }
}

// One block of C: rows [row, row + rows), the packed columns [0, columns) of `panels`.
template <class StoredA, class StoredB>
static inline void multiplyBlock(const Product<StoredA, StoredB>& p, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns, int64_t from, int64_t depth, const float* panels,
                                 float* copy) {
  const StoredA* source = p.a.data + row * p.a.stride + from * p.a.depthStride;
  float* c = p.c + row * p.cStride + column;
  const Panels b{panels, depth * PANEL, PANEL};
  const bool last = from + depth == p.depth;
  const float* bias = last && p.bias ? p.bias + column : nullptr;
  const Into into = from > 0 || p.accumulate ? Into::add : Into::overwrite;
  if (p.a.depthStride != 1) {
    copyDepthMajor(copy, source, p.a.depthStride, rows, depth);
    multiplyPanels<Rows::contiguousRows>(rows, columns, depth, copy, ROW_BLOCK, b, c, p.cStride,
                                         into, bias);
    return;
  }
  int64_t stride = p.a.stride;
  const float* a = inPlace(source);
  if (!a || (collides(stride) && rows > 4)) {
    for (int64_t i = 0; i < rows; i++) {
      convertRun(copy + i * COPY_STRIDE, source + i * stride, depth);
    }
    a = copy;
    stride = COPY_STRIDE;
  }
  multiplyPanels<Rows::contiguousDepth>(rows, columns, depth, a, stride, b, c, p.cStride, into,
                                        bias);
}

static inline double nanosecondsOf(double flops) { return flops / 60.0; }

template <class P>
static inline void fillRows(const P& p) {
  if (p.accumulate) return;
  for (int64_t i = 0; i < p.rows; i++) {
    for (int64_t j = 0; j < p.columns; j++) p.c[i * p.cStride + j] = p.bias ? p.bias[j] : 0.0f;
  }
}

// Workspace of a product, allocated once per launch and shared by all products of the launch.
struct ProductSpace {
  float* panels;
  float* copies;
};

static inline ProductSpace productSpace(const SaccadeLaunch& launch) {
  return {scratchFloats(launch, (COLUMN_BLOCK + PANEL) * DEPTH_BLOCK),
          scratchFloats(launch, launch.runtime->threads * ROW_COPY)};
}

template <class StoredA, class StoredB>
static inline void product(const SaccadeLaunch& launch, const ProductSpace& space,
                           const Product<StoredA, StoredB>& p) {
  if (p.depth == 0) return fillRows(p);
  const int64_t threads = launch.runtime->threads;
  for (int64_t column = 0; column < p.columns; column += COLUMN_BLOCK) {
    const int64_t columns = smaller(COLUMN_BLOCK, p.columns - column);
    const int64_t panels = divideUp(columns, PANEL);
    // Enough items for the threads to even out, of whole tiles.
    const int64_t wanted = divideUp(divideUp(p.rows, threads * 4), TILE_ROWS) * TILE_ROWS;
    const int64_t rowBlock = smaller(ROW_BLOCK, wanted);
    const int64_t rowItems = divideUp(p.rows, rowBlock);
    const int64_t columnItems = smaller(panels, divideUp(threads * 3, rowItems));
    const int64_t panelsPerItem = divideUp(panels, columnItems);
    for (int64_t from = 0; from < p.depth; from += DEPTH_BLOCK) {
      const int64_t depth = smaller(DEPTH_BLOCK, p.depth - from);
      const int64_t panelFloats = depth * PANEL;
      const int64_t panelsPerPack = larger(1, divideUp(panels, threads * 2));
      parallelFor(launch, divideUp(panels, panelsPerPack), 0.3 * (double)(columns * depth),
                  [&](int64_t item, int32_t) {
                    const int64_t j = item * panelsPerPack * PANEL;
                    packPanels(space.panels + item * panelsPerPack * panelFloats, p.b, column + j,
                               smaller(panelsPerPack * PANEL, columns - j), from, depth);
                  });
      parallelFor(launch, rowItems * columnItems,
                  nanosecondsOf(2.0 * (double)p.rows * (double)columns * (double)depth),
                  [&](int64_t item, int32_t worker) {
                    const int64_t row = item / columnItems * rowBlock;
                    const int64_t panel = item % columnItems * panelsPerItem;
                    const int64_t j = panel * PANEL;
                    if (j >= columns) return;
                    multiplyBlock(p, row, smaller(rowBlock, p.rows - row), column + j,
                                  smaller(panelsPerItem * PANEL, columns - j), from, depth,
                                  space.panels + panel * panelFloats,
                                  space.copies + worker * ROW_COPY);
                  });
    }
  }
}

// The product as float32 in place of `result`, or by way of float32 memory for some rows at a time,
// rounded once at the end.
template <class StoredA, class StoredB>
static inline void productInto(const SaccadeLaunch& launch, const ProductSpace& space, float* result,
                               Product<StoredA, StoredB> p) {
  p.c = result;
  product(launch, space, p);
}
template <class StoredA, class StoredB>
static inline void productInto(const SaccadeLaunch& launch, const ProductSpace& space, Bf16* result,
                               Product<StoredA, StoredB> p) {
  const int64_t most = smaller(p.rows, 512), N = p.columns;
  float* sums = scratchFloats(launch, most * N);
  p.cStride = N;
  p.c = sums;
  const int64_t rows = p.rows;
  for (int64_t row = 0; row < rows; row += most) {
    p.rows = smaller(most, rows - row);
    product(launch, space, p);
    parallelFor(launch, p.rows, 0.3 * (double)(p.rows * N), [&](int64_t i, int32_t) {
      convertRun(result + (row + i) * N, sums + i * N, N);
    });
    p.a.data += p.rows * p.a.stride;
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
