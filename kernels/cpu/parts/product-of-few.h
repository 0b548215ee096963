// The product of few rows, as decoding has it: B is read from memory once, and written at most to the cache of
// the thread that reads it. The sums are those of product.h.
//
// Up to FEW_OF rows turn columns in registers (few-rows.h), and matrices have chains of their own (turned.h).
// What lies between packs a block of a panel, or a step of it, and meets it from L1.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "few-rows.h"
#include "product-form.h"
#if defined(__AMX_BF16__)
#include "turned.h"
#endif

namespace saccade {
namespace SACCADE_ISA {

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

// Whether some rows meet weights that come from memory in steps, and ask meanwhile for steps that come later:
// not where a block of matrices is one chain, nor with AVX2, which takes longer to multiply than to read.
template <Words WORDS>
constexpr bool HAS_STEPS = LANES == 16 && !(HAS_MATRICES && WORDS == Words::pairs);
// Depth of a step in words: twice as many as a panel has columns, so that a tile that goes through them asks for
// two lines of each. With half of it tiles would load and store their sums twice as often.
constexpr int64_t SOME_DEPTH = 2 * PANEL;
// Panels that meet a block of the rows one after the other, while it is in L2. Without steps there is one: whole
// columns come faster.
constexpr int64_t SOME_PANELS = 4;
// How many steps ahead of its products it asks for them.
constexpr int64_t SOME_AHEAD = 3;

// The place of a thread among its steps: block by block of depth, in each of them panel by panel.
template <class Stored>
struct SomeStep {
  static constexpr Words WORDS = WordsOf<Stored>::value;
  static constexpr int64_t BLOCK = DEPTH_OF<WORDS>;
  static constexpr int64_t DEPTH = SOME_DEPTH * (BLOCK / DEPTH_BLOCK);
  const Source<Stored>& b;
  int64_t columns, depth;
  // Where the panels begin, and those that follow.
  int64_t first, later;
  int64_t block = 0, panel = 0, k = 0;

  int64_t column() const { return first + panel * PANEL; }
  int64_t width() const { return smaller(PANEL, columns - column()); }
  const Stored* data() const { return b.data + column() * b.stride + k; }

