// C[M,N] = A[M,K] · B[K,N] for any storage order and type of A and B, on all threads.
//
// The order of additions is part of the contract: depth is cut at multiples of DEPTH_BLOCK words, each
// block is one fused chain from zero (tile.h), blocks are added in order, in float32 results those
// of a stretch before the stretch to what came before, the bias last. It depends on K alone, not on
// M, N, threads or tiles, so an output row has the same bits alone and in any batch.
//
// B is packed for a stretch of columns and DEPTH_STRETCH of depth at once. A thread owns ROW_BLOCK
// rows × some columns of C: it copies each block of A where it has to be widened, turned or lies
// badly, and adds up blocks in float32 memory of its own, so C is written once and in any type.
//
// Cascade Lake, two hyperthreads of one core, 2048³ in float32, in turns: this 129 ms; without
// fetching A ahead 134; adding each block to C in place, with B packed and all threads meeting block
// by block, 144.
#pragma once

#include "few-rows.h"
#include "kernel-entry.h"
#include "pack.h"
#include "rows-of-a.h"
#if defined(__AMX_BF16__)
#include "turned.h"
#endif

namespace saccade {
namespace SACCADE_ISA {

// DEPTH_BLOCK in elements, of which a word of pairs holds two.
template <Words WORDS>
constexpr int64_t DEPTH_OF = WORDS == Words::pairs ? 2 * DEPTH_BLOCK : DEPTH_BLOCK;
// Blocks of depth that are packed at once: 2304 words, so that the depths of most layers are one stretch.
constexpr int64_t STRETCH_BLOCKS = LANES == 8 ? 9 : 6;
// Words of B packed at once, if one panel is not more: 8 MiB.
constexpr int64_t PACKED_WORDS = int64_t{2} << 20;
// Columns of C one item works on at most. 112 × 512 sums are 224 KiB, and leave room in 1 MiB of L2 for
// what streams by; of pairs they are gone through half as often, and 1024 columns copy A half as often.
template <Words WORDS>
constexpr int64_t COLUMNS_OF = WORDS == Words::pairs ? 1024 : 512;

template <class Stored, class StoredC>
struct Product {
  int64_t rows, columns, depth;
  Source<Stored> a, b;
  StoredC* c;
  int64_t cStride;
  const float* bias = nullptr;
  // C += A·B instead of C = A·B.
  bool accumulate = false;
  // C is large and not read soon: where it is whole vectors, it goes past the caches.
  bool isPast = false;
};

// Packs columns [first, first + count) of B at depths [from, from + depth) into panels of the whole
// depth, one after the other.
template <Words WORDS, class Stored>
static inline void packPanels(float* panels, const Source<Stored>& b, int64_t first, int64_t count,
                              int64_t from, int64_t depth) {
  const int64_t panelWords = wordsIn<WORDS>(depth) * PANEL;
  const Stored* source = b.data + first * b.stride + from * b.depthStride;
  if (b.depthStride != 1) {
    packPanelsByRows<WORDS>(panels, panelWords, source, b.depthStride, count, depth);
    return;
  }
  for (int64_t j = 0; j < count; j += PANEL, panels += panelWords) {
    packPanelByColumns<WORDS>(panels, source + j * b.stride, b.stride, smaller(PANEL, count - j),
                              depth);
  }
}

// C[rows, columns] from a block of A and panels of B; depth in words.
template <Words WORDS>
static inline void multiplyRows(const RowsOfA& a, int64_t rows, int64_t columns, int64_t depth,
                                const Panels& b, float* c, int64_t cStride, Into into,
                                const float* bias = nullptr) {
  if (a.isAcross) {
    multiplyPanels<Rows::contiguousRows, WORDS>(rows, columns, depth, a.words, a.stride, b, c,
                                                cStride, into, bias, a.tileRows);
  } else {
    multiplyPanels<Rows::contiguousDepth, WORDS>(rows, columns, depth, a.words, a.stride, b, c,
                                                 cStride, into, bias, a.tileRows);
  }
}

static inline double nanosecondsOf(double flops) { return flops / 60.0; }

// C where it is float32 itself.
SACCADE_INLINE float* floatsOf(float* values) { return values; }
SACCADE_INLINE float* floatsOf(Bf16*) { return nullptr; }

// Workspace of a product, allocated once per launch and shared by all products of the launch.
struct ProductSpace {
  float* panels;
  float* copies;
  float* sums;
  // A block of a panel for each worker.
  float* blocks;
};

// Floats of one row of an item's sums, and of all of them.
template <Words WORDS>
constexpr int64_t SUM_STRIDE = COLUMNS_OF<WORDS> + LANES;
template <Words WORDS>
constexpr int64_t ITEM_SUMS = ROW_BLOCK * SUM_STRIDE<WORDS>;

// Rows up to which each block of B is packed where it is used, as in decoding: B is then read from
// memory once, and written only to the cache of the thread that reads it.
constexpr int64_t SOME_ROWS = 32;

// How much of B a product packs at once.
struct Packing {
  int64_t depth;
  int64_t columns;
  int64_t words;
};

template <class Stored, class StoredC>
static inline Packing packingOf(const Product<Stored, StoredC>& p) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  // A result in bf16 is rounded once, so its whole depth is packed.
  const int64_t depth =
      floatsOf(p.c) ? smaller(STRETCH_BLOCKS * DEPTH_OF<WORDS>, p.depth) : p.depth;
  const int64_t deep = larger(1, wordsIn<WORDS>(depth));
  const int64_t most = larger(PANEL, PACKED_WORDS / deep / PANEL * PANEL);
  const int64_t columns = smaller(most, roundUp(p.columns, PANEL));
  return {depth, columns, columns * deep};
}

// For products that pack at most `words`.
template <class Stored>
static inline ProductSpace productSpace(const SaccadeLaunch& launch, int64_t words) {
  const int64_t threads = launch.runtime->threads;
  return {scratchFloats(launch, words), scratchFloats(launch, threads * ROW_COPY),
          scratchFloats(launch, threads * ITEM_SUMS<WordsOf<Stored>::value>),
          scratchFloats(launch, threads * DEPTH_BLOCK * PANEL)};
}

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
// [from, from + depth), B's panels from `column` on. Without them, a block of a panel at a time is
// packed into `own`, and `whole` has all rows.
template <class Stored, class StoredC>
static inline void multiplyItem(const Product<Stored, StoredC>& p, int64_t row, int64_t rows,
                                int64_t column, int64_t columns, int64_t from, int64_t depth,
                                const float* panels, float* copy, float* sums,
                                float* own = nullptr, const RowsOfA& whole = {}) {
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
    const RowsOfA a = own ? RowsOfA{whole.words + wordsIn<WORDS>(from + k), whole.stride, false}
                          : rowsOfA<WORDS>(p.a, source, rows, block, copy);
    const Panels b{panels + wordsIn<WORDS>(k) * PANEL, panelStride, PANEL};
    const Into into = k > 0 || (isDirect && adds) ? Into::add : first;
    const int64_t ahead = smaller(BLOCK, depth - k - block);
    for (int64_t j = 0; j < columns; j += PANEL) {
      const int64_t width = smaller(PANEL, columns - j);
      const float* panel = own ? own : b.data + j / PANEL * panelStride;
      if (own) packPanels<WORDS>(own, p.b, column + j, width, from + k, block);
      else fetchPart(p.a, source + block * p.a.depthStride, rows, ahead, j, j + width, columns);
      const float* next = nullptr;
      if (!own && j + PANEL < columns) next = panel + panelStride;
      else if (!own && ahead > 0) next = b.data + wordsIn<WORDS>(block) * PANEL;
      multiplyRows<WORDS>(a, rows, width, wordsIn<WORDS>(block), {panel, panelStride, PANEL, next},
                          out + j, outStride, into, isDirect && bias ? bias + j : nullptr);
    }
  }
  if (HAS_MATRICES && WORDS == Words::pairs) finishMatrices();
  if (isDirect) {
    if (p.isPast) finishStores();
    return;
  }
  for (int64_t i = 0; i < rows; i++) {
    const float* sum = sums + i * SUM_STRIDE<WORDS>;
    StoredC* to = c + i * p.cStride;
    forLanes(columns, [&](int64_t j, int64_t width) {
      Vec value = load(sum + j);
      if (adds) value = loadWidth(to + j, width) + value;
      if (bias) value = value + loadWidth(bias + j, width);
      storeWidth(to + j, value, width);
    });
  }
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

#if defined(__AMX_BF16__)

// The product of few rows by turned.h. False if B's rows are no words.
static inline bool productTurned(const SaccadeLaunch& launch, const Product<Bf16, Bf16>& p) {
  constexpr Words WORDS = Words::pairs;
  const float* words = rowsInPlace<WORDS>(p.b.data, p.b.stride, p.depth);
  if (!words) return false;
  const int64_t stride = wordsIn<WORDS>(p.b.stride), deep = wordsIn<WORDS>(p.depth);
  const TurnedRows x = packTurned(launch, p.a, p.rows, p.depth);
  const int64_t groups = divideUp(p.columns, TURNED_ROWS), threads = launch.runtime->threads;
  const double work = (double)p.columns * (double)p.depth;
  parallelFor(launch, groups, 0.2 * work, [&](int64_t group, int32_t) {
    const int64_t n = group * TURNED_ROWS, count = smaller(TURNED_ROWS, p.columns - n);
    // While all threads take groups in turn, this one's next is so many further on.
    const int64_t next = smaller(group + threads, groups - 1) * TURNED_ROWS;
    alignas(64) float sums[TURNED_ROWS * TURNED_WIDTH];
    turnedSums(words + n * stride, stride, count, deep, x, words + next * stride, sums);
    finishMatrices();
    for (int64_t i = 0; i < p.rows; i++) {
      float row[TURNED_ROWS];
      for (int64_t j = 0; j < count; j++) row[j] = sums[j * x.width + i];
      Bf16* to = p.c + i * p.cStride + n;
      forLanes(count, [&](int64_t j, int64_t width) {
        Vec value = loadWidth(row + j, width);
        if (p.accumulate) value = loadWidth(to + j, width) + value;
        if (p.bias) value = value + loadWidth(p.bias + n + j, width);
        storeWidth(to + j, value, width);
      });
    }
  });
  return true;
}

#endif

// Rows of A as words with neighbors along the depth side by side, in place or copied once for all columns: a panel
// is so narrow that copies for each take long. 32 rows in the measurement of few-rows.h 15.3 ms, with those 21.7.
template <Words WORDS, class Stored>
static inline RowsOfA someRowsOfA(const SaccadeLaunch& launch, const Source<Stored>& a, int64_t rows,
                                  int64_t depth) {
  const float* words = a.depthStride == 1 ? rowsInPlace<WORDS>(a.data, a.stride, depth) : nullptr;
  if (words && (rows <= 4 || !collides(wordsIn<WORDS>(a.stride)))) {
    return {words, wordsIn<WORDS>(a.stride), false};
  }
  // Whole vectors of words are stored, and a line more keeps rows from falling into the same sets.
  const int64_t stride = roundUp(wordsIn<WORDS>(depth), LANES) + LANES;
  float* copy = scratchFloats(launch, roundUp(rows, LANES) * stride);
  if (a.depthStride == 1) {
    parallelFor(launch, rows, 0.1 * (double)(rows * depth), [&](int64_t i, int32_t) {
      copyRows<WORDS>(copy + i * stride, stride, a.data + i * a.stride, a.stride, 1, depth);
    });
  } else {
    copyTurned<WORDS>(copy, stride, a.data, a.depthStride, rows, depth);
  }
  return {copy, stride, false};
}

// The product of at most SOME_ROWS rows.
template <class Stored, class StoredC>
static inline void productOfSome(const SaccadeLaunch& launch, const ProductSpace& space,
                                const Product<Stored, StoredC>& p, int64_t stretch) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  const int64_t panels = divideUp(p.columns, PANEL);
  const RowsOfA a = someRowsOfA<WORDS>(launch, p.a, p.rows, p.depth);
  const double work = (double)p.columns * (double)p.depth;
  parallelFor(launch, panels, nanosecondsOf(2.0 * (double)p.rows * work) + 0.2 * work,
              [&](int64_t panel, int32_t worker) {
                const int64_t column = panel * PANEL, columns = smaller(PANEL, p.columns - column);
                for (int64_t from = 0; from < p.depth; from += stretch) {
                  multiplyItem(p, 0, p.rows, column, columns, from,
                               smaller(stretch, p.depth - from), nullptr, nullptr,
                               space.sums + worker * ITEM_SUMS<WORDS>,
                               space.blocks + worker * DEPTH_BLOCK * PANEL, a);
                }
              });
}

