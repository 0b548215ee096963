// Logits of some rows against a stretch of the vocabulary, folded at once into what the softmax
// needs. linearLogprob and linearSample share every function here, so the log-probability recorded
// while sampling has the bits of the one recomputed for training.
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
// Vocabulary packed at once: 2048 × 384 floats are 3 MiB.
constexpr int64_t STRETCH = 2048;
// Rows of one item; 24 × FOLD logits stay in L1.
constexpr int64_t FOLD_ROWS = 24;

struct FoldPart {
  float max;
  float sum;
  float weighted;
};

// What a row has seen so far.
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
  Vec most = splat(-__builtin_inff());
  forLanes(count, [&](int64_t j, int64_t width) {
    const Vec v = loadWidth(z + j, width);
    most = maximum(most, selectGreater(splat((float)width), laneIndex(), v, most));
  });
  const float highest = maxLanes(most);
  Vec sum{}, weighted{};
  forLanes(count, [&](int64_t j, int64_t width) {
    const Vec shifted = loadWidth(z + j, width) - splat(highest);
    const Vec p = exponential(shifted);
    const Vec inside = splat((float)width);
    sum = sum + selectGreater(inside, laneIndex(), p, Vec{});
    weighted = weighted + selectGreater(inside, laneIndex(), p * shifted, Vec{});
  });
  return {highest, sumLanes(sum), sumLanes(weighted)};
}

template <class Stored>
struct Vocabulary {
  const Stored* hidden;
  const Stored* weight;
  int64_t N, D, V;
  float inverseTemperature;
};

// All rows in float32, where they lie if they are.
static inline const float* widenRows(const SaccadeLaunch&, const float* rows, int64_t) {
  return rows;
}
static inline const float* widenRows(const SaccadeLaunch& launch, const Bf16* rows, int64_t count) {
  float* wide = scratchFloats(launch, count);
  convertRun(wide, rows, count);
  return wide;
}

// Calls body(row, fold, z, first, count) with the logits z[0, count) of vocabulary indices
// [first, first + count) for every row and fold, and atEnd(folds) after each stretch, between
// threads' work, when parts of folds [0, folds) of the stretch are complete.
template <class Stored, class Body, class AtEnd>
static inline void forLogits(const SaccadeLaunch& launch, const Vocabulary<Stored>& p, const Body& body,
                             const AtEnd& atEnd) {
  const int64_t threads = launch.runtime->threads;
  float* panels = scratchFloats(launch, smaller(STRETCH, roundUp(p.V, PANEL)) * p.D);
  float* logits = scratchFloats(launch, threads * FOLD_ROWS * FOLD);
  const float* hidden = widenRows(launch, p.hidden, p.N * p.D);
  const Source<Stored> source{p.weight, p.D, 1};
  for (int64_t from = 0; from < p.V; from += STRETCH) {
    const int64_t columns = smaller(STRETCH, p.V - from);
    const int64_t padded = roundUp(columns, PANEL);
    const int64_t packs = divideUp(columns, 2 * PANEL);
    parallelFor(launch, packs, 0.3 * (double)(columns * p.D), [&](int64_t item, int32_t) {
      const int64_t first = item * 2 * PANEL;
      for (int64_t k = 0; k < p.D; k += DEPTH_BLOCK) {
        const int64_t depth = smaller(DEPTH_BLOCK, p.D - k);
        packPanels(panels + k * padded + first * depth, source, from + first,
                   smaller(2 * PANEL, columns - first), k, depth);
      }
    });
    const int64_t folds = divideUp(columns, FOLD);
    const int64_t tiles = divideUp(p.N, FOLD_ROWS);
    parallelFor(launch, tiles * folds, nanosecondsOf(2.0 * (double)p.N * (double)(columns * p.D)),
                [&](int64_t item, int32_t worker) {
      const int64_t fold = item % folds, row = item / folds * FOLD_ROWS;
      const int64_t rows = smaller(FOLD_ROWS, p.N - row);
      const int64_t count = smaller(FOLD, columns - fold * FOLD);
      float* z = logits + worker * FOLD_ROWS * FOLD;
      for (int64_t k = 0; k < p.D; k += DEPTH_BLOCK) {
        const int64_t depth = smaller(DEPTH_BLOCK, p.D - k);
        multiplyPanels<Rows::contiguousDepth>(
            rows, count, depth, hidden + row * p.D + k, p.D,
            {panels + k * padded + fold * FOLD * depth, depth * PANEL, PANEL}, z, FOLD,
            k > 0 ? Into::add : Into::overwrite);
      }
      for (int64_t r = 0; r < rows; r++) {
        float* own = z + r * FOLD;
        forLanes(count, [&](int64_t j, int64_t width) {
          storeWidth(own + j, loadWidth(own + j, width) * splat(p.inverseTemperature), width);
        });
        body(row + r, fold, own, from + fold * FOLD, count);
      }
    });
    atEnd(folds);
  }
}

// Parts of one stretch, [N][STRETCH / FOLD].
constexpr int64_t FOLDS = STRETCH / FOLD;

}  // namespace SACCADE_ISA
}  // namespace saccade
