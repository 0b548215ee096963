// The register tiles of tile.h, compiled once per instruction set for all kernels.
//
// Tried and slower on Cascade Lake, one thread, 2000 × 128 × 128: splatting the broadcast element
// with a scalar load (68 GFLOP/s, bound by shuffles) instead of a broadcast load (125).
//
// Hyperthreads, ours or a neighbor's, share the decoding of instructions before they share the
// multipliers. So where rows are a stride apart, each third row, whose address is one register, loads
// its element within the multiply-add, once per vector: less to decode, and no more loads than a
// cycle takes. Beside a neighbor at work 1.05 times the speed, alone 1.03; where rows lie side by
// side it lost as much alone as it won beside others.
#include "tile.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Whether row i of a tile loads its element within the multiply-add.
constexpr bool ridesAlong(Rows layout, int i) {
  return LANES == 16 && layout == Rows::contiguousDepth && i % 3 == 0;
}

// Depths between two looks at the end of the loop. Six rows of two vectors, a depth at a time, are 22
// operations for 12 multiply-adds: little enough alone, but the limit beside a busy hyperthread. Zen 3 in a
// virtual machine, 2048³ in turns, with nine blocks of depth packed at once: 107 ms, its gradients 215; before
// both 112 and 241.
constexpr int DEPTHS_AT_ONCE = LANES == 8 ? 8 : 1;

// Keeps the compiler from writing p as another register and an index, which would split the load off.
SACCADE_INLINE void keepApart(const float*& p) {
#if defined(__AVX512F__)
  asm("" : "+r"(p));
#else
  (void)p;
#endif
}

// C[ROWS, VECS·LANES] (only `width` columns stored) from A[ROWS, depth] and B[depth, VECS·LANES].
template <int ROWS, int VECS, Rows LAYOUT, Words WORDS, bool FETCHES>
void registerTile(int64_t depth, const float* a, int64_t stride, const float* b, int64_t bStride,
                  float* c, int64_t cStride, int64_t width, Into into, const float* bias,
                  LinesAhead ahead) {
  Vec sum[ROWS][VECS];
  const int64_t lastWidth = width - (VECS - 1) * LANES;
  if (into == Into::chain) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 4
      for (int v = 0; v < VECS; v++) {
        sum[i][v] = loadWidth(c + i * cStride + v * LANES, v == VECS - 1 ? lastWidth : LANES);
      }
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      // C is needed at the end; its lines come while the product is made.
      if (into == Into::add) {
        __builtin_prefetch(c + i * cStride, 1);
        if (VECS > 1) __builtin_prefetch(c + i * cStride + LANES, 1);
      }
#pragma GCC unroll 4
      for (int v = 0; v < VECS; v++) sum[i][v] = Vec{};
    }
  }
  // One base pointer per three rows: x86 addresses reach base, base + stride, base + 2·stride.
  constexpr int BASES = (ROWS + 2) / 3;
  const float* base[BASES];
#pragma GCC unroll 6
  for (int g = 0; g < BASES; g++) {
    base[g] = a + (LAYOUT == Rows::contiguousDepth ? 3 * g * stride : 0);
  }
#pragma GCC unroll DEPTHS_AT_ONCE
  for (int64_t k = 0; k < depth; k++) {
    Vec column[VECS];
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) column[v] = load(b + v * LANES);
    b += bStride;
    if (FETCHES) {
      __builtin_prefetch(ahead.first, 0, 2);
      ahead.first += (k + 1) % PANEL ? ahead.apart : LINE_BYTES - (PANEL - 1) * ahead.apart;
    }
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      const float* at = LAYOUT == Rows::contiguousDepth ? base[i / 3] + (i % 3) * stride : a + i;
      if (ridesAlong(LAYOUT, i)) {
#pragma GCC unroll 4
        for (int v = 0; v < VECS; v++) sum[i][v] = multiplyAddAt<WORDS>(at, column[v], sum[i][v]);
        continue;
      }
      const Vec row = splat(*at);