// The sums of productOfSome, for few rows and B that is read from memory.
template <class Stored, class StoredC>
static inline void productOfFew(const SaccadeLaunch& launch, const Product<Stored, StoredC>& p,
                                int64_t stretch) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  constexpr int64_t BLOCK = DEPTH_OF<WORDS>;
  const float* x = fewRowsOfA<WORDS>(launch, p.a, p.rows, p.depth);
  // Whole lines of C, so that no two threads write one.
  constexpr int64_t TOGETHER = larger(PANEL, 64 / (int64_t)sizeof(StoredC));
  const int64_t items = divideUp(p.columns, TOGETHER), threads = launch.runtime->threads;
  const double work = (double)p.columns * (double)p.depth;
  const double nanoseconds = nanosecondsOf(2.0 * (double)p.rows * work) + 0.2 * work;
  parallelFor(launch, items, nanoseconds, [&](int64_t item, int32_t) {
    const int64_t first = item * TOGETHER, end = smaller(first + TOGETHER, p.columns);
    for (int64_t column = first; column < end; column += LANES) {
      // While all threads take items in turn, this one's next is so many further on.
      const int64_t later = smaller(item + threads, items - 1) * TOGETHER;
      const int64_t next = column + LANES < end ? column + LANES : later;
      const int64_t width = smaller(LANES, end - column);
      const StreamedColumns<Stored> columns{p.b.data + column * p.b.stride, p.b.stride, width, p.depth,
                                            p.b.data + next * p.b.stride};
      Vec chain[FEW_ROWS], sums[FEW_ROWS];
      for (int64_t from = 0; from < p.depth; from += stretch) {
        const int64_t to = smaller(from + stretch, p.depth);
        for (int64_t k = from; k < to; k += BLOCK) {
          chainOfFew(p.rows, x + wordsIn<WORDS>(k) * p.rows, columns, k, smaller(k + BLOCK, to), chain);
          for (int64_t i = 0; i < p.rows; i++) sums[i] = k > from ? sums[i] + chain[i] : chain[i];
        }
        const bool adds = from > 0 || p.accumulate, isLast = to == p.depth;
        for (int64_t i = 0; i < p.rows; i++) {
          StoredC* c = p.c + i * p.cStride + column;
          Vec value = sums[i];
          if (adds) value = loadWidth(c, width) + value;
          if (isLast && p.bias) value = value + loadWidth(p.bias + column, width);
          storeWidth(c, value, width);
        }
      }
    }
  });
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
    return productOfSome(launch, space, p, stretch);
  }
  const int64_t rowItems = divideUp(p.rows, ROW_BLOCK);
  const int64_t rowsEach = divideUp(p.rows, rowItems);
  for (int64_t column = 0; column < p.columns; column += most) {
    const int64_t columns = smaller(most, p.columns - column);
    const int64_t panels = divideUp(columns, PANEL);
    // Enough items for the threads to even out.
    const int64_t pieces = larger(divideUp(columns, COLUMNS_OF<WORDS>), divideUp(threads * 4, rowItems));
    const int64_t panelsEach = divideUp(panels, smaller(panels, pieces));
    const int64_t columnItems = divideUp(panels, panelsEach);
    for (int64_t from = 0; from < p.depth; from += stretch) {
      const int64_t depth = smaller(stretch, p.depth - from);
      const int64_t panelWords = wordsIn<WORDS>(depth) * PANEL;
      const int64_t panelsPerPack = divideUp(panels, threads * 4);
      parallelFor(launch, divideUp(panels, panelsPerPack), 0.3 * (double)(columns * depth),
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
