// What products of many rows and of few have in common: operands, workspace, what is packed, and how sums
// become a result (product.h).
#pragma once

#include "kernel-entry.h"
#include "pack.h"
#include "rows-of-a.h"

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

// C = sums, or C + sums, and the bias last, for rows of sums `stride` apart.
template <class StoredC>
static inline void finishSums(int64_t rows, int64_t columns, const float* sums, int64_t stride, StoredC* c,
                              int64_t cStride, bool adds, const float* bias) {
  for (int64_t i = 0; i < rows; i++) {
    const float* sum = sums + i * stride;
    StoredC* to = c + i * cStride;
    forLanes(columns, [&](int64_t j, int64_t width) {
      Vec value = load(sum + j);
      if (adds) value = loadWidth(to + j, width) + value;
      if (bias) value = value + loadWidth(bias + j, width);
      storeWidth(to + j, value, width);
    });
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
