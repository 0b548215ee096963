// Logits of some rows against a stretch of the vocabulary, folded at once into what the softmax
// needs. linearLogprob and linearSample share every function here, so the log-probability recorded
// while sampling has the bits of the one recomputed for training.
//
// The rows are packed once, with lanes over rows, and the head is read where it lies, a word of it
// for all rows at a time: it is large and used once, so turning it costs more than turning the few
// logits. Where there are so few rows that memory is what they wait for, few-rows.h turns it. A thread
// owns FOLD entries × 192 rows. Packing the head instead, 2048 entries of it for all threads, took
// 1741 ms where this takes 926, and without fetching the head ahead 1206 (Cascade Lake, two
// hyperthreads, N 128, D 2048, V 151936, float32, in turns).
//
// The vocabulary is cut at multiples of FOLD. Each piece gives m = max z, s = Σ e^(z−m) and
// t = Σ e^(z−m)·(z−m); the pieces are merged in order, in double. Then lse = m + ln s and the
// entropy is ln s − t/s, which does not cancel.
#pragma once

#include <math.h>

#include "math.h"
#include "product.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t FOLD = 256;
// Rows of one item at most: FOLD × 192 logits are 192 KiB, a part of L2.
constexpr int64_t FOLD_ROWS = 192;

struct FoldPart {
  float max;
  float sum;
  float weighted;
};

// The sums of a row over the entries so far.
struct FoldState {
  double max = -__builtin_inf();
  double sum = 0;
  double weighted = 0;

  void merge(const FoldPart& part) {
    const double partMax = (double)part.max;
    if (sum == 0) {
      max = partMax;
      sum = (double)part.sum;
      weighted = (double)part.weighted;
      return;
    }
    const double next = max > partMax ? max : partMax;
    const double shiftOld = max - next, shiftNew = partMax - next;
    const double scaleOld = exp(shiftOld), scaleNew = exp(shiftNew);
    weighted = scaleOld * (weighted + shiftOld * sum) +
               scaleNew * ((double)part.weighted + shiftNew * (double)part.sum);
    sum = scaleOld * sum + scaleNew * (double)part.sum;
    max = next;
  }
  double lse() const { return max + log(sum); }
  double entropy() const { return log(sum) - weighted / sum; }
};

static inline FoldPart foldLogits(const float* z, int64_t count) {
  // Whole vectors need no choice of lanes.
  const int64_t whole = count / LANES * LANES, rest = count - whole;
  const Vec inside = splat((float)rest);
  Vec most = splat(-__builtin_inff());
  for (int64_t j = 0; j < whole; j += LANES) most = maximum(most, load(z + j));
  if (rest > 0) {
    const Vec v = loadFirst(z + whole, rest);
    most = maximum(most, selectGreater(inside, laneIndex(), v, most));
  }
  const float highest = maxLanes(most);
  Vec sum{}, weighted{};
  for (int64_t j = 0; j < whole; j += LANES) {
    const Vec shifted = load(z + j) - splat(highest);
    const Vec p = exponentialBelow(shifted);
    sum = sum + p;
    weighted = weighted + p * shifted;
  }
  if (rest > 0) {
    const Vec shifted = loadFirst(z + whole, rest) - splat(highest);
    const Vec p = exponentialBelow(shifted);
    sum = sum + selectGreater(inside, laneIndex(), p, Vec{});
    weighted = weighted + selectGreater(inside, laneIndex(), p * shifted, Vec{});
  }
  return {highest, sumLanes(sum), sumLanes(weighted)};
}

template <class Stored>
struct Vocabulary {
  const Stored* hidden;
  const Stored* weight;
  int64_t N, D, V;
  float inverseTemperature;

  static constexpr Words WORDS = WordsOf<Stored>::value;
  // Words of one panel of hidden rows.
  int64_t panelWords() const { return wordsIn<WORDS>(D) * PANEL; }
  int64_t folds() const { return divideUp(V, FOLD); }
};

// The rows of `hidden` as columns of panels, the whole depth of a panel together.
template <class Stored>
static inline const float* packHidden(const SaccadeLaunch& launch, const Vocabulary<Stored>& p) {
  const int64_t panels = divideUp(p.N, PANEL);
  float* out = scratchFloats(launch, panels * p.panelWords());
  parallelFor(launch, panels, 0.3 * (double)(p.N * p.D), [&](int64_t panel, int32_t) {
    const Source<Stored> rows{p.hidden, p.D, 1};
    packPanels<Vocabulary<Stored>::WORDS>(out + panel * p.panelWords(), rows, panel * PANEL,
                                          smaller(PANEL, p.N - panel * PANEL), 0, p.D);
  });
  return out;
}

