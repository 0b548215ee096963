// What both kernels of attention's backward by warpgroups share. A block owns 128 rows, or 128
// keys, 64 to a warpgroup, and walks tiles of 64 keys, or rows, that its two warpgroups share.
#pragma once

#include "attention-backward-rows.cuh"
#include "warpgroup.cuh"

namespace saccade {
namespace {

// Rows, or keys, that a block owns, and those of a tile it walks.
constexpr int OWNED = 128;
constexpr int WALKED = 64;
constexpr int GRADIENT_THREADS = 2 * WARPGROUP;
// Rows of a tile that are copied at once, by eight threads each.
constexpr int ROWS_AT_ONCE = GRADIENT_THREADS / 8;
// One tile that a slower warpgroup still reads, one at work, two that arrive.
constexpr int GRADIENT_STAGES = 4;
constexpr int OWNED_PANEL = OWNED * PANEL_BYTES, WALKED_PANEL = WALKED * PANEL_BYTES;

// Heads are whole, aligned chunks.
template <class T>
struct GroupInputs {
  const T *q, *k, *v, *dOut;
  // See firstFactOf.
  RowFacts facts;
  Forest forest;
  AttentionShape shape;
};

// How many blocks there are for tiles of keys, their parts outermost; those for tiles of rows
// follow.
struct GroupBlocks {
  int32_t keyTiles, keyBlocks, rowTiles;
};

// A fact of the rows of a walked tile, in the order in which lanes want them: lane c of a quad sees
// rows 8·j + 2·c and the next, as four times 16 bytes. The words between keep four lanes' in
// different banks.
constexpr int QUAD_FACTS = WALKED / 4 + 4;
constexpr int FACT_WORDS = 4 * QUAD_FACTS;
__host__ __device__ constexpr int factPlace(int row) {
  return row % 8 / 2 * QUAD_FACTS + row / 8 * 2 + row % 2;
}
// δ, lse and positions of a stage.
constexpr int STAGED_FACTS_BYTES = 3 * FACT_WORDS * 4;

template <class T, int HEAD>
constexpr int GRADIENT_SHARED =
    2 * HEAD_TILE_BYTES<T, OWNED, HEAD> +
    GRADIENT_STAGES * (2 * HEAD_TILE_BYTES<T, WALKED, HEAD> + STAGED_FACTS_BYTES);

// Begins to copy this thread's chunk of each panel of a head to row r of a tile of ROWS; `chunk` is
// the first of them in memory. Zeros where the tile has no such row.
template <class T, int ROWS, int HEAD>
__device__ __forceinline__ void copyHead(uint8_t* tile, const T* chunk, bool isRow, int r,
                                         int32_t D, int thread) {
#pragma unroll
  for (int panel = 0; panel < HEAD_PANELS<T, HEAD>; panel++) {
    copyAsync(tile + panel * ROWS * PANEL_BYTES + chunkOffset(r, thread % 8),
              chunk + panel * PANEL<T>,
              isRow && panel * PANEL<T> + thread % 8 * CHUNK<T> < D);
  }
}

// sums = 64 rows of `left`, in panels of OWNED, · all rows of `right`, along their heads.
template <class T, int HEAD>
__device__ __forceinline__ void beginScores(float (&sums)[WALKED / 8][4], const GroupOperand& left,
                                            const GroupOperand& right) {
#pragma unroll
  for (int step = 0; step < HEAD / GROUP_DEPTH; step++) {
    const int panel = step / 4;
    const GroupOperand lefts = operandAhead<Lie::along>(left, panel * OWNED_PANEL, step % 4);
    const GroupOperand rights = operandAhead<Lie::along>(right, panel * WALKED_PANEL, step % 4);
    if (step == 0) multiplyPanels<T, Lie::along, Lie::along, false>(sums, lefts, rights);
    else multiplyPanels<T, Lie::along, Lie::along>(sums, lefts, rights);
  }
}
// The same of rows in registers.
template <class T, int HEAD>
__device__ __forceinline__ void beginScores(float (&sums)[WALKED / 8][4],
                                            const Fragment<T> (&lefts)[HEAD / GROUP_DEPTH],
                                            const GroupOperand& right) {
#pragma unroll
  for (int step = 0; step < HEAD / GROUP_DEPTH; step++) {
    const GroupOperand rights = operandAhead<Lie::along>(right, step / 4 * WALKED_PANEL, step % 4);
    if (step == 0) multiplyHeld<T, Lie::along, false>(sums, lefts[step], rights);
    else multiplyHeld<T, Lie::along>(sums, lefts[step], rights);
  }
}
// sums += weights · the heads of a walked tile.
template <class T, int HEAD>
__device__ __forceinline__ void beginWeighted(float (&sums)[HEAD / 8][4],
                                              const Fragment<T> (&weights)[WALKED / GROUP_DEPTH],
                                              const GroupOperand& heads) {
#pragma unroll
  for (int step = 0; step < WALKED / GROUP_DEPTH; step++) {
    multiplyHeld<T, Lie::across>(sums, weights[step], operandAhead<Lie::across>(heads, 0, step));
  }
}
template <class T>
__device__ __forceinline__ void chainAll(Fragment<T> (&fragments)[WALKED / GROUP_DEPTH],
                                         const float (&tiles)[WALKED / 8][4]) {
#pragma unroll
  for (int i = 0; i < WALKED / GROUP_DEPTH; i++) chain<T>(fragments[i], &tiles[2 * i]);
}

// The positions that a row sees, or that see a key: so many from the first on.
struct Sight {
  int32_t from;
  uint32_t more;
  __device__ __forceinline__ bool has(int32_t position) const {
    return (uint32_t)(position - from) <= more;
  }
};
__device__ __forceinline__ Sight keysSeenFrom(const AttentionShape& shape, int32_t position,
                                              int32_t keys) {
  const int32_t from = shape.window > 0 && position > shape.window ? position - shape.window : 0;
  const int32_t last = shape.isCausal && position < keys ? position : keys - 1;
  return {from, (uint32_t)(last - from)};
}
__device__ __forceinline__ Sight rowsThatSee(const AttentionShape& shape, int32_t position) {
  const int32_t from = shape.isCausal ? position : 0;
  return {from, shape.window > 0 ? (uint32_t)(position - from) + (uint32_t)shape.window
                                 : (uint32_t)INT32_MAX};
}

// Both warpgroups meet once for a tile: the first before it begins the tile, the second when it has
// computed the weights of the tile before. So they keep half a tile apart, and while one computes
// weights, the other's products have the tensor cores. Behind the meeting the tile has arrived for
// the whole block, and no one reads the one before the last any more. LEFT: groups of this thread's
// copies that need not have arrived.
template <int LEFT>
__device__ __forceinline__ void meetForTile() {
  waitCopies<LEFT>();
  publishPanels();
  syncBlock();
}

}  // namespace
}  // namespace saccade
