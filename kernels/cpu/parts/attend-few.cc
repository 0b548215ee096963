// The steps of attend-few.h, compiled once per instruction set for all kernels.
#include "attend-few.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// scores[r·KEYS + j] = ⟨query r, key at[j]⟩ for ROWS queries and `count` keys; zero beyond `count`
// in its last vector. Keys `ahead` are asked for meanwhile, if there are any.
template <int ROWS, class Stored>
static inline void scoreKeys(const float* queries, int64_t padded, const CacheHead<Stored>& cache,
                             const int64_t* at, int64_t count, const int64_t* ahead, int64_t D,
                             float* scores) {
  constexpr int64_t LINE = 64 / (int64_t)sizeof(Stored);
  for (int64_t first = 0; first < count; first += LANES) {
    Vec sum[ROWS] = {};
    for (int64_t d = 0; d < D; d += LANES) {
      if (ahead && d % LINE == 0) {
        for (int c = 0; c < LANES; c++) {
          prefetch(cache.keys + ahead[first + c] * cache.stride + d);
        }
      }
      const int64_t width = smaller(LANES, D - d);
      const float* query = queries + d;
      Vec rows[LANES];
      if (width == LANES && first + LANES <= count) {
#pragma GCC unroll 16
        for (int c = 0; c < LANES; c++) {
          rows[c] = load(cache.keys + at[first + c] * cache.stride + d);
        }
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
#pragma GCC unroll 8
          for (int r = 0; r < ROWS; r++) {
            sum[r] = fma(splat(query[r * padded + i]), rows[i], sum[r]);
          }
        }
        continue;
      }
      for (int c = 0; c < LANES; c++) {
        rows[c] = first + c < count
                      ? loadWidth(cache.keys + at[first + c] * cache.stride + d, width)
                      : Vec{};
      }
      transpose(rows);
      for (int64_t i = 0; i < width; i++) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) sum[r] = fma(splat(query[r * padded + i]), rows[i], sum[r]);
      }
    }
    for (int r = 0; r < ROWS; r++) store(scores + r * KEYS + first, sum[r]);
  }
}

// Depth that keys and queries are turned or widened for at a time.
constexpr int64_t TURNED_DEPTH = 128;

