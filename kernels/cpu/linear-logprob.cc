// Log-probability and entropy of targets under softmax(hidden·weightᵀ/temperature), and gradients,
// without an [N,V] array.
//
// Layout: hidden [N,D], weight [V,D], targets [N], −1 for a row to leave out.
// Forward: a thread owns 192 rows × 256 vocabulary entries at a time (parts/vocabulary.h).
// Backward: for 384 entries × 1024 rows at a time, a thread owns 112 entries: it recomputes their
// logits, turns them into ∂z and multiplies by the rows for its own part of ∂weight. Then the
// threads share the columns of ∂hidden += ∂z·weight. Both sums go over rows and vocabulary in
// order, without atomics; ∂z stays in cache.
#include "parts/rows.h"
#include "parts/vocabulary.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

int checkTemperature(const SaccadeLaunch& launch, double temperature) {
  if (temperature > 0) return 0;
  return fail(launch, "temperature is %g, expected more than 0.", temperature);
}

template <class Stored, class Weight>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const int32_t* targets = ints(*launch, 2);
  float* logprobs = floats(*launch, 3);
  float* entropy = floats(*launch, 4);
  float* lse = floats(*launch, 5);
  const double temperature = launch->scalars[0];
  if (checkTemperature(*launch, temperature)) return 1;
  if (checkIndices(*launch, "targets", targets, N, -1, V)) return 1;

  const Vocabulary<Stored, Weight> vocabulary{stored<Stored>(*launch, 0), stored<Weight>(*launch, 1),
                                              N, D, V, (float)(1.0 / temperature)};
  const int64_t folds = vocabulary.folds();
  FoldPart* parts = scratchArray<FoldPart>(*launch, N * folds);
  float* chosen = scratchFloats(*launch, N);
  forLogits(*launch, vocabulary,
            [&](int64_t row, int64_t fold, const float* z, int64_t first, int64_t count) {
              parts[row * folds + fold] = foldLogits(z, count);
              const int64_t target = targets[row] - first;
              if (target >= 0 && target < count) chosen[row] = z[target];
            });
  parallelFor(*launch, N, 50.0 * (double)(N * folds), [&](int64_t n, int32_t) {
    FoldState state;
    for (int64_t f = 0; f < folds; f++) state.merge(parts[n * folds + f]);
    const bool kept = targets[n] >= 0;
    logprobs[n] = kept ? (float)((double)chosen[n] - state.lse()) : 0.0f;
    entropy[n] = kept ? (float)state.entropy() : 0.0f;
    lse[n] = kept ? (float)state.lse() : 0.0f;
  });
  return 0;
}

constexpr int64_t ROWS = 1024;
// One block of depth for ∂hidden, so that it needs no memory for sums of several.
template <Words WORDS>
constexpr int64_t ENTRIES_OF = DEPTH_OF<WORDS>;
// Columns of ∂hidden a thread owns at a time at most; it packs 384 × 128 words of the head, 192 KiB.
// Four lines of each of its rows: single ones, pages apart, come too slowly.
constexpr int64_t HIDDEN_COLUMNS = 4 * PANEL;

// The values of a row that its logits' gradients use, with lanes over rows; 0 in rows left out.
struct RowGradients {
  const float* kept;
  const float* logprob;
  const float* entropyGradient;
  const float* lse;
  const float* entropy;
};

// z of one entry and `rows` rows becomes ∂L/∂z/temperature, but for the target's own term:
//   ∂z = ∂logprob·(1[target] − p) − ∂entropy·p·(ln p + H)
void differentiateLogits(float* z, int64_t rows, const RowGradients& row, float inverse) {
  forLanes(rows, [&](int64_t n, int64_t width) {
    const Vec logP = loadWidth(z + n, width) * splat(inverse) - loadWidth(row.lse + n, width);
    const Vec p = exponential(logP);
    const Vec pull = fma(loadWidth(row.entropyGradient + n, width),
                         logP + loadWidth(row.entropy + n, width), loadWidth(row.logprob + n, width));
    const Vec gradient = -(p * pull) * splat(inverse);
    // A row left out may hold NaN.
    const Vec kept = loadWidth(row.kept + n, width);
    storeWidth(z + n, selectGreater(kept, Vec{}, gradient, Vec{}), width);
  });
}

// ∂z is rounded to bf16 where products of pairs take it; elsewhere it stays float32.
template <Words WORDS>
struct LogitGradient {
  using Type = float;
};
template <>
struct LogitGradient<Words::pairs> {
  using Type = Bf16;
};

