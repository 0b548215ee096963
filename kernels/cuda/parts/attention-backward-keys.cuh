// ∂k and ∂v of attention in 16 bits by warpgroups: the sums of keyGradients() in
// attention-backward.cu. While weights are computed, two groups of products are in flight.
#pragma once

#include "attention-backward-groups.cuh"

namespace saccade {
namespace {

// A fact of the rows 8·j + 2·c + p that lane c of a quad sees: word j % 2·2 + p of facts j / 2.
__device__ __forceinline__ void loadFacts(uint32_t (&facts)[WALKED / 16][4], const uint32_t* from) {
#pragma unroll
  for (int i = 0; i < WALKED / 16; i++) loadWords(facts[i], from + 4 * i);
}

// A block's tile of keys, its key head, and its part of the tile's rows.
struct KeyBlock {
  int32_t tile, keyHead, part;
};
__device__ __forceinline__ KeyBlock keyBlockOf(const GroupBlocks& blocks, int32_t heads) {
  const int32_t block = notBefore((int32_t)blockIdx.x), row = block / blocks.keyTiles;
  return {block % blocks.keyTiles, row % heads, row / heads};
}

// Stores ∂k and ∂v of a tile, or of its part. Finds the tile again: held since, it would take
// registers from the walk.
template <class T, int HEAD>
__device__ __forceinline__ void storeKeys(const GroupInputs<T>& in, const GroupBlocks& blocks,
                                          const float (&keySums)[HEAD / 8][4],
                                          const float (&valueSums)[HEAD / 8][4], T* dk, T* dv,
                                          float* partSums) {
  const AttentionShape& shape = in.shape;
  const KeyBlock block = keyBlockOf(blocks, shape.G);
  const KeyTile tile = findKeyTile<OWNED, WALKED>(in.forest, shape, block.tile);
  const int thread = notBefore((int)threadIdx.x), lane = laneOf(thread);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int32_t key = thread / 32 * 16 + lane / 4 + 8 * half, token = tile.firstKey + key;
    if (token >= tile.segment.end) continue;
    if (tile.parts > 1) {
      float* sums = partOf<OWNED, HEAD>(partSums, block.tile, block.keyHead, shape.G, block.part) +
                    key * HEAD;
#pragma unroll
      for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
          const int column = 8 * j + lane % 4 * 2 + p;
          sums[column] = keySums[j][2 * half + p];
          sums[OWNED * HEAD + column] = valueSums[j][2 * half + p];
        }
      }
      continue;
    }
    const int64_t at = ((int64_t)token * shape.G + block.keyHead) * shape.D;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
      const int column = 8 * j + lane % 4 * 2;
      if (column >= shape.D) continue;
      if (dk) {
        storeTwo(dk + at + column, keySums[j][2 * half] * shape.scale,
                  keySums[j][2 * half + 1] * shape.scale);
      }
      if (dv) storeTwo(dv + at + column, valueSums[j][2 * half], valueSums[j][2 * half + 1]);
    }
  }
}

