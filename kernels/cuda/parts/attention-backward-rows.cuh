// What the kernels of attention's backward share: the statistics of rows, tiles of keys with the
// rows that may see them, and the sums of tiles that are cut.
#pragma once

#include "attention-backward.cuh"
#include "chunk.cuh"

namespace saccade {
namespace {

// δ of every row, then lse of every row in units of ln 2, then every position.
struct RowFacts {
  uint32_t* words;
  int64_t rows;

  __device__ __forceinline__ float delta(int64_t row) const { return wordAsFloat(words[row]); }
  __device__ __forceinline__ float lse(int64_t row) const {
    return wordAsFloat(words[rows + row]);
  }
  __device__ __forceinline__ int32_t position(int64_t row) const {
    return (int32_t)words[2 * rows + row];
  }
};

// The facts of a key head's rows, token after token: rows [keyHead·T·ratio, …). A segment's are
// neighbors there.
__device__ __forceinline__ int64_t firstFactOf(const AttentionShape& shape, int32_t keyHead,
                                               int32_t token) {
  return ((int64_t)keyHead * shape.T + token) * shape.ratio;
}

// Half a warp per head.
template <class T>
__global__ void __launch_bounds__(256)
    prepareRows(const T* dOut, const T* out, const float* dLse, const float* lse,
                const int32_t* positions, AttentionShape shape, bool isWhole, RowFacts facts) {
  const int64_t at = (int64_t)blockIdx.x * 16 + threadIdx.x / 16;
  const int lane = (int)threadIdx.x % 16;
  const bool isRow = at < shape.T * shape.H;
  float sum = 0.0f;
  if (dOut && isRow) {
    for (int first = lane * CHUNK<T>; first < shape.D; first += 16 * CHUNK<T>) {
      float gradients[CHUNK<T>], values[CHUNK<T>];
      loadChunk(gradients, dOut + at * shape.D + first, shape.D - first, isWhole);
      loadChunk(values, out + at * shape.D + first, shape.D - first, isWhole);
#pragma unroll
      for (int i = 0; i < CHUNK<T>; i++) sum += gradients[i] * values[i];
    }
  }
#pragma unroll
  for (int mask = 8; mask > 0; mask /= 2) sum += shuffleXor(sum, mask);
  if (lane != 0 || !isRow) return;
  const int32_t token = (int32_t)(at / shape.H), head = (int32_t)(at % shape.H);
  const int64_t place = head * shape.T + token;
  const float own = lse[place];
  // A row that sees nothing has no weights: any large number keeps the powers at zero.
  const int64_t fact = firstFactOf(shape, head / shape.ratio, token) + head % shape.ratio;
  facts.words[fact] = floatAsWord(sum - (dLse ? dLse[place] : 0.0f));
  facts.words[facts.rows + fact] = floatAsWord(own < -1e37f ? 1e30f : own * LOG2_E);
  facts.words[2 * facts.rows + fact] = (uint32_t)positions[token];
}

constexpr int32_t MOST_PARTS = 4;
// Rows of tiles that are not cut: what a block takes for them is much more than for a part's sums.
constexpr int32_t LEAST_ROWS = 4096;

// A tile of COUNT keys of a segment, and the rows of which some may see them, in tiles of ROWS.
struct KeyTile {
  Segment segment;
  int32_t firstKey;
  // The first row's token, and how many rows and tiles of them there are.
  int32_t from, rows, rowTiles;
  // How many parts the tiles are cut into, and how many a part has. It hangs on the segment and its
  // descendants alone, so what else is in the batch changes no bit.
  int32_t parts, partTiles;
};
template <int COUNT, int ROWS>
__device__ inline KeyTile findKeyTile(const Forest& forest, const AttentionShape& shape,
                                      int32_t index) {
  KeyTile tile = {};
  tile.segment = forest.segments[segmentOfTile<&Segment::firstKeyTile>(forest, index)];
  tile.firstKey = tile.segment.start + (index - tile.segment.firstKeyTile) * COUNT;
  tile.from = shape.isCausal ? tile.firstKey : tile.segment.start;
  tile.rows = (tile.segment.subtreeEnd - tile.from) * shape.ratio;
  tile.rowTiles = (tile.rows + ROWS - 1) / ROWS;
  const bool isShared = tile.segment.subtreeEnd > tile.segment.end;
  const int32_t wanted = isShared ? (tile.rows + LEAST_ROWS - 1) / LEAST_ROWS : 1;
  tile.parts = wanted < MOST_PARTS ? wanted : MOST_PARTS;
  tile.partTiles = (tile.rowTiles + tile.parts - 1) / tile.parts;
  return tile;
}

// Sums of a part of a tile's rows, of ∂k and then of ∂v, [COUNT,HEAD] each; by tile, key head,
// part.
template <int COUNT, int HEAD>
constexpr int64_t PART_FLOATS = 2 * COUNT * HEAD;
template <int COUNT, int HEAD>
__device__ __forceinline__ float* partOf(float* sums, int32_t tile, int32_t keyHead, int32_t heads,
                                         int32_t part) {
  return sums + (((int64_t)tile * heads + keyHead) * MOST_PARTS + part) * PART_FLOATS<COUNT, HEAD>;
}

// The sums of tiles that were cut, part after part.
template <class T, int COUNT, int ROWS, int HEAD>
__global__ void __launch_bounds__(256)
    addKeyParts(Forest forest, AttentionShape shape, float* partSums, T* dk, T* dv) {
  if ((int32_t)blockIdx.x >= forest.tiles[1]) return;
  const KeyTile tile = findKeyTile<COUNT, ROWS>(forest, shape, (int32_t)blockIdx.x);
  if (tile.parts == 1) return;
  const int32_t keyHead = (int32_t)blockIdx.y;
  const float* first = partOf<COUNT, HEAD>(partSums, (int32_t)blockIdx.x, keyHead, shape.G, 0);
  for (int i = (int)threadIdx.x; i < COUNT * HEAD; i += 256) {
    const int32_t token = tile.firstKey + i / HEAD, column = i % HEAD;
    if (token >= tile.segment.end || column >= shape.D) continue;
    float keySum = 0.0f, valueSum = 0.0f;
    for (int32_t part = 0; part < tile.parts; part++) {
      keySum += first[part * PART_FLOATS<COUNT, HEAD> + i];
      valueSum += first[part * PART_FLOATS<COUNT, HEAD> + COUNT * HEAD + i];
    }
    const int64_t at = ((int64_t)token * shape.G + keyHead) * shape.D + column;
    if (dk) dk[at] = rounded<T>(keySum * shape.scale);
    if (dv) dv[at] = rounded<T>(valueSum);
  }
}

}  // namespace
}  // namespace saccade