// ∂z of pairs a second time, for ∂hidden: words along the vocabulary with the rows side by side, in
// blocks of ROW_BLOCK rows. Float32 needs none: a word is one entry, and ∂z has the rows side by side.
constexpr int64_t PAIRS_BLOCK = ENTRIES_OF<Words::pairs> / 2 * ACROSS_STRIDE;

// Entries [first, first + count) from z[entry · stride + row]; `first` is even.
void writePairs(float* to, const float* z, int64_t stride, int64_t first, int64_t count, int64_t rows) {
  for (int64_t row = 0; row < rows; row += ROW_BLOCK) {
    float* block = to + row / ROW_BLOCK * PAIRS_BLOCK + first / 2 * ACROSS_STRIDE;
    for (int64_t j = 0; j < count; j += 2, block += ACROSS_STRIDE) {
      const float* own = z + j * stride + row;
      forLanes(smaller(ROW_BLOCK, rows - row), [&](int64_t n, int64_t width) {
        const Vec next = j + 1 < count ? loadWidth(own + stride + n, width) : Vec{};
        store(block + n, pairOf(loadWidth(own + n, width), next));
      });
    }
  }
}

// Float32 values of all rows, from what gives that of one.
template <class ValueOf>
const float* perRow(const SaccadeLaunch& launch, int64_t N, ValueOf valueOf) {
  float* values = scratchFloats(launch, N);
  for (int64_t n = 0; n < N; n++) values[n] = valueOf(n);
  return values;
}

