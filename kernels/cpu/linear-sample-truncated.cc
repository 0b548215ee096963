// Draws a token from the most likely ones of softmax(hidden·weightᵀ/temperature), with its exact
// log-probability among them.
//
// The logits of some rows are kept, 64 MiB of them at most: they are folded as in linear-logprob, the
// threshold of a row is found by its bits from the highest on, and the entries above it are folded and
// compared as in linear-sample. A row's threshold takes about two passes over its logits, since every
// bit halves the entries in question.
#include "parts/draw.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Logits of the rows at a time.
constexpr int64_t KEPT_LOGITS = 1 << 24;
// Less than any logit that is kept, but finite: its share of a weighted sum is 0, not NaN.
constexpr float LEFT_OUT = -3.0e38f;
// Probabilities are added in these units of the largest, as integers: in any order the same sum.
constexpr float MASS_UNITS = 0x1p36f;

struct Filters {
  int64_t topK;
  double topP, minP;
};

struct Entry {
  uint64_t mass;
  uint32_t order;
};

// As unsigned integers, orders are in the order of the logits. −0 counts as 0.
SACCADE_INLINE uint32_t orderOf(float z) {
  const float whole = z + 0.0f;
  uint32_t bits;
  memcpy(&bits, &whole, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
SACCADE_INLINE float logitOf(uint32_t order) {
  const uint32_t bits = order & 0x80000000u ? order & 0x7fffffffu : ~order;
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

// The largest order t for which the entries of order t or more weigh `needed`, which all of them do.
// An entry weighs `weightOf(entry)`. Entries change places.
template <class WeightOf>
uint32_t thresholdOf(Entry* entries, int64_t count, uint64_t needed, const WeightOf& weightOf) {
  uint32_t threshold = 0;
  uint64_t above = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    uint64_t weight = 0;
    int64_t high = 0;
    for (int64_t i = 0; i < count; i++) {
      const Entry entry = entries[i];
      if (!(entry.order & bit)) continue;
      weight += weightOf(entry);
      entries[i] = entries[high];
      entries[high++] = entry;
    }
    if (above + weight >= needed) {
      threshold |= bit;
      count = high;
    } else {
      above += weight;
      entries += high;
      count -= high;
    }
  }
  return threshold;
}

// The least logit that is kept of z[0, V), whose largest is `highest`; no logit is NaN or infinite.
float leastKept(const float* z, int64_t V, float highest, const Filters& filters, Entry* entries) {
  const bool limitsCount = filters.topK > 0 && filters.topK < V, limitsMass = filters.topP < 1;
  uint32_t threshold = 0;
  if (limitsCount) {
    for (int64_t j = 0; j < V; j++) entries[j] = {0, orderOf(z[j])};
    threshold = thresholdOf(entries, V, (uint64_t)filters.topK, [](const Entry&) { return (uint64_t)1; });
  }
  if (limitsMass) {
    int64_t count = 0;
    uint64_t mass = 0;
    for (int64_t j = 0; j < V; j += LANES) {
      float e[LANES];
      const int64_t width = smaller(LANES, V - j);
      store(e, exponential(loadWidth(z + j, width) - splat(highest)));
      for (int64_t i = 0; i < width; i++) {
        const Entry entry{(uint64_t)(e[i] * MASS_UNITS), orderOf(z[j + i])};
        if (entry.order < threshold) continue;
        entries[count++] = entry;
        mass += entry.mass;
      }
    }
    const uint64_t needed = (uint64_t)ceil(filters.topP * (double)mass);
    threshold = thresholdOf(entries, count, needed, [](const Entry& entry) { return entry.mass; });
  }
  const float least = threshold > 0 ? logitOf(threshold) : LEFT_OUT;
  if (filters.minP == 0) return least;
  const float byRatio = highest + (float)log(filters.minP);
  return byRatio > least ? byRatio : least;
}

int checkFilters(const SaccadeLaunch& launch, double temperature, const Filters& filters, double topK) {
  if (!(temperature > 0)) {
    return fail(launch, "temperature is %g, expected more than 0. Take linearSample for 0.", temperature);
  }
  if (!(topK >= 0) || topK != (double)filters.topK) {
    return fail(launch, "topK is %g, expected a whole number of at least 0.", topK);
  }
  if (!(filters.topP > 0 && filters.topP <= 1)) {
    return fail(launch, "topP is %g, expected more than 0 and at most 1.", filters.topP);
  }
  if (!(filters.minP >= 0 && filters.minP <= 1)) {
    return fail(launch, "minP is %g, expected at least 0 and at most 1.", filters.minP);
  }
  return 0;
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], V = launch->dims[2], Q = launch->dims[3];
  const Stored* hidden = stored<Stored>(*launch, 0);
  const int32_t* keys = ints(*launch, 2);
  int32_t* tokens = static_cast<int32_t*>(launch->operands[3]);
  float* logprobs = floats(*launch, 4);
  float* keptMass = floats(*launch, 5);
  const double temperature = launch->scalars[0], topK = launch->scalars[1];
  const Filters filters{topK >= 0 && topK < 0x1p53 ? (int64_t)topK : 0, launch->scalars[2],
                        launch->scalars[3]};
  if (Q != 4) return fail(*launch, "a key has %lld words, expected 4.", (long long)Q);
  if (V < 1) return fail(*launch, "the vocabulary is empty; there is nothing to draw.");
  if (checkFilters(*launch, temperature, filters, topK)) return 1;

  const int64_t threads = launch->runtime->threads;
  const int64_t rowsAtOnce = smaller(N, larger(1, KEPT_LOGITS / V));
  const int64_t folds = divideUp(V, FOLD);
  float* logits = scratchFloats(*launch, rowsAtOnce * V);
  FoldPart* parts = scratchArray<FoldPart>(*launch, rowsAtOnce * folds);
  Entry* entries = scratchArray<Entry>(*launch, threads * V);
  for (int64_t start = 0; start < N; start += rowsAtOnce) {
    const int64_t rows = smaller(rowsAtOnce, N - start);
    const Vocabulary<Stored> vocabulary{hidden + start * D, stored<Stored>(*launch, 1), rows, D, V,
                                        (float)(1.0 / temperature)};
    forLogits(*launch, vocabulary,
              [&](int64_t row, int64_t fold, const float* z, int64_t first, int64_t count) {
                memcpy(logits + row * V + first, z, (size_t)count * sizeof(float));
                parts[row * folds + fold] = foldLogits(z, count);
              });
    parallelFor(*launch, rows, 6.0 * (double)(rows * V), [&](int64_t row, int32_t worker) {
      float* z = logits + row * V;
      FoldState whole;
      float highest = LEFT_OUT;
      for (int64_t f = 0; f < folds; f++) {
        const FoldPart& part = parts[row * folds + f];
        whole.merge(part);
        highest = part.max > highest ? part.max : highest;
      }
      // Where a logit is NaN there is no threshold, and the log-prob becomes NaN.
      const bool isSound = __builtin_isfinite(whole.lse());
      const float least =
          isSound ? leastKept(z, V, highest, filters, entries + worker * V) : LEFT_OUT;
      FoldState kept;
      Candidate best{-__builtin_inff(), 0.0f, -1};
      for (int64_t f = 0; f < folds; f++) {
        if (isSound && parts[row * folds + f].max < least) continue;
        const int64_t first = f * FOLD, count = smaller(FOLD, V - first);
        forLanes(count, [&](int64_t j, int64_t width) {
          const Vec own = loadWidth(z + first + j, width);
          storeWidth(z + first + j, selectGreater(splat(least), own, splat(LEFT_OUT), own), width);
        });
        uint32_t words[FOLD];
        philoxWords(words, (uint32_t)(first / 4), keys + 4 * (start + row));
        const Candidate candidate = bestOf(z + first, words, first, count);
        kept.merge(foldLogits(z + first, count));
        if (best.token < 0 || candidate.score > best.score) best = candidate;
      }
      tokens[start + row] = best.token;
      logprobs[start + row] = (float)((double)best.logit - kept.lse());
      keptMass[start + row] = (float)exp(kept.lse() - whole.lse());
    });
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(linearSampleTruncated,
               "hidden[N,D] weight[V,D] keys[N,Q]# -> tokens[N]# logprobs[N]! keptMass[N]! ; "
               "temperature topK topP minP",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