  void go() {
    k += DEPTH;
    if (k < smaller(block + BLOCK, depth)) return;
    k = block;
    if (++panel < SOME_PANELS && column() < columns) return;
    panel = 0;
    k = block += BLOCK;
    if (k < depth) return;
    k = block = 0;
    first = later;
  }
};

// All rows meet a step of a panel that is packed, and ask meanwhile for the one `ahead`.
template <Words WORDS, class Stored>
static inline void meetStep(const RowsOfA& a, int64_t rows, int64_t k, int64_t words, int64_t width,
                            const float* packed, const SomeStep<Stored>& ahead, float* sums, Into into) {
  // Two at least: each asks for two lines of a column.
  int64_t tiles = larger(2, divideUp(rows, TILE_ROWS));
  const bool fetches = width > LANES && ahead.width() == PANEL;
  const char* line = (const char*)ahead.data();
  const char* end = (const char*)(ahead.data() + SomeStep<Stored>::DEPTH);
  for (int64_t i = 0, count; i < rows; i += count, tiles--, line += SOME_DEPTH / PANEL * LINE_BYTES) {
    count = divideUp(rows - i, tiles);
    const TileFunction tile =
        fetches && line < end ? fetchingTileFor(count, WORDS)
                              : tileFor(count, width > LANES ? 2 : 1, Rows::contiguousDepth, WORDS);
    tile(words, a.words + i * a.stride + wordsIn<WORDS>(k), a.stride, packed, PANEL, sums + i * PANEL,
         PANEL, width, into, nullptr, {line, ahead.b.stride * (int64_t)sizeof(Stored)});
  }
}

// Panels of a product of some rows, from `column` on, in steps or one by itself; after them the thread takes
// those from `later` on. `packed` is a panel of a block, `part` SOME_ROWS rows of a panel, `sums` as much for
// each panel.
template <bool IN_STEPS, class Stored, class StoredC>
static inline void multiplySome(const Product<Stored, StoredC>& p, const RowsOfA& a, int64_t column,
                                int64_t later, int64_t stretch, float* packed, float* part, float* sums) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  constexpr int64_t BLOCK = DEPTH_OF<WORDS>, SUMS = SOME_ROWS * PANEL;
  constexpr int64_t STEP = IN_STEPS ? SomeStep<Stored>::DEPTH : BLOCK;
  const int64_t panels = smaller(IN_STEPS ? SOME_PANELS : 1, divideUp(p.columns - column, PANEL));
  SomeStep<Stored> ahead{p.b, p.columns, p.depth, column, later};
  for (int64_t i = 0; i < SOME_AHEAD; i++) ahead.go();
  for (int64_t from = 0; from < p.depth; from += stretch) {
    const int64_t to = smaller(from + stretch, p.depth);
    for (int64_t block = from; block < to; block += BLOCK) {
      const int64_t end = smaller(block + BLOCK, to);
      for (int64_t panel = 0; panel < panels; panel++) {
        const int64_t first = column + panel * PANEL, width = smaller(PANEL, p.columns - first);
        float* out = block == from ? sums + panel * SUMS : part;
        for (int64_t k = block; k < end; k += STEP) {
          const int64_t words = wordsIn<WORDS>(smaller(STEP, end - k));
          packPanelByColumns<WORDS>(packed, p.b.data + first * p.b.stride + k, p.b.stride, width,
                                    smaller(STEP, end - k));
          const Into into = k == block ? Into::overwrite : Into::chain;
          if constexpr (IN_STEPS) {
            meetStep<WORDS>(a, p.rows, k, words, width, packed, ahead, out, into);
            ahead.go();
          } else {
            multiplyRows<WORDS>({a.words + wordsIn<WORDS>(k), a.stride, false}, p.rows, width, words,
                                {packed, 0, PANEL}, out, PANEL, into);
          }
        }
        for (int64_t i = 0; block > from && i < p.rows * PANEL; i += LANES) {
          float* sum = sums + panel * SUMS + i;
          store(sum, load(sum) + load(part + i));
        }
      }
    }
    for (int64_t panel = 0; panel < panels; panel++) {
      const int64_t first = column + panel * PANEL;
      finishSums(p.rows, smaller(PANEL, p.columns - first), sums + panel * SUMS, PANEL, p.c + first,
                 p.cStride, from > 0 || p.accumulate,
                 to == p.depth && p.bias ? p.bias + first : nullptr);
    }
  }
  if (HAS_MATRICES && WORDS == Words::pairs) finishMatrices();
}

// The product of at most SOME_ROWS rows.
template <bool IN_STEPS, class Stored, class StoredC>
static inline void productOfSome(const SaccadeLaunch& launch, const ProductSpace& space,
                                const Product<Stored, StoredC>& p, int64_t stretch) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  constexpr int64_t TOGETHER = (IN_STEPS ? SOME_PANELS : 1) * PANEL;
  const int64_t items = divideUp(p.columns, TOGETHER), threads = launch.runtime->threads;
  const RowsOfA a = someRowsOfA<WORDS>(launch, p.a, p.rows, p.depth);
  const double work = (double)p.columns * (double)p.depth;
  parallelFor(launch, items, nanosecondsOf(2.0 * (double)p.rows * work) + 0.2 * work,
              [&](int64_t item, int32_t worker) {
                // While all threads take items in turn, this one's next is so many further on.
                const int64_t later = smaller(item + threads, items - 1) * TOGETHER;
                float* sums = space.sums + worker * ITEM_SUMS<WORDS>;
                multiplySome<IN_STEPS>(p, a, item * TOGETHER, later, stretch,
                                       space.blocks + worker * DEPTH_BLOCK * PANEL,
                                       sums + SOME_ROWS * TOGETHER, sums);
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
      Vec chain[FEW_OF<Stored>], sums[FEW_OF<Stored>];
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

}  // namespace SACCADE_ISA
}  // namespace saccade
