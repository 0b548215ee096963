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
  for (int64_t first = 0; first < count; first += LANES) {
    Vec sum[ROWS] = {};
    for (int64_t d = 0; d < D; d += LANES) {
      if (ahead) {
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

// VECS vectors of out[r] += Σ_j weights[r·KEYS + j]·value at[j], from element d on and `width` wide
// in the last; j over the sight. Values `ahead` are asked for meanwhile.
template <int ROWS, int VECS, class Stored>
SACCADE_INLINE void addColumns(const float* weights, const CacheHead<Stored>& cache,
                               const int64_t* at, Sight sight, const int64_t* ahead, int64_t d,
                               int64_t width, float* out, int64_t padded) {
  Vec sum[ROWS][VECS];
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++) {
    for (int i = 0; i < VECS; i++) sum[r][i] = load(out + r * padded + d + i * LANES);
  }
  for (int64_t j = sight.from; j < sight.to; j++) {
    const Stored* row = cache.values + at[j] * cache.stride + d;
    if (ahead) {
      for (int i = 0; i < VECS; i++) {
        prefetch(cache.values + ahead[j] * cache.stride + d + i * LANES);
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

// out[r] += Σ_j weights[r·KEYS + j]·value at[j] for ROWS rows, j over the sight.
template <int ROWS, class Stored>
static inline void addValues(const float* weights, const CacheHead<Stored>& cache,
                             const int64_t* at, Sight sight, const int64_t* ahead, int64_t D,
                             float* out, int64_t padded) {
  int64_t d = 0;
  // Two vectors at once need the registers of AVX-512.
  for (; LANES == 16 && d + LANES < D; d += 2 * LANES) {
    addColumns<ROWS, 2>(weights, cache, at, sight, ahead, d, smaller(LANES, D - d - LANES), out,
                        padded);
  }
  for (; d < D; d += LANES) {
    addColumns<ROWS, 1>(weights, cache, at, sight, ahead, d, smaller(LANES, D - d), out, padded);
  }
}

template <int ROWS, class Stored>
static void attendRows(const float* queries, int64_t D, const CacheHead<Stored>& cache,
                       const int64_t* at, Sight sight, const int64_t* ahead,
                       const RowState& state, float* scores) {
  const int64_t padded = paddedHead(D);
  scoreKeys<ROWS>(queries, padded, cache, at, sight.to, ahead, D, scores);
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