// Logits before the temperature, turned: z[entry · zStride + r] of entries [first, first + count)
// and rows [row, row + rows), where `row` begins a panel. `copy` is ROW_COPY words.
template <class Stored>
static inline void turnedLogits(const Vocabulary<Stored>& p, const float* panels, int64_t row,
                                int64_t rows, int64_t first, int64_t count, float* copy, float* z,
                                int64_t zStride) {
  constexpr Words WORDS = Vocabulary<Stored>::WORDS;
  constexpr int64_t BLOCK = DEPTH_OF<WORDS>;
  const Source<Stored> head{p.weight, p.D, 1};
  const float* columns = panels + row / PANEL * p.panelWords();
  int64_t blocks = divideUp(count, ROW_BLOCK);
  for (int64_t entry = 0, entries; entry < count; entry += entries, blocks--) {
    entries = divideUp(count - entry, blocks);
    for (int64_t k = 0; k == 0 || k < p.D; k += BLOCK) {
      const int64_t depth = smaller(BLOCK, p.D - k);
      const Stored* source = p.weight + (first + entry) * p.D + k;
      const RowsOfA a = rowsOfA<WORDS>(head, source, entries, depth, copy, rows <= PANEL);
      const float* block = columns + wordsIn<WORDS>(k) * PANEL;
      // Copied next: the following depths, or the first depths of the following entries.
      const bool isLast = k + depth >= p.D;
      const int64_t ahead = isLast ? smaller(BLOCK, p.D) : smaller(BLOCK, p.D - k - depth);
      const int64_t next = isLast ? smaller(entries, p.V - first - entry - entries) : entries;
      const Stored* following = isLast ? p.weight + (first + entry + entries) * p.D : source + depth;
      for (int64_t j = 0; j < rows; j += PANEL) {
        fetchPart(head, following, next, ahead, j, smaller(j + PANEL, rows), rows);
        // The next panel, or the first of the following depths.
        const float* panel = block + j / PANEL * p.panelWords();
        const float* panelNext = j + PANEL < rows
                                     ? panel + p.panelWords()
                                     : columns + (isLast ? 0 : wordsIn<WORDS>(k + depth) * PANEL);
        multiplyRows<WORDS>(a, entries, smaller(PANEL, rows - j), wordsIn<WORDS>(depth),
                            {panel, p.panelWords(), PANEL, panelNext},
                            z + entry * zStride + j, zStride,
                            k > 0 ? Into::add : Into::overwrite);
      }
    }
  }
  if (HAS_MATRICES && WORDS == Words::pairs) finishMatrices();
}

#if defined(__AMX_BF16__)
// Rows of `hidden` for turnedFew, if there are few and the head's rows are words; no words if not.
static inline TurnedRows fewRows(const SaccadeLaunch& launch, const Vocabulary<Bf16>& p) {
  const bool isFew = p.N > 0 && p.N <= TURNED_WIDTH && p.D > 0;
  if (!isFew || !rowsInPlace<Words::pairs>(p.weight, p.D, p.D)) return {nullptr, 0};
  return packTurned(launch, {p.hidden, p.D, 1}, p.N, p.D);
}
// turnedLogits of all rows by turned.h: the same bits. A thread comes to the entries at `next` next.
static inline void turnedFew(const Vocabulary<Bf16>& p, const TurnedRows& x, int64_t first,
                             int64_t count, int64_t next, float* z, int64_t zStride) {
  const float* head = (const float*)(const void*)p.weight;
  const int64_t deep = wordsIn<Words::pairs>(p.D);
  alignas(64) float sums[TURNED_ROWS * TURNED_WIDTH];
  for (int64_t entry = 0; entry < count; entry += TURNED_ROWS) {
    const int64_t rows = smaller(TURNED_ROWS, count - entry), later = entry + TURNED_ROWS;
    turnedSums(head + (first + entry) * deep, deep, rows, deep, x,
               head + (later < count ? first + later : next) * deep, sums);
    for (int64_t i = 0; i < rows; i++) {
      memcpy(z + (entry + i) * zStride, sums + i * x.width, (size_t)p.N * sizeof(float));
    }
  }
  finishMatrices();
}
#endif

// Logits of all rows, few as they are, of entries [first, first + count), by few-rows.h: the same bits as
// turnedLogits, over the temperature. A thread comes to the entries at `next` next.
template <class Stored>
static inline void fewLogits(const Vocabulary<Stored>& p, const float* x, int64_t first,
                             int64_t count, int64_t next, float* z, int64_t zStride) {
  constexpr Words WORDS = Vocabulary<Stored>::WORDS;
  constexpr int64_t BLOCK = DEPTH_OF<WORDS>;
  for (int64_t j = 0; j < count; j += LANES) {
    const int64_t width = smaller(LANES, count - j), following = j + LANES;
    const StreamedColumns<Stored> entries{
        p.weight + (first + j) * p.D, p.D, width, p.D,
        p.weight + (following < count ? first + following : next) * p.D};
    Vec chain[FEW_OF<Stored>], sums[FEW_OF<Stored>];
    for (int64_t k = 0; k == 0 || k < p.D; k += BLOCK) {
      chainOfFew(p.N, x + wordsIn<WORDS>(k) * p.N, entries, k, smaller(k + BLOCK, p.D), chain);
      for (int64_t i = 0; i < p.N; i++) sums[i] = k > 0 ? sums[i] + chain[i] : chain[i];
    }
    for (int64_t i = 0; i < p.N; i++) {
      storeWidth(z + i * zStride + j, sums[i] * splat(p.inverseTemperature), width);
    }
  }
}

