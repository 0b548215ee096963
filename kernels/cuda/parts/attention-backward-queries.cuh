// ∂q of attention in 16 bits by warpgroups: the sums of queryGradients() in attention-backward.cu.
// While weights are computed, the products of gradients with values and those of the tile before
// are in flight.
#pragma once

#include "attention-backward-groups.cuh"

namespace saccade {
namespace {

// The segment of a path that the last position looked up lies in: tokens are positions plus
// `offset`.
struct PathPart {
  int32_t from, to, offset;

  __device__ __forceinline__ void find(const Forest& forest, const Segment& last,
                                       int32_t position) {
    Segment segment = last;
    while (segment.before > position) segment = forest.segments[segment.parent];
    from = segment.before;
    to = from + segment.end - segment.start;
    offset = segment.start - from;
  }
};

// A block's tile of rows; false where there is none. The last tiles, which see the most keys, go
// first.
__device__ __forceinline__ bool findRowTile(const Forest& forest, const AttentionShape& shape,
                                            const GroupBlocks& blocks, RowTile* tile) {
  const int32_t block = notBefore((int32_t)blockIdx.x) - blocks.keyBlocks;
  const int32_t index = forest.tiles[0] - 1 - block % blocks.rowTiles;
  if (index < 0) return false;
  tile->segment = forest.segments[segmentOfTile<&Segment::firstRowTile>(forest, index)];
  tile->first = (index - tile->segment.firstRowTile) * OWNED;
  tile->rows = (tile->segment.end - tile->segment.start) * shape.ratio;
  tile->keyHead = block / blocks.rowTiles;
  return true;
}

// Stores ∂q of a tile. Finds it again: held since, it would take registers from the walk.
template <class T, int HEAD>
__device__ __forceinline__ void storeQueries(const GroupInputs<T>& in, const GroupBlocks& blocks,
                                             const float (&sums)[HEAD / 8][4], T* dq) {
  const AttentionShape& shape = in.shape;
  RowTile rows;
  if (!findRowTile(in.forest, shape, blocks, &rows)) return;
  const int thread = notBefore((int)threadIdx.x), lane = laneOf(thread);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int r = thread / 32 * 16 + lane / 4 + 8 * half;
    const int64_t at = rows.headOf(rows.first + r, shape);
    if (at < 0) continue;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
      const int column = 8 * j + lane % 4 * 2;
      if (column >= shape.D) continue;
      storeTwo(dq + at * shape.D + column, sums[j][2 * half] * shape.scale,
               sums[j][2 * half + 1] * shape.scale);
    }
  }
}

