// The register tile every matrix product in this folder is made of: ROWS × VECS vectors of
// accumulators, one fused multiply-add chain per output element, depth ascending.
//
// An element's bits depend only on its own row of A and column of B: whatever the tile's size or
// the element's place in it, the chain is the same. Batch invariance rests on this function.
//
// AVX-512: 14 × 2 vectors (28 accumulators, 2 of B, the rest for broadcasts); AVX2: 6 × 2;
// otherwise 4 × 2. Operands come in words (storage.h): the depth counts words.
#pragma once

#include "storage.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AVX512F__)
constexpr int TILE_ROWS = 14;
#elif defined(__AVX2__)
constexpr int TILE_ROWS = 6;
#else
constexpr int TILE_ROWS = 4;
#endif
constexpr int TILE_VECS = 2;
// Columns of one packed panel of B.
constexpr int PANEL = TILE_VECS * LANES;

// How the product meets what is in C.
enum class Into {
  overwrite,  // C = A·B
  add,        // C = C + A·B, the product summed first
  chain,      // C = C + A·B, the chain starting from C
  stream      // C = A·B past the caches, where whole vectors of C are aligned: nobody reads it soon
};

// A is read as broadcasts: element (i, k) at a[i * rowStride + k * depthStride]. Either stride
// must be 1 for speed; the template says which, so addresses stay cheap.
enum class Rows { contiguousDepth, contiguousRows };

constexpr int64_t LINE_BYTES = 64;
// Lines that a tile asks for while it multiplies, one with each depth: `first` and PANEL - 1 others, `apart` bytes
// from each other, and at each PANEL depths more the lines after them. Of many at once processors drop those that
// they have no room for.
struct LinesAhead {
  const char* first;
  int64_t apart;
};

// One tile: C[rows, vecs·LANES], of which `width` columns are stored, from A[rows, depth] and
// B[depth, vecs·LANES] with `bStride` floats between depths. `stride` is A's stride that is not 1.
// The bias may be null and is added last.
using TileFunction = void (*)(int64_t depth, const float* a, int64_t stride, const float* b,
                              int64_t bStride, float* c, int64_t cStride, int64_t width, Into into,
                              const float* bias, LinesAhead ahead);

// The tile of 1 … TILE_ROWS rows and 1 or 2 vectors.
TileFunction tileFor(int64_t rows, int vecs, Rows layout, Words words);
// That of 2 vectors and rows whose depth is contiguous, which asks for lines ahead; others do not. AVX-512 alone
// has it.
TileFunction fetchingTileFor(int64_t rows, Words words);

// B as panels of PANEL columns: depth k of panel p is at data[p · panelStride + k · depthStride].
// Packed panels have depthStride PANEL; plain rows of a multiple of LANES floats have panelStride
// PANEL.
struct Panels {
  const float* data;
  int64_t panelStride;
  int64_t depthStride;
  // A panel that is read next, asked for along with the last one; null for none.
  const float* next = nullptr;
};

#if defined(__AMX_BF16__)
// Rows of a matrix of A and words of its depth.
constexpr int64_t MATRIX = 16;
// The shapes of the tile registers: C in 0 … 3, row by row, A in 4 and 5, B in 6 and 7.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {};

  TileConfig() = default;
  TileConfig(int64_t upper, int64_t lower) {
    const int64_t heights[8] = {upper, upper, lower, lower, upper, lower, MATRIX, MATRIX};
    for (int i = 0; i < 8; i++) rows[i] = (uint8_t)heights[i];
  }
};

// The compiler does not know what memory the instructions of AMX read and write.
SACCADE_INLINE void settleMemory() { asm volatile("" : : : "memory"); }

// Loading a configuration takes as long as twenty products; asking for the present one does not.
SACCADE_INLINE void configure(const TileConfig& wanted) {
  TileConfig now;
  _tile_storeconfig(&now);
  settleMemory();
  if (memcmp(&now, &wanted, sizeof now) != 0) _tile_loadconfig(&wanted);
}