// forLogits for few rows.
template <class Stored, class Body>
static inline void forLogitsOfFew(const SaccadeLaunch& launch, const Vocabulary<Stored>& p,
                                  const Body& body) {
  constexpr int64_t STRIDE = FOLD + LANES;
  const int64_t threads = launch.runtime->threads;
  const Source<Stored> hidden{p.hidden, p.D, 1};
  const float* x = fewRowsOfA<Vocabulary<Stored>::WORDS>(launch, hidden, p.N, p.D);
  float* logits = scratchFloats(launch, threads * p.N * STRIDE);
  const double flops = 2.0 * (double)p.N * (double)(p.V * p.D);
  parallelFor(launch, p.folds(), nanosecondsOf(flops), [&](int64_t fold, int32_t worker) {
    const int64_t first = fold * FOLD, count = smaller(FOLD, p.V - first);
    const int64_t next = smaller(fold + threads, p.folds() - 1) * FOLD;
    float* z = logits + worker * p.N * STRIDE;
    fewLogits(p, x, first, count, next, z, STRIDE);
    for (int64_t i = 0; i < p.N; i++) body(i, fold, z + i * STRIDE, first, count);
  });
}

// Calls body(row, fold, z, first, count) with the logits z[0, count) of vocabulary indices
// [first, first + count) for every row and fold, on all threads.
template <class Stored, class Body>
static inline void forLogits(const SaccadeLaunch& launch, const Vocabulary<Stored>& p,
                             const Body& body) {
  constexpr int64_t STRIDE = FOLD + LANES;
  const int64_t threads = launch.runtime->threads;
  // Matrices have chains of their own.
  const bool hasTurned = HAS_MATRICES && Vocabulary<Stored>::WORDS == Words::pairs;
  if (p.N > 0 && !hasTurned && streams<Stored>(p.N, p.V * p.D)) return forLogitsOfFew(launch, p, body);
#if defined(__AMX_BF16__)
  TurnedRows few{nullptr, 0};
  if constexpr (sizeof(Stored) == sizeof(Bf16)) few = fewRows(launch, p);
  const float* panels = few.words ? nullptr : packHidden(launch, p);
#else
  const float* panels = packHidden(launch, p);
#endif
  float* copies = scratchFloats(launch, threads * ROW_COPY);
  float* turned = scratchFloats(launch, threads * FOLD * FOLD_ROWS);
  float* logits = scratchFloats(launch, threads * LANES * STRIDE);
  // Enough items for the threads to even out, of whole panels.
  const int64_t pieces = larger(divideUp(p.N, FOLD_ROWS), divideUp(3 * threads, larger(1, p.folds())));
  const int64_t rowsEach = roundUp(divideUp(p.N, pieces), PANEL);
  const int64_t rowItems = rowsEach == 0 ? 0 : divideUp(p.N, rowsEach);
  const double flops = 2.0 * (double)p.N * (double)(p.V * p.D);
  parallelFor(launch, p.folds() * rowItems, nanosecondsOf(flops), [&](int64_t item, int32_t worker) {
    const int64_t fold = item / rowItems, row = item % rowItems * rowsEach;
    const int64_t rows = smaller(rowsEach, p.N - row);
    const int64_t first = fold * FOLD, count = smaller(FOLD, p.V - first);
    float* across = turned + worker * FOLD * FOLD_ROWS;
    float* z = logits + worker * LANES * STRIDE;
#if defined(__AMX_BF16__)
    if (few.words) {
      if constexpr (sizeof(Stored) == sizeof(Bf16)) {
        const int64_t next = smaller(fold + threads, p.folds() - 1) * FOLD;
        turnedFew(p, few, first, count, next, across, FOLD_ROWS);
      }
    } else
#endif
    turnedLogits(p, panels, row, rows, first, count, copies + worker * ROW_COPY, across, FOLD_ROWS);
    for (int64_t r = 0; r < rows; r += LANES) {
      const int64_t width = smaller(LANES, rows - r);
      for (int64_t j = 0; j < count; j += LANES) {
        Vec square[LANES];
        const float* corner = across + j * FOLD_ROWS + r;
        if (width == LANES && j + LANES <= count) {
          for (int64_t i = 0; i < LANES; i++) square[i] = load(corner + i * FOLD_ROWS);
          transpose(square);
          for (int64_t i = 0; i < LANES; i++) {
            store(z + i * STRIDE + j, square[i] * splat(p.inverseTemperature));
          }
          continue;
        }
        for (int64_t i = 0; i < LANES; i++) {
          square[i] = i < count - j ? loadWidth(corner + i * FOLD_ROWS, width) : Vec{};
        }
        transpose(square);
        for (int64_t i = 0; i < width; i++) {
          store(z + i * STRIDE + j, square[i] * splat(p.inverseTemperature));
        }
      }
      for (int64_t i = 0; i < width; i++) body(row + r + i, fold, z + i * STRIDE, first, count);
    }
  });
}

}  // namespace SACCADE_ISA
}  // namespace saccade
