// Log-probability and entropy of targets under softmax(hidden·weightᵀ/temperature), and gradients,
// without an [N,V] array.
//
// Layout: hidden [N,D], weight [V,D], targets [N], −1 for a row to leave out.
// Forward: a thread owns 24 rows × 256 vocabulary entries at a time (common/vocabulary.h).
// Backward: blocks of 1024 rows × 512 entries of ∂z (2 MiB) are recomputed and feed two products,
// ∂hidden += ∂z·weight over the vocabulary in order and ∂weight += ∂zᵀ·hidden over the rows in
// order: no atomics, and each block of ∂weight is finished before the next begins.
#include "common/rows.h"
#include "common/vocabulary.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

int checkTemperature(const SaccadeLaunch& launch, double temperature) {
  if (temperature > 0) return 0;
  return fail(launch, "temperature is %g, expected more than 0.", temperature);
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const int32_t* targets = ints(*launch, 2);
  float* logprobs = floats(*launch, 3);
  float* entropy = floats(*launch, 4);
  float* lse = floats(*launch, 5);
  const double temperature = launch->scalars[0];
  if (checkTemperature(*launch, temperature)) return 1;
  if (checkIndices(*launch, "targets", targets, N, -1, V)) return 1;

  FoldPart* parts = scratchArray<FoldPart>(*launch, N * FOLDS);
  FoldState* states = scratchArray<FoldState>(*launch, N);
  float* chosen = scratchFloats(*launch, N);
  for (int64_t n = 0; n < N; n++) states[n] = FoldState();
  const Vocabulary<Stored> vocabulary{stored<Stored>(*launch, 0), stored<Stored>(*launch, 1), N, D, V,
                              (float)(1.0 / temperature)};
  forLogits(
      *launch, vocabulary,
      [&](int64_t row, int64_t fold, const float* z, int64_t first, int64_t count) {
        parts[row * FOLDS + fold] = foldLogits(z, count);
        const int64_t target = targets[row] - first;
        if (target >= 0 && target < count) chosen[row] = z[target];
      },
      [&](int64_t folds) {
        for (int64_t n = 0; n < N; n++) {
          for (int64_t f = 0; f < folds; f++) states[n].merge(parts[n * FOLDS + f]);
        }
      });
  for (int64_t n = 0; n < N; n++) {
    const bool kept = targets[n] >= 0;
    logprobs[n] = kept ? (float)((double)chosen[n] - states[n].lse()) : 0.0f;
    entropy[n] = kept ? (float)states[n].entropy() : 0.0f;
    lse[n] = kept ? (float)states[n].lse() : 0.0f;
  }
  return 0;
}

constexpr int64_t ROWS = 1024;
constexpr int64_t COLUMNS = 512;
// Not a multiple of 2 KiB, so that columns do not collide in the cache.
constexpr int64_t STRIDE = COLUMNS + LANES;

struct RowGradient {
  float logprob;
  float entropyGradient;
  float lse;
  float entropy;
  int64_t target;
};

// z of one row becomes ∂L/∂z/temperature:
//   ∂z = ∂logprob·(1[target] − p) − ∂entropy·p·(ln p + H)
void differentiateLogits(float* z, int64_t count, const RowGradient& row, float inverse) {
  forLanes(count, [&](int64_t j, int64_t width) {
    const Vec logP = loadWidth(z + j, width) * splat(inverse) - splat(row.lse);
    const Vec p = exponential(logP);
    const Vec pull = fma(splat(row.entropyGradient), logP + splat(row.entropy), splat(row.logprob));
    storeWidth(z + j, -(p * pull) * splat(inverse), width);
  });
  if (row.target >= 0 && row.target < count) {
    z[row.target] = z[row.target] + row.logprob * inverse;
  }
}

// Operands: dLogprobs, dEntropy, hidden, weight, targets, logprobs, entropy, lse, dHidden, dWeight.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2];
  const float* dLogprobs = floats(*launch, 0);
  const float* dEntropy = floats(*launch, 1);
  const Stored* hidden = stored<Stored>(*launch, 2);
  const Stored* weight = stored<Stored>(*launch, 3);
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
  const float inverse = (float)(1.0 / temperature);
  const ProductSpace space = productSpace(*launch);
  float* hiddenSums = sumsOf(*launch, dHidden, N * D);
  float* z = scratchFloats(*launch, smaller(ROWS, N) * STRIDE);
  for (int64_t column = 0; column < V; column += COLUMNS) {
    const int64_t columns = smaller(COLUMNS, V - column);
    for (int64_t row = 0; row < N; row += ROWS) {
      const int64_t rows = smaller(ROWS, N - row);
      product(*launch, space,
              Product<Stored, Stored>{rows, columns, D, {hidden + row * D, D, 1},
                                      {weight + column * D, D, 1}, z, STRIDE});
      parallelFor(*launch, divideUp(rows, 8), 0.5 * (double)(rows * columns),
                  [&](int64_t item, int32_t) {
        for (int64_t r = item * 8; r < smaller(rows, item * 8 + 8); r++) {
          const int64_t n = row + r;
          if (targets[n] < 0) {
            zero(z + r * STRIDE, columns);
            continue;
          }
          differentiateLogits(z + r * STRIDE, columns,
                              {dLogprobs ? dLogprobs[n] : 0.0f, dEntropy ? dEntropy[n] : 0.0f,
                               lse[n], entropy[n], targets[n] - column},
                              inverse);
        }
      });
      if (dHidden) {
        Product<float, Stored> p{rows, D, columns, {z, STRIDE, 1}, {weight + column * D, 1, D},
                                 hiddenSums + row * D, D};
        p.accumulate = column > 0;
        product(*launch, space, p);
      }
      if (dWeight) {
        Product<float, Stored> p{columns, D, rows, {z, 1, STRIDE}, {hidden + row * D, 1, D},
                                 dWeight + column * D, D};
        p.accumulate = row > 0;
        product(*launch, space, p);
      }
    }
  }
  roundSums(*launch, dHidden, hiddenSums, N * D);
  return 0;
}

}  // namespace

SACCADE_KERNEL(linearLogprob,
               "hidden[N,D]' weight[V,D]+ targets[N]# -> logprobs[N]'! entropy[N]'! "
               "lse[N]! ; temperature",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