// sums[c][LANES] += Σ_k keys[c·stride + k]·across[k][LANES] for COUNT keys; the first depths go from
// zero. Meanwhile it asks for as many elements of each of the keys in slots `at` of `ahead`, if there
// are any, a few at a time: many at once would hold up the sums.
template <int COUNT, class Stored>
static void addTurned(const float* keys, int64_t stride, const float* across, int64_t depth,
                      bool isFirst, const CacheHead<Stored>& ahead, const int64_t* at,
                      float* sums) {
  constexpr int64_t LINE = 64 / (int64_t)sizeof(Stored);
  Vec sum[COUNT];
#pragma GCC unroll 16
  for (int c = 0; c < COUNT; c++) sum[c] = isFirst ? Vec{} : load(sums + c * LANES);
  constexpr int BASES = (COUNT + 2) / 3;
  const float* base[BASES];
#pragma GCC unroll 6
  for (int g = 0; g < BASES; g++) base[g] = keys + 3 * g * stride;
  for (int64_t line = 0; line < depth; line += LINE) {
    if (at) {
      for (int c = 0; c < COUNT; c++) prefetch(ahead.keys + at[c] * ahead.stride + line);
    }
    const int64_t end = smaller(line + LINE, depth);
    for (int64_t k = line; k < end; k++) {
      const Vec query = load(across + k * LANES);
#pragma GCC unroll 16
      for (int c = 0; c < COUNT; c++) {
        sum[c] = fma(splat(base[c / 3][(c % 3) * stride]), query, sum[c]);
      }
#pragma GCC unroll 6
      for (int g = 0; g < BASES; g++) base[g]++;
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < COUNT; c++) store(sums + c * LANES, sum[c]);
}

static inline bool areNeighbors(const int64_t* at, int64_t count) {
  bool are = true;
  for (int64_t i = 1; i < count; i++) are &= at[i] == at[0] + i;
  return are;
}

// scoreKeys with lanes over the queries, so that no key is turned. The same chains, so the same bits.
template <int ROWS, class Stored>
static inline void scoreTurned(const float* queries, int64_t padded, const CacheHead<Stored>& cache,
                               const int64_t* at, int64_t count, const int64_t* ahead, int64_t D,
                               float* scores) {
  // As many sums as registers hold beside a query and a key: 64 keys are four times 13 and 12.
  constexpr int64_t MOST = 13;
  alignas(64) float across[TURNED_DEPTH][LANES], sums[KEYS][LANES];
  alignas(64) float widened[MOST][TURNED_DEPTH];
  for (int64_t d = 0; d < D; d += TURNED_DEPTH) {
    const int64_t depth = smaller(TURNED_DEPTH, D - d);
    for (int64_t k = 0; k < depth; k += LANES) {
      Vec square[LANES];
      for (int r = 0; r < LANES; r++) {
        square[r] = r < ROWS ? load(queries + r * padded + d + k) : Vec{};
      }
      transpose(square);
      for (int i = 0; i < LANES; i++) store(across[k + i], square[i]);
    }
    for (int64_t first = 0, keys; first < count; first += keys) {
      const int64_t left = count - first;
      keys = left >= MOST ? MOST : left >= MOST - 1 ? MOST - 1 : left >= 4 ? 4 : 1;
      const Stored* source = cache.keys + at[first] * cache.stride + d;
      const float* own = areNeighbors(at + first, keys) ? inPlace(source) : nullptr;
      int64_t stride = cache.stride;
      if (!own) {
        for (int64_t c = 0; c < keys; c++) {
          const Stored* key = cache.keys + at[first + c] * cache.stride + d;
          forLanes(depth, [&](int64_t k, int64_t width) {
            store(widened[c] + k, loadWidth(key + k, width));
          });
        }
        own = widened[0], stride = TURNED_DEPTH;
      }
      const auto add = keys == MOST       ? addTurned<MOST, Stored>
                       : keys == MOST - 1 ? addTurned<MOST - 1, Stored>
                       : keys == 4        ? addTurned<4, Stored>
                                          : addTurned<1, Stored>;
      add(own, stride, across[0], depth, d == 0, {cache.keys + d, cache.values, cache.stride},
          ahead ? ahead + first : nullptr, sums[first]);
    }
  }
  for (int64_t first = 0; first < count; first += LANES) {
    Vec square[LANES];
    for (int64_t c = 0; c < LANES; c++) {
      square[c] = first + c < count ? load(sums[first + c]) : Vec{};
    }
    transpose(square);
    for (int r = 0; r < ROWS; r++) store(scores + r * KEYS + first, square[r]);
  }
}

// VECS vectors of out[r] += Σ_j weights[r·KEYS + j]·value at[j], from element d on and `width` wide
// in the last; j over the sight. Meanwhile it asks for `fetches` vectors of the values `ahead`, from
// element `fetched` on.
template <int ROWS, int VECS, class Stored>
SACCADE_INLINE void addColumns(const float* weights, const CacheHead<Stored>& cache,
                               const int64_t* at, Sight sight, const int64_t* ahead,
                               int64_t fetched, int fetches, int64_t d, int64_t width, float* out,
                               int64_t padded) {
  Vec sum[ROWS][VECS];
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++) {
    for (int i = 0; i < VECS; i++) sum[r][i] = load(out + r * padded + d + i * LANES);
  }
  for (int64_t j = sight.from; j < sight.to; j++) {
    const Stored* row = cache.values + at[j] * cache.stride + d;
    if (ahead) {
      for (int i = 0; i < fetches; i++) {
        prefetch(cache.values + ahead[j] * cache.stride + fetched + i * LANES);
      }
    }
    Vec value[VECS];
    for (int i = 0; i < VECS - 1; i++) value[i] = load(row + i * LANES);
    value[VECS - 1] = loadWidth(row + (VECS - 1) * LANES, width);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
      const Vec weight = splat(weights[r * KEYS + j]);
      for (int i = 0; i < VECS; i++) sum[r][i] = fma(weight, value[i], sum[r][i]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++) {
    for (int i = 0; i < VECS; i++) store(out + r * padded + d + i * LANES, sum[r][i]);
  }
}

// VECS vectors from element d on, or as many as the `left` elements take.
template <int ROWS, int VECS, class Stored>
SACCADE_INLINE void addSome(const float* weights, const CacheHead<Stored>& cache, const int64_t* at,
                            Sight sight, const int64_t* ahead, int64_t d, int64_t left, float* out,
                            int64_t padded) {
  if constexpr (VECS > 1) {
    if (left <= (VECS - 1) * LANES) {
      return addSome<ROWS, VECS - 1>(weights, cache, at, sight, ahead, d, left, out, padded);
    }
  }
  const int64_t width = smaller(LANES, left - (VECS - 1) * LANES);
  addColumns<ROWS, VECS>(weights, cache, at, sight, ahead, d, VECS, d, width, out, padded);
}

// out[r] += Σ_j weights[r·KEYS + j]·value at[j] for ROWS rows, j over the sight.
template <int ROWS, class Stored>
static inline void addValues(const float* weights, const CacheHead<Stored>& cache,
                             const int64_t* at, Sight sight, const int64_t* ahead, int64_t D,
                             float* out, int64_t padded) {
  int64_t d = 0;
  if constexpr (LANES == 8 && ROWS <= 4) {
    // As many vectors as registers hold beside a value and a weight: a chain of one would wait for itself.
    constexpr int MOST = ROWS == 1 ? 6 : ROWS == 2 ? 4 : 3;
    for (; d < D; d += MOST * LANES) {
      addSome<ROWS, MOST>(weights, cache, at, sight, ahead, d, D - d, out, padded);
    }
  } else if constexpr (LANES == 8) {
    // Four rows of three vectors fill the registers of AVX2, and load less than eight of one.
    constexpr int UPPER = 4, LOWER = ROWS - UPPER;
    for (; d + 2 * LANES < D; d += 3 * LANES) {
      const int64_t width = smaller(LANES, D - d - 2 * LANES);
      // Three vectors are a line and a half: the upper rows ask for the first, the lower for the rest.
      addColumns<UPPER, 3>(weights, cache, at, sight, ahead, d, 1, d, width, out, padded);
      addColumns<LOWER, 3>(weights + UPPER * KEYS, cache, at, sight, ahead, d + 2 * LANES, 1, d,
                           width, out + UPPER * padded, padded);
    }
  }
  // Two vectors of all rows need the registers of AVX-512.
  for (; LANES == 16 && d + LANES < D; d += 2 * LANES) {
    addColumns<ROWS, 2>(weights, cache, at, sight, ahead, d, 2, d, smaller(LANES, D - d - LANES),
                        out, padded);
  }
  for (; d < D; d += LANES) {
    addColumns<ROWS, 1>(weights, cache, at, sight, ahead, d, 1, d, smaller(LANES, D - d), out,
                        padded);
  }
}

template <int ROWS, class Stored>
static void attendRows(const float* queries, int64_t D, const CacheHead<Stored>& cache,
                       const int64_t* at, Sight sight, const int64_t* ahead,
                       const RowState& state, float* scores) {
  const int64_t padded = paddedHead(D);
  // Turning keys pays for few queries, turning queries where they fill a vector.
  if constexpr (LANES == 8 && ROWS > 4) {
    scoreTurned<ROWS>(queries, padded, cache, at, sight.to, ahead, D, scores);
  } else {
    scoreKeys<ROWS>(queries, padded, cache, at, sight.to, ahead, D, scores);
  }
  Sight sights[ROWS];
  for (int r = 0; r < ROWS; r++) sights[r] = sight;
  for (int r = 0; r < ROWS; r += TILE_ROWS) {
    weighRows(smaller(TILE_ROWS, ROWS - r), scores + r * KEYS, sights, sight,
              fromRow(state, r, padded), padded);
  }
  addValues<ROWS>(scores, cache, at, sight, ahead, D, state.out, padded);
}

}  // namespace

