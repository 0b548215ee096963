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

// Keeps the compiler from writing p as another register and an index, which would split the load off.
SACCADE_INLINE void keepApart(const float*& p) {
#if defined(__AVX512F__)
  asm("" : "+r"(p));
#else
  (void)p;
#endif
}

// C[ROWS, VECS·LANES] (only `width` columns stored) from A[ROWS, depth] and B[depth, VECS·LANES].
template <int ROWS, int VECS, Rows LAYOUT, Words WORDS>
void registerTile(int64_t depth, const float* a, int64_t stride, const float* b, int64_t bStride,
                  float* c, int64_t cStride, int64_t width, Into into, const float* bias) {
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
  for (int64_t k = 0; k < depth; k++) {
    Vec column[VECS];
#pragma GCC unroll 4
    for (int v = 0; v < VECS; v++) column[v] = load(b + v * LANES);
    b += bStride;
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

template <int VECS, Rows LAYOUT, Words WORDS>
TileFunction tileOfRows(int64_t rows) {
  switch (rows) {
    case 1: return registerTile<1, VECS, LAYOUT, WORDS>;
    case 2: return registerTile<2, VECS, LAYOUT, WORDS>;
    case 3: return registerTile<3, VECS, LAYOUT, WORDS>;
    case 4: return registerTile<4, VECS, LAYOUT, WORDS>;
#if defined(__AVX2__)
    case 5: return registerTile<5, VECS, LAYOUT, WORDS>;
    case 6: return registerTile<6, VECS, LAYOUT, WORDS>;
#endif
#if defined(__AVX512F__)
    case 7: return registerTile<7, VECS, LAYOUT, WORDS>;
    case 8: return registerTile<8, VECS, LAYOUT, WORDS>;
    case 9: return registerTile<9, VECS, LAYOUT, WORDS>;
    case 10: return registerTile<10, VECS, LAYOUT, WORDS>;
    case 11: return registerTile<11, VECS, LAYOUT, WORDS>;
    case 12: return registerTile<12, VECS, LAYOUT, WORDS>;
    case 13: return registerTile<13, VECS, LAYOUT, WORDS>;
    case 14: return registerTile<14, VECS, LAYOUT, WORDS>;
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

}  // namespace SACCADE_ISA
}  // namespace saccade