#pragma GCC unroll 4
      for (int v = 0; v < VECS; v++) {
        sum[i][v] = multiplyAdd<WORDS>(row, column[v], sum[i][v]);
      }
    }
    if (LAYOUT == Rows::contiguousDepth) {
#pragma GCC unroll 6
      for (int g = 0; g < BASES; g++) {
        base[g]++;
        keepApart(base[g]);
      }
    } else {
      a += stride;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) {
      float* out = c + i * cStride + v * LANES;
      const int64_t lanes = v == VECS - 1 ? lastWidth : LANES;
      Vec value = sum[i][v];
      if (into == Into::add) value = loadWidth(out, lanes) + value;
      if (bias) value = value + loadWidth(bias + v * LANES, lanes);
      if (into == Into::stream && lanes == LANES) storePast(out, value);
      else storeWidth(out, value, lanes);
    }
  }
}

#if defined(__AMX_BF16__)

// Words that are asked for ahead of a row: eight lines.
constexpr int64_t AHEAD = 8 * MATRIX;
SACCADE_INLINE bool isFar(int64_t stride) { return stride >= 512; }

template <int TALL, int VECS>
SACCADE_INLINE void multiplyStep(const float* a, int64_t stride, const float* b, int64_t bStride) {
  const int64_t aBytes = 4 * stride, bBytes = 4 * bStride;
  _tile_loadd(4, a, aBytes);
  _tile_loadd(6, b, bBytes);
  _tile_dpbf16ps(0, 4, 6);
  if (VECS > 1) {
    _tile_loadd(7, b + LANES, bBytes);
    _tile_dpbf16ps(1, 4, 7);
  }
  if (TALL > 1) {
    _tile_loadd(5, a + MATRIX * stride, aBytes);
    _tile_dpbf16ps(2, 5, 6);
    if (VECS > 1) _tile_dpbf16ps(3, 5, 7);
  }
}

// For each 16 words of depth it adds two chains, of the lower and of the upper halves, to the sums, for
// every tile alike. Subnormal numbers count as zero, as for vdpbf16ps.
template <int TALL, int VECS>
void multiplyTall(int64_t rows, int64_t depth, const float* a, int64_t stride, const float* b,
                  int64_t bStride, float* c, int64_t cStride, int64_t width, Into into,
                  const float* bias) {
  configure(TALL > 1 ? TileConfig(MATRIX, rows - MATRIX) : TileConfig(rows, rows));
  _tile_zero(0);
  if (VECS > 1) _tile_zero(1);
  if (TALL > 1) _tile_zero(2);
  if (TALL > 1 && VECS > 1) _tile_zero(3);
  const int64_t whole = depth / MATRIX * MATRIX, rest = depth - whole;
  for (int64_t k = 0; k < whole; k += MATRIX) {
    // Rows far apart are streams that the hardware does not follow across pages.
    if (isFar(stride)) {
      for (int64_t i = 0; i < rows; i++) __builtin_prefetch(a + i * stride + k + AHEAD, 0, 2);
    }
    multiplyStep<TALL, VECS>(a + k, stride, b + k * bStride, bStride);
  }
  if (rest > 0) {
    alignas(64) float lastA[TALL * MATRIX][MATRIX] = {}, lastB[MATRIX][VECS * LANES] = {};
    for (int64_t i = 0; i < rows; i++) {
      memcpy(lastA[i], a + i * stride + whole, (size_t)rest * sizeof(float));
    }
    for (int64_t k = 0; k < rest; k++) {
      memcpy(lastB[k], b + (whole + k) * bStride, sizeof lastB[k]);
    }
    settleMemory();
    multiplyStep<TALL, VECS>(lastA[0], MATRIX, lastB[0], VECS * LANES);
  }
  alignas(64) float sums[TALL * MATRIX][VECS * LANES];
  _tile_stored(0, sums[0], sizeof sums[0]);
  if (VECS > 1) _tile_stored(1, &sums[0][LANES], sizeof sums[0]);
  if (TALL > 1) _tile_stored(2, sums[MATRIX], sizeof sums[0]);
  if (TALL > 1 && VECS > 1) _tile_stored(3, &sums[MATRIX][LANES], sizeof sums[0]);
  settleMemory();
  for (int64_t i = 0; i < rows; i++) {
    for (int v = 0; v < VECS; v++) {
      float* out = c + i * cStride + v * LANES;
      const int64_t lanes = v == VECS - 1 ? width - v * LANES : LANES;
      Vec value = load(&sums[i][v * LANES]);
      if (into == Into::add || into == Into::chain) value = loadWidth(out, lanes) + value;
      if (bias) value = value + loadWidth(bias + v * LANES, lanes);
      if (into == Into::stream && lanes == LANES) storePast(out, value);
      else storeWidth(out, value, lanes);
    }
  }
}