// ∂k and ∂v of a part of a tile of keys. `partSums`: for the tiles that are cut; null if none can
// be.
template <class T, int HEAD>
__device__ __forceinline__ void keyGradientsByGroup(const GroupInputs<T>& in,
                                                    const GroupBlocks& blocks, T* dk, T* dv,
                                                    float* partSums) {
  constexpr int OWNED_BYTES = HEAD_TILE_BYTES<T, OWNED, HEAD>;
  constexpr int WALKED_BYTES = HEAD_TILE_BYTES<T, WALKED, HEAD>;
  const AttentionShape& shape = in.shape;
  const KeyBlock block = keyBlockOf(blocks, shape.G);
  const int32_t keyHead = block.keyHead;
  if (block.tile >= in.forest.tiles[1]) return;
  const KeyTile tile = findKeyTile<OWNED, WALKED>(in.forest, shape, block.tile);
  if (block.part >= tile.parts) return;
  const int32_t segmentEnd = tile.segment.end, firstKey = tile.firstKey;
  const int32_t firstTile = sameInWarp(block.part * tile.partTiles);
  const int32_t endTile = sameInWarp(
      firstTile + tile.partTiles < tile.rowTiles ? firstTile + tile.partTiles : tile.rowTiles);
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpKey = thread / 32 * 16;
  const int groupKey = sameInWarp(thread / WARPGROUP * GROUP_ROWS);
  uint8_t* keys = sharedMemory();
  uint8_t* values = keys + OWNED_BYTES;
  uint8_t* tiles = values + OWNED_BYTES;
  uint32_t* facts = reinterpret_cast<uint32_t*>(tiles + GRADIENT_STAGES * 2 * WALKED_BYTES);
  const int32_t firstColumn = thread % 8 * CHUNK<T>;
  const auto keyAt = [&](int r) -> int64_t {
    return firstKey + r < segmentEnd ? (int64_t)(firstKey + r) * shape.G + keyHead : -1;
  };
#pragma unroll
  for (int i = 0; i < OWNED / ROWS_AT_ONCE; i++) {
    const int r = thread / 8 + i * ROWS_AT_ONCE;
    const int64_t row = keyAt(r), at = row < 0 ? 0 : row * shape.D;
    copyHead<T, OWNED, HEAD>(keys, in.k + at + firstColumn, row >= 0, r, shape.D, thread);
    copyHead<T, OWNED, HEAD>(values, in.v + at + firstColumn, row >= 0, r, shape.D, thread);
  }
  // The chunk this thread copies next, and its head among the key head's.
  const int32_t firstRow = firstTile * WALKED + thread / 8;
  const int32_t rowChunks = shape.D / CHUNK<T>, headsAhead = ROWS_AT_ONCE % shape.ratio;
  int32_t head = firstRow % shape.ratio;
  uint32_t next = (uint32_t)((tile.from + firstRow / shape.ratio) * shape.H +
                             keyHead * shape.ratio + head) * rowChunks + thread % 8;
  const int32_t ahead = (ROWS_AT_ONCE / shape.ratio * shape.H + headsAhead) * rowChunks;
  const int32_t toNextToken = (shape.H - shape.ratio) * rowChunks;
  const int32_t rowCount = tile.rows;
  // The fact it copies of the next tile, and of which of its rows.
  const int factRow = thread % WALKED;
  uint32_t nextFact = (uint32_t)(thread / WALKED * in.facts.rows +
                                 firstFactOf(shape, keyHead, tile.from)) +
                      firstTile * WALKED + factRow;
  uint32_t* factTo = facts + thread / WALKED * FACT_WORDS + factPlace(factRow);
  const auto begin = [&](int32_t i, uint32_t step) {
    if (i < endTile) {
      const int stage = (int)(step % GRADIENT_STAGES);
      uint8_t* queries = tiles + stage * 2 * WALKED_BYTES;
#pragma unroll
      for (int half = 0; half < WALKED / ROWS_AT_ONCE; half++) {
        const int r = thread / 8 + half * ROWS_AT_ONCE;
        const bool isRow = i * WALKED + r < rowCount;
        copyHead<T, WALKED, HEAD>(queries, in.q + (int64_t)next * CHUNK<T>, isRow, r, shape.D, thread);
        copyHead<T, WALKED, HEAD>(queries + WALKED_BYTES, in.dOut + (int64_t)next * CHUNK<T>,
                                  isRow, r, shape.D, thread);
        next += ahead;
        head += headsAhead;
        if (head >= shape.ratio) {
          head -= shape.ratio;
          next += toNextToken;
        }
      }
      if (thread < 3 * WALKED) {
        copyWordAsync(factTo + stage * 3 * FACT_WORDS, in.facts.words + nextFact,
                      i * WALKED + factRow < rowCount);
        nextFact += WALKED;
      }
    }
    commitCopies();
  };
  begin(firstTile, 0);
  begin(firstTile + 1, 1);

  // The tiles of rows that none of this warpgroup's keys is seen by, and those that see them all.
  int32_t seenFrom = 0, full = 0, fullEnd = rowCount / WALKED;
  if (shape.isCausal) {
    const int32_t first = firstKey + groupKey, last = first + GROUP_ROWS < segmentEnd
                                                          ? first + GROUP_ROWS - 1
                                                          : segmentEnd - 1;
    seenFrom = first < segmentEnd ? (first - tile.from) * shape.ratio / WALKED : endTile;
    seenFrom = sameInWarp(seenFrom < endTile ? seenFrom : endTile);
    full = sameInWarp(((last - tile.from) * shape.ratio + WALKED - 1) / WALKED);
  }
  if (shape.window > 0) fullEnd = 0;
  const int32_t ownPosition =
      tile.segment.before + firstKey - tile.segment.start + warpKey + lane / 4;
  const float unit = shape.scale * LOG2_E;
  float keySums[HEAD / 8][4] = {}, valueSums[HEAD / 8][4] = {};
  Fragment<T> heldScores[WALKED / GROUP_DEPTH], heldWeights[WALKED / GROUP_DEPTH];
  const GroupOperand ownKeys = operandAlong(keys, groupKey, 0);
  const GroupOperand ownValues = operandAlong(values, groupKey, 0);
  const GroupOperand rowsAlong = operandAlong(tiles, 0, 0);
  const GroupOperand rowsAcross = operandAcross(tiles, 0, WALKED_PANEL);
  int32_t i = firstTile;
  uint32_t step = 0;
  const bool isAhead = groupKey == 0;
  const auto meetAhead = [&] {
    if (isAhead) meetForTile<1>();
  };
  const auto meetBehind = [&] {
    if (!isAhead && i + 1 < endTile) meetForTile<1>();
  };
  if (!isAhead && firstTile < endTile) meetForTile<1>();
#pragma unroll 1
  for (; i < seenFrom; i++, step++) {
    meetAhead();
    begin(i + 2, step + 2);
    meetBehind();
  }
#pragma unroll 1
  for (; i < endTile; i++, step++) {
    meetAhead();
    const int stage = (int)(step % GRADIENT_STAGES), queries = stage * 2 * WALKED_BYTES;
    const int gradients = queries + WALKED_BYTES;
    const uint32_t* rows = facts + stage * 3 * FACT_WORDS + lane % 4 * QUAD_FACTS;
    uint32_t lse[WALKED / 16][4];
    loadFacts(lse, rows + FACT_WORDS);
    float scores[WALKED / 8][4], weights[WALKED / 8][4];
    beginProducts();
    beginScores<T, HEAD>(scores, ownKeys, operandAhead<Lie::along>(rowsAlong, queries, 0));
    commitProducts();
    beginScores<T, HEAD>(weights, ownValues, operandAhead<Lie::along>(rowsAlong, gradients, 0));
    commitProducts();
    // Those of the tile before are done, their registers free.
    waitProducts<2>();
    begin(i + 2, step + 2);
    uint32_t delta[WALKED / 16][4];
    loadFacts(delta, rows);
    waitProducts<1>();
    holdSums(scores);
    const auto weigh = [&](const auto& isSeen) {
#pragma unroll
      for (int j = 0; j < WALKED / 8; j++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
          const float own = wordAsFloat(lse[j / 2][j % 2 * 2 + p]);
#pragma unroll
          for (int half = 0; half < 2; half++) {
            float& score = scores[j][2 * half + p];
            score = powerOfTwo(score * unit - own);
            if (!isSeen(j, p, half)) score = 0.0f;
          }
        }
      }
    };
    if (i >= full && i < fullEnd) {
      weigh([](int, int, int) { return true; });
    } else {
      // Rows beyond the last are zeros, and weigh nothing.
      const int32_t own = notBefore(ownPosition);
      const Sight sight[2] = {rowsThatSee(shape, own), rowsThatSee(shape, own + 8)};
      uint32_t positions[WALKED / 16][4];
      loadFacts(positions, rows + 2 * FACT_WORDS);
      weigh([&](int j, int p, int half) {
        return sight[half].has((int32_t)positions[j / 2][j % 2 * 2 + p]);
      });
    }
    meetBehind();
    chainAll<T>(heldScores, scores);
    beginProducts();
    beginWeighted<T, HEAD>(valueSums, heldScores,
                           operandAhead<Lie::across>(rowsAcross, gradients, 0));
    commitProducts();
    waitProducts<1>();
    holdSums(weights);
#pragma unroll
    for (int j = 0; j < WALKED / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const float own = wordAsFloat(delta[j / 2][j % 2 * 2 + p]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float& weight = weights[j][2 * half + p];
          weight = scores[j][2 * half + p] * (weight - own);
        }
      }
    }
    chainAll<T>(heldWeights, weights);
    beginProducts();
    beginWeighted<T, HEAD>(keySums, heldWeights,
                           operandAhead<Lie::across>(rowsAcross, queries, 0));
    commitProducts();
  }
  waitProducts<0>();
  holdSums(keySums);
  holdSums(valueSums);
  waitCopies<0>();
  storeKeys<T, HEAD>(in, blocks, keySums, valueSums, dk, dv, partSums);
}

}  // namespace
}  // namespace saccade
