// y = x·wᵀ + b with a weight of 8 or 4 bits: codes times scales.
//
// Layout: x [M,K] and y [M,N] row-major, the weight as in parts/quantized-weight.h. A thread owns 112
// rows × some panels of columns at a time. It widens the codes of a panel and of SEGMENT columns of
// depth, or of a group, into words of the tile (tile.h), where they stay in L1, multiplies all its rows
// with them, and adds the products times the scale: one fused multiply-add for each segment, in order.
// Codes are exact in bf16, so pairs of bf16 are multiplied as pairs. An output's chain depends on K
// and the form alone, not on M, threads or tiles.
//
// With AMX or VNNI, bf16 rows meet a weight of 8 bits and one scale a row in integers:
// parts/byte-product.h; with AMX one of 4 bits too: parts/nibble-product.h. With AVX2 all of them do:
// parts/word-product.h.
#include "parts/byte-product.h"
#include "parts/word-product.h"
#if defined(__AMX_INT8__)
#include "parts/nibble-product.h"
#endif

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Depth of one chain where a row has one scale: a panel of it is 16 KiB of pairs.
constexpr int64_t SEGMENT = 256;

// LANES words of the tile at each depth of one word of codes, `at` at the first.
template <Words WORDS, int BITS>
SACCADE_INLINE void widenWord(float* at, WordVec codes) {
  constexpr int COUNT = 32 / BITS;
  // Code j of a word of 4 bits begins at bit 4·⌊j/2⌋, of the upper half if j is odd.
#pragma GCC unroll 8
  for (int j = 0; j < COUNT; j += 2) {
    const int even = BITS == 8 ? 8 * j : 2 * j, odd = BITS == 8 ? even + 8 : even + 16;
    const Vec first = codesOf<BITS>(codes, even), second = codesOf<BITS>(codes, odd);
    if (WORDS == Words::pairs) {
      // The lower halves are zero.
      store(at + j / 2 * PANEL, (Vec)(((WordVec)first >> 16) | (WordVec)second));
    } else {
      store(at + j * PANEL, first);
      store(at + (j + 1) * PANEL, second);
    }
  }
}

#if defined(__AVX512BW__)
// bf16 of the codes of 4 bits, twice: what lies above a code in an index does not matter.
alignas(64) constexpr uint16_t FOUR_BITS[32] = {
    0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000,
    0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040,
    0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0};

// Codes of 8 bits: an integer below 2²³ in the lower bits of 2²³ is that sum.
SACCADE_INLINE __m512 byteCodes(__m512i words, __m512i mask) {
  const __m512i magic = _mm512_set1_epi32(0x4b000000);
  // (words & mask) | magic
  const __m512i sum = _mm512_ternarylogic_epi32(words, mask, magic, 0xea);
  return _mm512_sub_ps(_mm512_castsi512_ps(sum), _mm512_set1_ps(8388736.0f));
}
template <>
SACCADE_INLINE void widenWord<Words::pairs, 8>(float* at, WordVec codes) {
  const __m512i words = (__m512i)codes, mask = _mm512_set1_epi32(0xff);
#pragma GCC unroll 2
  for (int j = 0; j < 2; j++) {
    const __m512i even = (__m512i)byteCodes(_mm512_srli_epi32(words, 16 * j), mask);
    const __m512i odd = (__m512i)byteCodes(_mm512_srli_epi32(words, 16 * j + 8), mask);
    store(at + j * PANEL, (Vec)_mm512_or_si512(_mm512_srli_epi32(even, 16), odd));
  }
}

template <>
SACCADE_INLINE void widenWord<Words::pairs, 4>(float* at, WordVec codes) {
  const __m512i table = _mm512_load_si512(FOUR_BITS);
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m512i index = _mm512_srli_epi16((__m512i)codes, 4 * j);
    store(at + j * PANEL, (Vec)_mm512_permutexvar_epi16(index, table));
  }
}
#endif