// The tile of pairs by AMX: at most two matrices of rows, whose words lie along the depth, and a panel.
void multiplyMatrices(int64_t rows, int64_t depth, const float* a, int64_t stride, const float* b,
                      int64_t bStride, float* c, int64_t cStride, int64_t width, Into into,
                      const float* bias);
// The same with rows side by side at each word of depth, which matrices do not take: turned first.
SACCADE_INLINE void multiplyAcross(int64_t rows, int64_t depth, const float* a, int64_t stride,
                                   const float* b, int64_t bStride, float* c, int64_t cStride,
                                   int64_t width, Into into, const float* bias) {
  constexpr int64_t WORDS = 384;
  alignas(64) float turned[2 * MATRIX][WORDS];
  for (int64_t k = 0; k < depth; k += WORDS) {
    const int64_t count = smaller(WORDS, depth - k);
    for (int64_t w = 0; w < count; w++) {
      for (int64_t i = 0; i < rows; i++) turned[i][w] = a[(k + w) * stride + i];
    }
    const bool isLast = k + count == depth;
    const Into first = isLast || into != Into::stream ? into : Into::overwrite;
    multiplyMatrices(rows, count, turned[0], WORDS, b + k * bStride, bStride, c, cStride, width,
                     k > 0 ? Into::add : first, isLast ? bias : nullptr);
  }
}
// Gives the thread's matrices back, once after many products.
void finishMatrices();
#else
SACCADE_INLINE void finishMatrices() {}
#endif

// A panel that comes from beyond L2 would hold up the first tile that reads it, most of all where others
// use the caches, too.
constexpr bool FETCHES_PANELS = LANES == 8;

// C[rows, columns] from A[rows, depth] and B[depth, columns]. `stride` is A's other stride: between
// rows for contiguousDepth, between depths for contiguousRows. Columns beyond `columns` are neither
// read from C nor written. Tiles have at most `tileRows` rows.
template <Rows LAYOUT, Words WORDS = Words::floats>
static inline void multiplyPanels(int64_t rows, int64_t columns, int64_t depth, const float* a,
                                  int64_t stride, Panels b, float* c, int64_t cStride, Into into,
                                  const float* bias = nullptr, int64_t tileRows = TILE_ROWS) {
  for (int64_t j = 0; j < columns; j += PANEL) {
    const int64_t width = smaller(PANEL, columns - j);
    const int vecs = width <= LANES ? 1 : TILE_VECS;
    const float* panel = b.data + j / PANEL * b.panelStride;
#if defined(__AMX_BF16__)
    if constexpr (WORDS == Words::pairs) {
      for (int64_t i = 0; i < rows; i += 2 * MATRIX) {
        const int64_t count = smaller(2 * MATRIX, rows - i);
        float* to = c + i * cStride + j;
        const float* added = bias ? bias + j : nullptr;
        if constexpr (LAYOUT == Rows::contiguousRows) {
          multiplyAcross(count, depth, a + i, stride, panel, b.depthStride, to, cStride, width, into,
                         added);
        } else {
          multiplyMatrices(count, depth, a + i * stride, stride, panel, b.depthStride, to, cStride,
                           width, into, added);
        }
      }
      continue;
    }
#endif
    // Tiles of about the same height: a low one at the end would wait for its own loads.
    int64_t tiles = divideUp(rows, tileRows);
    const bool fetches = FETCHES_PANELS && b.next && j + PANEL >= columns;
    const int64_t fetchedEach = fetches ? divideUp(depth, tiles) : 0;
    for (int64_t i = 0, count, k = 0; i < rows; i += count, tiles--) {
      count = divideUp(rows - i, tiles);
      for (const int64_t end = smaller(depth, k + fetchedEach); k < end; k++) {
        prefetch(b.next + k * b.depthStride);
      }
      const TileFunction tile = tileFor(count, vecs, LAYOUT, WORDS);
      const float* block = a + (LAYOUT == Rows::contiguousDepth ? i * stride : i);
      tile(depth, block, stride, panel, b.depthStride, c + i * cStride + j, cStride, width, into,
           bias ? bias + j : nullptr, {});
    }
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