template <int ROWS, int VECS, Rows LAYOUT, Words WORDS, bool FETCHES>
constexpr TileFunction tileOfSize() {
  // Pairs are multiplied by matrices; their tiles are never asked for.
  if constexpr (WORDS == Words::pairs) return nullptr;
  else return registerTile<ROWS, VECS, LAYOUT, WORDS, FETCHES>;
}

#else

template <int ROWS, int VECS, Rows LAYOUT, Words WORDS, bool FETCHES>
constexpr TileFunction tileOfSize() {
  return registerTile<ROWS, VECS, LAYOUT, WORDS, FETCHES>;
}

#endif

template <int VECS, Rows LAYOUT, Words WORDS, bool FETCHES = false>
TileFunction tileOfRows(int64_t rows) {
  switch (rows) {
    case 1: return tileOfSize<1, VECS, LAYOUT, WORDS, FETCHES>();
    case 2: return tileOfSize<2, VECS, LAYOUT, WORDS, FETCHES>();
    case 3: return tileOfSize<3, VECS, LAYOUT, WORDS, FETCHES>();
    case 4: return tileOfSize<4, VECS, LAYOUT, WORDS, FETCHES>();
#if defined(__AVX2__)
    case 5: return tileOfSize<5, VECS, LAYOUT, WORDS, FETCHES>();
    case 6: return tileOfSize<6, VECS, LAYOUT, WORDS, FETCHES>();
#endif
#if defined(__AVX512F__)
    case 7: return tileOfSize<7, VECS, LAYOUT, WORDS, FETCHES>();
    case 8: return tileOfSize<8, VECS, LAYOUT, WORDS, FETCHES>();
    case 9: return tileOfSize<9, VECS, LAYOUT, WORDS, FETCHES>();
    case 10: return tileOfSize<10, VECS, LAYOUT, WORDS, FETCHES>();
    case 11: return tileOfSize<11, VECS, LAYOUT, WORDS, FETCHES>();
    case 12: return tileOfSize<12, VECS, LAYOUT, WORDS, FETCHES>();
    case 13: return tileOfSize<13, VECS, LAYOUT, WORDS, FETCHES>();
    case 14: return tileOfSize<14, VECS, LAYOUT, WORDS, FETCHES>();
#endif
    default: return nullptr;
  }
}

template <Rows LAYOUT, Words WORDS>
TileFunction tileOf(int64_t rows, int vecs) {
  return vecs == 1 ? tileOfRows<1, LAYOUT, WORDS>(rows)
                   : tileOfRows<TILE_VECS, LAYOUT, WORDS>(rows);
}

}  // namespace

#if defined(__AMX_BF16__)

void multiplyMatrices(int64_t rows, int64_t depth, const float* a, int64_t stride, const float* b,
                      int64_t bStride, float* c, int64_t cStride, int64_t width, Into into,
                      const float* bias) {
  const auto multiply = rows > MATRIX ? (width > LANES ? multiplyTall<2, 2> : multiplyTall<2, 1>)
                                      : (width > LANES ? multiplyTall<1, 2> : multiplyTall<1, 1>);
  multiply(rows, depth, a, stride, b, bStride, c, cStride, width, into, bias);
}

void finishMatrices() { _tile_release(); }

#endif

TileFunction tileFor(int64_t rows, int vecs, Rows layout, Words words) {
  // Only processors that have pairs get their tiles.
  constexpr Words PAIRS = WordsOf<Bf16>::value;
  if (layout == Rows::contiguousRows) {
    return words == Words::pairs ? tileOf<Rows::contiguousRows, PAIRS>(rows, vecs)
                                 : tileOf<Rows::contiguousRows, Words::floats>(rows, vecs);
  }
  return words == Words::pairs ? tileOf<Rows::contiguousDepth, PAIRS>(rows, vecs)
                               : tileOf<Rows::contiguousDepth, Words::floats>(rows, vecs);
}

#if defined(__AVX512F__)
TileFunction fetchingTileFor(int64_t rows, Words words) {
  constexpr Words PAIRS = WordsOf<Bf16>::value;
  constexpr Rows LAYOUT = Rows::contiguousDepth;
  return words == Words::pairs ? tileOfRows<TILE_VECS, LAYOUT, PAIRS, true>(rows)
                               : tileOfRows<TILE_VECS, LAYOUT, Words::floats, true>(rows);
}
#endif

}  // namespace SACCADE_ISA
}  // namespace saccade