// A panel of columns from `column` on and of depths [from, from + depth), `from` a multiple of 64.
template <Words WORDS, int BITS>
void widenPanel(float* panel, const uint32_t* codes, const WeightForm& form, int64_t column,
                int64_t from, int64_t depth) {
  constexpr int64_t COUNT = 32 / BITS;
  constexpr int64_t STEP = (WORDS == Words::pairs ? COUNT / 2 : COUNT) * PANEL;
  // Asked for ahead: the same of the next segment, which follows.
  const int64_t ahead = (divideUp(from + depth, COUNT) - from / COUNT) * ROWS_TOGETHER;
  const int64_t first = from / COUNT, end = divideUp(from + depth, COUNT);
  for (int v = 0; v < TILE_VECS; v++) {
    const int64_t n = column + v * LANES;
    float* out = panel + v * LANES;
    if (n >= form.rows) {
      for (int64_t i = 0; i < (end - first) * STEP; i += PANEL) store(out + i, Vec{});
      continue;
    }
    const uint32_t* at = codes + (n / ROWS_TOGETHER * form.words + first) * ROWS_TOGETHER +
                         n % ROWS_TOGETHER;
    for (int64_t i = first; i < end; i++, at += ROWS_TOGETHER, out += STEP) {
      __builtin_prefetch(at + ahead, 0, 3);
      WordVec words;
      memcpy(&words, at, sizeof words);
      widenWord<WORDS, BITS>(out, words);
    }
  }
}

template <class Stored, int BITS>
int multiply(const SaccadeLaunch& launch, const WeightForm& form) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  const int64_t M = launch.dims[0], K = form.depth, N = form.rows;
  const Stored* x = stored<Stored>(launch, 0);
  const uint32_t* codes = stored<const uint32_t>(launch, 1);
  const float* scales = floats(launch, 2);
  const Stored* bias = stored<Stored>(launch, 3);
  Stored* y = stored<Stored>(launch, 4);
  const bool isWhole = form.group >= K;
  const int64_t segment = isWhole ? SEGMENT : form.group;
  const int64_t threads = launch.runtime->threads;
  // The last word of codes may reach beyond the depth.
  const int64_t panelFloats = (segment + 8) * PANEL;
  constexpr int64_t SUMS = ROW_BLOCK * PANEL;
  float* space = scratchFloats(launch, threads * (panelFloats + ROW_COPY + 2 * SUMS));
  const int64_t rowItems = divideUp(M, ROW_BLOCK), panels = divideUp(N, PANEL);
  // Every panel reads the rows of x: where they fall into the same cache sets, copies of them.
  const float* rowsApart = nullptr;
  const int64_t apart = wordsIn<WORDS>(K) + LANES;
  if (M > 4 && collides(wordsIn<WORDS>(K)) && rowsInPlace<WORDS>(x, K, K)) {
    float* copies = scratchFloats(launch, M * apart);
    parallelFor(launch, M, 0.1 * (double)(M * K), [&](int64_t i, int32_t) {
      copyRows<WORDS>(copies + i * apart, apart, x + i * K, K, 1, K);
    });
    rowsApart = copies;
  }
  const int64_t rowsEach = rowItems == 0 ? 0 : divideUp(M, rowItems);
  const double flops = 2.0 * (double)M * (double)N * (double)K;
  parallelFor(launch, rowItems * panels, nanosecondsOf(flops) + 0.15 * (double)(N * K) / threads,
              [&](int64_t item, int32_t worker) {
    float* panel = space + worker * (panelFloats + ROW_COPY + 2 * SUMS);
    float* copy = panel + panelFloats;
    float* part = copy + ROW_COPY;
    float* total = part + SUMS;
    const int64_t row = item % rowItems * rowsEach, rows = smaller(rowsEach, M - row);
    const int64_t column = item / rowItems * PANEL, columns = smaller(PANEL, N - column);
    for (int64_t k = 0; k < K; k += segment) {
      const int64_t depth = smaller(segment, K - k);
      widenPanel<WORDS, BITS>(panel, codes, form, column, k, depth);
      const RowsOfA a =
          rowsApart ? RowsOfA{rowsApart + row * apart + wordsIn<WORDS>(k), apart, false}
                    : rowsOfA<WORDS>(Source<Stored>{x, K, 1}, x + row * K + k, rows, depth, copy, true);
      multiplyRows<WORDS>(a, rows, PANEL, wordsIn<WORDS>(depth), {panel, 0, PANEL}, part, PANEL,
                          Into::overwrite);
      Vec scale[TILE_VECS];
      const float* of = scales + (isWhole ? 0 : k / segment) * N + column;
      for (int v = 0; v < TILE_VECS; v++) {
        const int64_t width = smaller(LANES, columns - v * LANES);
        scale[v] = width <= 0 ? Vec{} : loadWidth(of + v * LANES, width);
      }
      for (int64_t i = 0; i < rows; i++) {
        for (int v = 0; v < TILE_VECS; v++) {
          const int64_t at = i * PANEL + v * LANES;
          const Vec before = k == 0 ? Vec{} : load(total + at);
          store(total + at, fma(load(part + at), scale[v], before));
        }
      }
    }
    if (HAS_MATRICES && WORDS == Words::pairs) finishMatrices();
    for (int64_t i = 0; i < rows; i++) {
      Stored* to = y + (row + i) * N + column;
      forLanes(columns, [&](int64_t j, int64_t width) {
        Vec value = K == 0 ? Vec{} : load(total + i * PANEL + j);
        if (bias) value = value + loadWidth(bias + column + j, width);
        storeWidth(to + j, value, width);
      });
    }
  });
  return 0;
}