template <class Stored>
void attendFew(int64_t rows, const float* queries, int64_t D, const CacheHead<Stored>& cache,
               const int64_t* at, Sight sight, const int64_t* ahead, const RowState& state,
               float* scores) {
  switch (rows) {
    case 1: return attendRows<1>(queries, D, cache, at, sight, ahead, state, scores);
    case 2: return attendRows<2>(queries, D, cache, at, sight, ahead, state, scores);
    case 3: return attendRows<3>(queries, D, cache, at, sight, ahead, state, scores);
    case 4: return attendRows<4>(queries, D, cache, at, sight, ahead, state, scores);
    case 5: return attendRows<5>(queries, D, cache, at, sight, ahead, state, scores);
    case 6: return attendRows<6>(queries, D, cache, at, sight, ahead, state, scores);
    case 7: return attendRows<7>(queries, D, cache, at, sight, ahead, state, scores);
    default: return attendRows<8>(queries, D, cache, at, sight, ahead, state, scores);
  }
}

template void attendFew(int64_t, const float*, int64_t, const CacheHead<float>&, const int64_t*,
                        Sight, const int64_t*, const RowState&, float*);
template void attendFew(int64_t, const float*, int64_t, const CacheHead<Bf16>&, const int64_t*,
                        Sight, const int64_t*, const RowState&, float*);

}  // namespace SACCADE_ISA
}  // namespace saccade
