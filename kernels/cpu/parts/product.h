// C[M,N] = A[M,K] · B[K,N] for any storage order and type of A and B, on all threads.
//
// The order of additions is part of the contract: depth is cut at multiples of DEPTH_BLOCK words, each
// block is one fused chain from zero (tile.h), blocks are added in order, in float32 results those
// of a stretch before the stretch to what came before, the bias last. It depends on K alone, not on
// M, N, threads or tiles, so an output row has the same bits alone and in any batch.
//
// B is packed for a stretch of columns and STRETCH_BLOCKS blocks of depth at once. A thread owns ROW_BLOCK
// rows × some columns of C: it copies each block of A where it has to be widened, turned or lies
// badly, and adds up blocks in float32 memory of its own, so C is written once and in any type.
//
// Cascade Lake, two hyperthreads of one core, 2048³ in float32, in turns: this 129 ms; without
// fetching A ahead 134; adding each block to C in place, with B packed and all threads meeting block
// by block, 144.
#pragma once

#include "product-form.h"
#include "product-of-few.h"

namespace saccade {
namespace SACCADE_ISA {

// Brings the part [done, toDo) / all of a block of A to L2 that is copied next: its runs are so short
// that the hardware notices them too late.
template <class Stored>
static inline void fetchPart(const Source<Stored>& a, const Stored* source, int64_t rows,
                             int64_t depth, int64_t done, int64_t toDo, int64_t all) {
  constexpr int64_t LINE = 64 / (int64_t)sizeof(Stored);
  const bool isAcross = a.depthStride != 1;
  const int64_t runs = isAcross ? depth : rows, length = isAcross ? rows : depth;
  const int64_t stride = isAcross ? a.depthStride : a.stride;
  for (int64_t i = done * runs / all; i < toDo * runs / all; i++) {
    for (int64_t j = 0; j < length; j += LINE) __builtin_prefetch(source + i * stride + j, 0, 2);
  }
}

// One item: rows [row, row + rows) and columns [column, column + columns) of C at depths
// [from, from + depth), B's panels from `column` on.
template <class Stored, class StoredC>
static inline void multiplyItem(const Product<Stored, StoredC>& p, int64_t row, int64_t rows,
                                int64_t column, int64_t columns, int64_t from, int64_t depth,
                                const float* panels, float* copy, float* sums) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  const int64_t panelStride = wordsIn<WORDS>(depth) * PANEL;
  StoredC* c = p.c + row * p.cStride + column;
  const bool isLast = from + depth == p.depth;
  const float* bias = isLast && p.bias ? p.bias + column : nullptr;
  constexpr int64_t BLOCK = DEPTH_OF<WORDS>;
  // One block can go to C at once; more are added up first.
  const bool isDirect = floatsOf(c) && depth <= BLOCK;
  const bool adds = from > 0 || p.accumulate;
  float* out = isDirect ? floatsOf(c) : sums;
  const int64_t outStride = isDirect ? p.cStride : SUM_STRIDE<WORDS>;
  const bool isAligned = (uintptr_t)out % (LANES * sizeof(float)) == 0 && outStride % LANES == 0;
  const Into first = isDirect && p.isPast && isAligned ? Into::stream : Into::overwrite;
  for (int64_t k = 0; k < depth; k += BLOCK) {
    const int64_t block = smaller(BLOCK, depth - k);
    const Stored* source = p.a.data + row * p.a.stride + (from + k) * p.a.depthStride;
    const RowsOfA a = rowsOfA<WORDS>(p.a, source, rows, block, copy);
    const Panels b{panels + wordsIn<WORDS>(k) * PANEL, panelStride, PANEL};
    const Into into = k > 0 || (isDirect && adds) ? Into::add : first;
    const int64_t ahead = smaller(BLOCK, depth - k - block);
    for (int64_t j = 0; j < columns; j += PANEL) {
      const int64_t width = smaller(PANEL, columns - j);
      const float* panel = b.data + j / PANEL * panelStride;
      fetchPart(p.a, source + block * p.a.depthStride, rows, ahead, j, j + width, columns);
      const float* next = nullptr;
      if (j + PANEL < columns) next = panel + panelStride;
      else if (ahead > 0) next = b.data + wordsIn<WORDS>(block) * PANEL;
      multiplyRows<WORDS>(a, rows, width, wordsIn<WORDS>(block), {panel, panelStride, PANEL, next},
                          out + j, outStride, into, isDirect && bias ? bias + j : nullptr);
    }
  }
  if (HAS_MATRICES && WORDS == Words::pairs) finishMatrices();
  if (isDirect) {
    if (p.isPast) finishStores();
    return;
  }
  finishSums(rows, columns, sums, SUM_STRIDE<WORDS>, c, p.cStride, adds, bias);
}

// How C is cut: rowItems × columnItems pieces of at most rowsEach rows × panelsEach panels.
struct Items {
  int64_t rowItems, rowsEach;
  int64_t columnItems, panelsEach;
};

// Four pieces a thread, so that the threads even out; lower ones where they still do not, as where three
// panels meet two threads.
template <Words WORDS>
static inline Items itemsOf(int64_t rows, int64_t columns, int64_t panels, int64_t threads) {
  const int64_t fewest = divideUp(rows, ROW_BLOCK);
  const int64_t most = larger(fewest, smaller(fewest + threads - 1, rows / TILE_ROWS));
  Items best{};
  double bestShare = 0;
  for (int64_t wanted = fewest; wanted <= most; wanted++) {
    const int64_t rowsEach = divideUp(rows, wanted), rowItems = divideUp(rows, rowsEach);
    const int64_t pieces = larger(divideUp(columns, COLUMNS_OF<WORDS>), divideUp(threads * 4, rowItems));
    const int64_t panelsEach = divideUp(panels, smaller(panels, pieces));
    const int64_t columnItems = divideUp(panels, panelsEach);
    // What the threads do of what they could do in as many turns.
    const int64_t turns = divideUp(rowItems * columnItems, threads);
    const double share = (double)(rows * panels) / (double)(turns * threads * rowsEach * panelsEach);
    if (share < 1.02 * bestShare) continue;
    best = {rowItems, rowsEach, columnItems, panelsEach};
    bestShare = share;
  }
  return best;
}

template <class Stored, class StoredC>
static inline void fillRows(const Product<Stored, StoredC>& p) {
  if (p.accumulate) return;
  for (int64_t i = 0; i < p.rows; i++) {
    forLanes(p.columns, [&](int64_t j, int64_t width) {
      storeWidth(p.c + i * p.cStride + j, p.bias ? loadWidth(p.bias + j, width) : Vec{}, width);
    });
  }
}

template <class Stored, class StoredC>
static inline void product(const SaccadeLaunch& launch, const ProductSpace& space,
                           const Product<Stored, StoredC>& p) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  if (p.rows == 0 || p.columns == 0) return;
  if (p.depth == 0) return fillRows(p);
  const int64_t threads = launch.runtime->threads;
  const Packing packing = packingOf(p);
  const int64_t stretch = packing.depth, most = packing.columns;
  if (p.rows <= SOME_ROWS && p.b.depthStride == 1) {
#if defined(__AMX_BF16__)
    // Matrices have chains of their own.
    if constexpr (sizeof(Stored) == sizeof(Bf16) && sizeof(StoredC) == sizeof(Bf16)) {
      if (productTurned(launch, p)) return;
    }
#endif
    const bool hasOwnChains = HAS_MATRICES && WORDS == Words::pairs;
    if (!hasOwnChains && streams<Stored>(p.rows, p.columns * p.depth)) {
      return productOfFew(launch, p, stretch);
    }
    if constexpr (HAS_STEPS<WORDS>) {
      if (comeFromMemory<Stored>(p.columns * p.depth)) {
        return productOfSome<true>(launch, space, p, stretch);
      }
    }
    return productOfSome<false>(launch, space, p, stretch);
  }
  for (int64_t column = 0; column < p.columns; column += most) {
    const int64_t columns = smaller(most, p.columns - column);
    const int64_t panels = divideUp(columns, PANEL);
    const auto [rowItems, rowsEach, columnItems, panelsEach] =
        itemsOf<WORDS>(p.rows, columns, panels, threads);
    for (int64_t from = 0; from < p.depth; from += stretch) {
      const int64_t depth = smaller(stretch, p.depth - from);
      const int64_t panelWords = wordsIn<WORDS>(depth) * PANEL;
      const int64_t panelsPerPack = divideUp(panels, threads * 4);
      parallelFor(launch, divideUp(panels, panelsPerPack), 0.6 * (double)(columns * depth),
                  [&](int64_t item, int32_t) {
                    const int64_t j = item * panelsPerPack * PANEL;
                    packPanels<WORDS>(space.panels + item * panelsPerPack * panelWords, p.b,
                                      column + j, smaller(panelsPerPack * PANEL, columns - j), from,
                                      depth);
                  });
      parallelFor(launch, rowItems * columnItems,
                  nanosecondsOf(2.0 * (double)p.rows * (double)columns * (double)depth),
                  [&](int64_t item, int32_t worker) {
                    const int64_t row = item % rowItems * rowsEach;
                    const int64_t panel = item / rowItems * panelsEach;
                    const int64_t j = panel * PANEL;
                    multiplyItem(p, row, smaller(rowsEach, p.rows - row), column + j,
                                 smaller(panelsEach * PANEL, columns - j), from, depth,
                                 space.panels + panel * panelWords,
                                 space.copies + worker * ROW_COPY,
                                 space.sums + worker * ITEM_SUMS<WORDS>);
                  });
    }
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