// Operands: x, codes, scales, b, y. Dims: M, K, P, W, L, S, N.
template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t* dims = launch->dims;
  const WeightForm form = weightForm(dims[6], dims[1], dims[3], dims[5]);
#if defined(SACCADE_BYTE_PRODUCT)
  if constexpr (sizeof(Stored) == sizeof(Bf16)) {
    if (form.bits == 8 && form.group >= form.depth && form.depth <= MOST_DEPTH) {
      multiplyBytes(*launch, form, dims[0], stored<Bf16>(*launch, 0),
                    stored<const uint32_t>(*launch, 1), floats(*launch, 2), stored<Bf16>(*launch, 3),
                    stored<Bf16>(*launch, 4));
      return 0;
    }
  }
#endif
#if defined(__AMX_INT8__)
  if constexpr (sizeof(Stored) == sizeof(Bf16)) {
    const bool isGroup = form.group == 64 || form.group == 128 || form.group >= form.depth;
    if (form.bits == 4 && isGroup && form.depth > 0) {
      multiplyNibbles(*launch, form, dims[0], stored<Bf16>(*launch, 0),
                      stored<const uint32_t>(*launch, 1), floats(*launch, 2),
                      stored<Bf16>(*launch, 3), stored<Bf16>(*launch, 4));
      return 0;
    }
  }
#endif
#if defined(SACCADE_WORD_PRODUCT)
  if constexpr (sizeof(Stored) == sizeof(Bf16)) {
    const auto product = form.bits == 8 ? multiplyWhole<8> : multiplyWhole<4>;
    product(*launch, form, dims[0], stored<Bf16>(*launch, 0), stored<const uint32_t>(*launch, 1),
            floats(*launch, 2), stored<Bf16>(*launch, 3), stored<Bf16>(*launch, 4));
    return 0;
  } else
#endif
  return form.bits == 8 ? multiply<Stored, 8>(*launch, form) : multiply<Stored, 4>(*launch, form);
}

}  // namespace

SACCADE_KERNEL(gemmQuantized, "x[M,K] codes[P,W,L]# scales[S,N]! b[N]? -> y[M,N]",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