// ∂q of a tile of rows.
template <class T, int HEAD>
__device__ __forceinline__ void queryGradientsByGroup(const GroupInputs<T>& in,
                                                      const GroupBlocks& groups, T* dq) {
  constexpr int OWNED_BYTES = HEAD_TILE_BYTES<T, OWNED, HEAD>;
  constexpr int WALKED_BYTES = HEAD_TILE_BYTES<T, WALKED, HEAD>;
  const AttentionShape& shape = in.shape;
  RowTile rows;
  if (!findRowTile(in.forest, shape, groups, &rows)) return;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpRow = thread / 32 * 16;
  uint8_t* queries = sharedMemory();
  uint8_t* gradients = queries + OWNED_BYTES;
  uint8_t* tiles = gradients + OWNED_BYTES;
  KeyBlocks blocks = keyBlocksOf(rows, OWNED, shape);
  blocks.from = sameInWarp(blocks.from);
  blocks.to = sameInWarp(blocks.to);
  const int32_t firstColumn = thread % 8 * CHUNK<T>;
#pragma unroll
  for (int i = 0; i < OWNED / ROWS_AT_ONCE; i++) {
    const int r = thread / 8 + i * ROWS_AT_ONCE;
    const int64_t row = rows.headOf(rows.first + r, shape), at = row < 0 ? 0 : row * shape.D;
    copyHead<T, OWNED, HEAD>(queries, in.q + at + firstColumn, row >= 0, r, shape.D, thread);
    copyHead<T, OWNED, HEAD>(gradients, in.dOut + at + firstColumn, row >= 0, r, shape.D, thread);
  }
  commitCopies();
  PathPart path = {0, 0, 0};
  // In bytes, so that an address is one multiplication.
  const int64_t firstByte = (int64_t)(rows.keyHead * shape.D + firstColumn) * sizeof(T);
  const uint8_t* firstKeys = reinterpret_cast<const uint8_t*>(in.k) + firstByte;
  const uint8_t* firstValues = reinterpret_cast<const uint8_t*>(in.v) + firstByte;
  const int32_t tokenBytes = shape.G * shape.D * (int32_t)sizeof(T);
  const auto begin = [&](int32_t block, uint32_t step) {
    if (block < blocks.to) {
      uint8_t* keys = tiles + step % GRADIENT_STAGES * 2 * WALKED_BYTES;
      const int32_t first = block * WALKED;
      const int32_t last = first + WALKED < blocks.keys ? first + WALKED - 1 : blocks.keys - 1;
      if (last >= path.to) path.find(in.forest, rows.segment, last);
      const bool isOnePart = first >= path.from;
#pragma unroll
      for (int i = 0; i < WALKED / ROWS_AT_ONCE; i++) {
        const int r = thread / 8 + i * ROWS_AT_ONCE;
        const bool isKey = first + r <= last;
        const int32_t position = isKey ? first + r : last;
        const int32_t token = isOnePart ? path.offset + position
                                        : tokenOnPath(in.forest, rows.segment, position);
        const int64_t bytes = (int64_t)token * tokenBytes;
        copyHead<T, WALKED, HEAD>(keys, reinterpret_cast<const T*>(firstKeys + bytes),
                                  isKey, r, shape.D, thread);
        copyHead<T, WALKED, HEAD>(keys + WALKED_BYTES,
                                  reinterpret_cast<const T*>(firstValues + bytes),
                                  isKey, r, shape.D, thread);
      }
    }
    commitCopies();
  };
  begin(blocks.from, 0);
  begin(blocks.from + 1, 1);

  const int64_t firstFact = firstFactOf(shape, rows.keyHead, rows.segment.start) + rows.first;
  float delta[2], lse[2];
  int32_t position[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int32_t r = warpRow + lane / 4 + 8 * half;
    const bool isRow = rows.first + r < rows.rows;
    delta[half] = isRow ? in.facts.delta(firstFact + r) : 0.0f;
    lse[half] = isRow ? in.facts.lse(firstFact + r) : 1e30f;
    position[half] = rows.positionOf(rows.first + r, shape.ratio);
  }
  // What this warpgroup's rows see of what the block walks.
  RowTile own = rows;
  own.first += thread / WARPGROUP * GROUP_ROWS;
  const bool isAhead = sameInWarp(thread / WARPGROUP) == 0;
  KeyBlocks seen = {blocks.from, blocks.from, 0, 0, 0};
  if (own.first < own.rows) seen = keyBlocksOf(own, GROUP_ROWS, shape);
  seen.from = sameInWarp(seen.from);
  seen.to = sameInWarp(seen.to);

  Fragment<T> heldQueries[HEAD / GROUP_DEPTH], heldGradients[HEAD / GROUP_DEPTH];
  waitCopies<2>();
  syncBlock();
#pragma unroll
  for (int step = 0; step < HEAD / GROUP_DEPTH; step++) {
    const int panel = step / 4 * OWNED_PANEL;
    loadAlong<T>(heldQueries[step], queries + panel, warpRow, step % 4, lane);
    loadAlong<T>(heldGradients[step], gradients + panel, warpRow, step % 4, lane);
  }
  const float unit = shape.scale * LOG2_E;
  float sums[HEAD / 8][4] = {};
  Fragment<T> held[WALKED / GROUP_DEPTH];
  const GroupOperand keysAlong = operandAlong(tiles, 0, 0);
  const GroupOperand keysAcross = operandAcross(tiles, 0, WALKED_PANEL);
  int32_t block = blocks.from;
  uint32_t step = 0;
  const auto meetAhead = [&] {
    if (isAhead) meetForTile<1>();
  };
  const auto meetBehind = [&] {
    if (!isAhead && block + 1 < blocks.to) meetForTile<0>();
  };
  const auto pass = [&](int32_t to) {
#pragma unroll 1
    for (; block < to; block++, step++) {
      meetAhead();
      meetBehind();
      begin(block + 2, step + 2);
    }
  };
  if (!isAhead && blocks.from < blocks.to) meetForTile<1>();
  pass(seen.from);
#pragma unroll 1
  for (; block < seen.to; block++, step++) {
    meetAhead();
    const int stage = sameInWarp((int)(step % GRADIENT_STAGES) * 2 * WALKED_BYTES);
    float scores[WALKED / 8][4], weights[WALKED / 8][4];
    beginProducts();
    beginScores<T, HEAD>(scores, heldQueries, operandAhead<Lie::along>(keysAlong, stage, 0));
    commitProducts();
    beginScores<T, HEAD>(weights, heldGradients,
                         operandAhead<Lie::along>(keysAlong, stage + WALKED_BYTES, 0));
    commitProducts();
    waitProducts<1>();
    holdSums(scores);
    const auto weigh = [&](const auto& isSeen) {
#pragma unroll
      for (int j = 0; j < WALKED / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const float p = powerOfTwo(scores[j][i] * unit - lse[i / 2]);
          scores[j][i] = isSeen(8 * j + i % 2, i / 2) ? p : 0.0f;
        }
      }
    };
    if (block >= seen.full && block < seen.fullEnd) {
      weigh([](int, int) { return true; });
    } else {
      const int32_t firstKey = block * WALKED + lane % 4 * 2;
      Sight sight[2];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        sight[half] = keysSeenFrom(shape, notBefore(position[half]), seen.keys);
      }
      weigh([&](int column, int half) { return sight[half].has(firstKey + column); });
    }
    meetBehind();
    waitProducts<0>();
    holdSums(weights);
#pragma unroll
    for (int j = 0; j < WALKED / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) weights[j][i] = scores[j][i] * (weights[j][i] - delta[i / 2]);
    }
    chainAll<T>(held, weights);
    beginProducts();
    beginWeighted<T, HEAD>(sums, held, operandAhead<Lie::across>(keysAcross, stage, 0));
    commitProducts();
    begin(block + 2, step + 2);
  }
  waitProducts<0>();
  holdSums(sums);
  pass(blocks.to);
  waitCopies<0>();
  storeQueries<T, HEAD>(in, groups, sums, dq);
}

}  // namespace
}  // namespace saccade