// Operands: dLogprobs, dEntropy, hidden, weight, targets, logprobs, entropy, lse, dHidden, dWeight.
template <class Stored, class Weight>
int backward(const SaccadeLaunch* launch) {
  constexpr Words WORDS = Vocabulary<Stored, Weight>::WORDS;
  constexpr int64_t ENTRIES = ENTRIES_OF<WORDS>;
  using Logit = typename LogitGradient<WORDS>::Type;
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const float* dLogprobs = floats(*launch, 0);
  const float* dEntropy = floats(*launch, 1);
  const Stored* hidden = stored<Stored>(*launch, 2);
  const Weight* weight = stored<Weight>(*launch, 3);
  const int32_t* targets = ints(*launch, 4);
  const float* entropy = floats(*launch, 6);
  const float* lse = floats(*launch, 7);
  Stored* dHidden = stored<Stored>(*launch, 8);
  float* dWeight = floats(*launch, 9);
  const double temperature = launch->scalars[0];
  if (checkTemperature(*launch, temperature)) return 1;
  if (checkIndices(*launch, "targets", targets, N, -1, V)) return 1;
  if ((!dLogprobs && !dEntropy) || N == 0 || V == 0) {
    zero(dHidden, N * D);
    zero(dWeight, V * D);
    return 0;
  }
  const int64_t threads = launch->runtime->threads;
  const int64_t mostRows = smaller(ROWS, N), stride = roundUp(mostRows, LANES) + LANES;
  const Vocabulary<Stored, Weight> p{hidden, weight, N, D, V, (float)(1.0 / temperature)};
  const float* kept = perRow(*launch, N, [&](int64_t n) { return targets[n] < 0 ? 0.0f : 1.0f; });
  const RowGradients all{
      kept, perRow(*launch, N, [&](int64_t n) { return dLogprobs ? dLogprobs[n] : 0.0f; }),
      perRow(*launch, N, [&](int64_t n) { return dEntropy ? dEntropy[n] : 0.0f; }), lse, entropy};
  const float* across = packHidden(*launch, p);
  float* hiddenSums = sumsOf(*launch, dHidden, N * D);
  const int64_t depthPanels = divideUp(D, PANEL);
  float* hiddenPanels = scratchFloats(*launch, depthPanels * PANEL * wordsIn<WORDS>(mostRows));
  float* copies = scratchFloats(*launch, threads * ROW_COPY);
  // A product of no more than one block of depth needs none.
  const int64_t sumFloats = mostRows > DEPTH_OF<WORDS> ? ITEM_SUMS<WORDS> : 0;
  float* sums = scratchFloats(*launch, threads * sumFloats);
  // Columns of ∂hidden of an item, so many that no thread is without.
  const int64_t share = roundUp(divideUp(D, threads), PANEL);
  const int64_t hiddenColumns = smaller(HIDDEN_COLUMNS, larger(PANEL, share));
  // Turned logits of an item, then the head's columns that an item packs.
  const int64_t spareWords = larger(ROW_BLOCK * stride, hiddenColumns * wordsIn<WORDS>(ENTRIES));
  float* spare = scratchFloats(*launch, threads * spareWords);
  Logit* dz = scratchArray<Logit>(*launch, ENTRIES * stride);
  constexpr bool ARE_PAIRS = WORDS == Words::pairs;
  float* pairs = scratchFloats(*launch, ARE_PAIRS ? divideUp(mostRows, ROW_BLOCK) * PAIRS_BLOCK : 0);

  for (int64_t row = 0; row < N; row += ROWS) {
    const int64_t rows = smaller(ROWS, N - row);
    const int64_t panelWords = wordsIn<WORDS>(rows) * PANEL;
    const RowGradients own{all.kept + row, all.logprob + row, all.entropyGradient + row,
                           all.lse + row, all.entropy + row};
    parallelFor(*launch, depthPanels, 0.3 * (double)(rows * D), [&](int64_t panel, int32_t) {
      float* panels = hiddenPanels + panel * panelWords;
      packPanels<WORDS>(panels, Source<Stored>{hidden, 1, D}, panel * PANEL,
                        smaller(PANEL, D - panel * PANEL), row, rows);
      // Their ∂z is 0, but they may hold NaN.
      for (int64_t n = 0; n < rows; n++) {
        if (targets[row + n] < 0) clearDepth<WORDS>(panels, n);
      }
    });
    for (int64_t column = 0; column < V; column += ENTRIES) {
      const int64_t columns = smaller(ENTRIES, V - column);
      const double flops = 2.0 * (double)rows * (double)(columns * D);
      // Blocks of about the same height, for all threads.
      const int64_t blocks = roundUp(divideUp(columns, ROW_BLOCK), threads);
      const int64_t each = roundUp(divideUp(columns, blocks), 2);
      parallelFor(*launch, divideUp(columns, each), nanosecondsOf(2 * flops),
                  [&](int64_t item, int32_t worker) {
        const int64_t first = item * each, count = smaller(each, columns - first);
        float* z = spare + worker * spareWords;
        float* copy = copies + worker * ROW_COPY;
        turnedLogits(p, across, row, rows, column + first, count, copy, z, stride);
        for (int64_t j = 0; j < count; j++) {
          differentiateLogits(z + j * stride, rows, own, p.inverseTemperature);
        }
        for (int64_t n = 0; n < rows; n++) {
          const int64_t entry = targets[row + n] - column - first;
          if (entry < 0 || entry >= count) continue;
          z[entry * stride + n] = z[entry * stride + n] + own.logprob[n] * p.inverseTemperature;
        }
        for (int64_t j = 0; j < count; j++) {
          convertRun(dz + (first + j) * stride, z + j * stride, rows);
        }
        if (ARE_PAIRS && dHidden) writePairs(pairs, z, stride, first, count, rows);
        if (!dWeight) return;
        Product<Logit, Stored, float> ofWeight{
            columns, D, rows, {dz, stride, 1}, {}, dWeight + column * D, D};
        ofWeight.accumulate = row > 0;
        ofWeight.isPast = N <= ROWS;
        constexpr int64_t COLUMNS = COLUMNS_OF<WORDS>;
        for (int64_t d = 0; d < D; d += COLUMNS) {
          multiplyItem(ofWeight, first, count, d, smaller(COLUMNS, D - d), 0, rows,
                       hiddenPanels + d / PANEL * panelWords, copy, sums + worker * sumFloats);
        }
      });
      if (!dHidden) continue;
      parallelFor(*launch, divideUp(D, hiddenColumns), nanosecondsOf(flops),
                  [&](int64_t item, int32_t worker) {
        const int64_t d = item * hiddenColumns, width = smaller(hiddenColumns, D - d);
        float* panels = spare + worker * spareWords;
        packPanels<WORDS>(panels, Source<Weight>{weight, 1, D}, d, width, column, columns);
        const int64_t depth = wordsIn<WORDS>(columns);
        for (int64_t n = 0; n < rows; n += ROW_BLOCK) {
          const RowsOfA a = ARE_PAIRS
              ? RowsOfA{pairs + n / ROW_BLOCK * PAIRS_BLOCK, ACROSS_STRIDE, true}
              : RowsOfA{inPlace(dz + n), stride, true};
          multiplyRows<WORDS>(a, smaller(ROW_BLOCK, rows - n), width, depth,
                              {panels, depth * PANEL, PANEL}, hiddenSums + (row + n) * D + d, D,
                              column > 0 ? Into::add : Into::overwrite);
        }
      });
    }
  }
  roundSums(*launch, dHidden, hiddenSums, N * D);
  return 0;
}

}  // namespace

SACCADE_KERNEL(linearLogprob,
               "hidden[N,D]' weight[V,D]+~ targets[N]# -> logprobs[N]'! entropy[N]'! "
               "lse[N]! ; temperature",
               SACCADE_WEIGHTED(forward), SACCADE_WEIGHTED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
