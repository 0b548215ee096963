// Shared by the attention kernels: tiles of heads in shared memory, scores of a warp's rows against
// a tile of 64 keys, and the mask.
#pragma once

#include <math.h>

#include "forest.cuh"
#include "fragment.cuh"

namespace saccade {

constexpr int ATTEND_THREADS = 128;
constexpr int KEYS = 64;
// Keys, or rows, whose scores a warp holds at a time.
constexpr int PART = 32;
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;
// Scores that are not seen: far below any other, and not an infinity that could meet another.
constexpr float UNSEEN = -1e30f;

// Heads are padded with zeros to HEAD elements, whole panels.
template <class T, int HEAD>
constexpr int HEAD_PANELS = HEAD / PANEL<T>;
template <class T, int ROWS, int HEAD>
constexpr int HEAD_TILE_BYTES = ROWS * HEAD * (int)sizeof(T);

struct AttentionShape {
  int64_t T;
  int32_t H, D, G;
  // Query heads of a key head.
  int32_t ratio;
  float scale;
  bool isCausal;
  // How many positions before its own a query sees; 0: all.
  int32_t window;
};

// Reads the shape of an attention launch from its dims T, H, D, G and its scale, causality, window.
inline int readShape(const SaccadeDeviceLaunch& launch, int64_t T, int64_t H, int64_t D, int64_t G,
                     double scale, bool isCausal, double window, AttentionShape* shape) {
  if (G < 1 || H < G || H % G != 0) {
    return fail(launch, "k has %lld heads, q has %lld; q's heads must be a multiple of k's.",
                (long long)G, (long long)H);
  }
  if (D < 1 || D > 128 || H > 65535) {
    return fail(launch, "%lld heads of %lld elements; this device takes up to 65535 of 1 to 128. "
                "Use the CPU.", (long long)H, (long long)D);
  }
  // Rows are counted to the end of their last tile.
  if (T > (INT32_MAX - 128) / (H / G)) {
    return fail(launch, "%lld tokens of %lld heads to a key head do not fit int32. Use smaller batches.",
                (long long)T, (long long)(H / G));
  }
  if (!(window >= 0 && window < INT32_MAX && window == (double)(int64_t)window)) {
    return fail(launch, "window is %g; pass a whole number, 0 for no window.", window);
  }
  const float own = (float)(scale == 0 ? 1.0 / sqrt((double)D) : scale);
  *shape = {T,   (int32_t)H, (int32_t)D, (int32_t)G, (int32_t)(H / G),
            own, isCausal,   (int32_t)window};
  return 0;
}

// Begins to copy ROWS heads with THREADS threads; row r of the tile is row rowOf(r) of the matrix
// [·, D], zeros if negative.
template <class T, int ROWS, int HEAD, int THREADS = ATTEND_THREADS, class RowOf>
__device__ __forceinline__ void stageHeads(uint8_t* tile, const Matrix<T>& matrix, int thread,
                                           const RowOf& rowOf) {
  static_assert(ROWS * 8 % THREADS == 0, "every thread copies the same chunk of some rows");
#pragma unroll
  for (int i = 0; i < ROWS * 8 / THREADS; i++) {
    const int r = thread / 8 + i * (THREADS / 8);
    const int64_t row = rowOf(r);
#pragma unroll
    for (int panel = 0; panel < HEAD_PANELS<T, HEAD>; panel++) {
      stageChunk<T>(tile + panel * ROWS * PANEL_BYTES + chunkOffset(r, thread % 8), matrix, row,
                    panel * PANEL<T> + thread % 8 * CHUNK<T>);
    }
  }
}

// scores[j] += rows [row, row + 16) of `left` · rows [column + 8j, …) of `right`, tiles of so many
// heads.
template <class T, int HEAD, int LEFT_ROWS, int RIGHT_ROWS = KEYS, int COUNT>
__device__ __forceinline__ void multiplyHeads(float (&scores)[COUNT][4], const uint8_t* left,
                                              int row, const uint8_t* right, int column, int lane) {
#pragma unroll
  for (int step = 0; step < HEAD / DEPTH<T>; step++) {
    Fragment<T> lefts;
    const int panel = step / 4;
    loadAlong<T>(lefts, left + panel * LEFT_ROWS * PANEL_BYTES, row, step % 4, lane);
#pragma unroll
    for (int j = 0; j < COUNT / 2; j++) {
      Fragment<T> rights;
      loadAlong<T>(rights, right + panel * RIGHT_ROWS * PANEL_BYTES, column + 16 * j, step % 4, lane);
      multiply(scores[2 * j], scores[2 * j + 1], lefts, rights);
    }
  }
}

// sums[j] += weights · columns column + 8j … of rows [row, row + 8·COUNT) of a tile of ROWS heads,
// for a warp's 16 rows of weights.
template <class T, int ROWS = KEYS, int COUNT, int COLUMNS>
__device__ __forceinline__ void addWeighted(float (&sums)[COLUMNS][4],
                                            const float (&weights)[COUNT][4], const uint8_t* tile,
                                            int row, int column, int lane) {
#pragma unroll
  for (int step = 0; step < COUNT / CHAINED_TILES<T>; step++) {
    Fragment<T> lefts;
    chain<T>(lefts, &weights[step * CHAINED_TILES<T>]);
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j++) {
      Fragment<T> rights;
      const int at = column + 16 * j, panel = at / PANEL<T>;
      loadAcrossChained<T>(rights, tile + panel * ROWS * PANEL_BYTES, row + step * DEPTH<T>,
                           at % PANEL<T>, lane);
      multiply(sums[2 * j], sums[2 * j + 1], lefts, rights);
    }
  }
}

// Whether a query at one position sees a key at another, both on the same path.
__device__ __forceinline__ bool sees(const AttentionShape& shape, int32_t query, int32_t key) {
  return (!shape.isCausal || key <= query) && (shape.window == 0 || key >= query - shape.window);
}

// Sum and maximum over the four lanes that share a row.
__device__ __forceinline__ float sumQuad(float value) {
  value += shuffleXor(value, 1);
  return value + shuffleXor(value, 2);
}
__device__ __forceinline__ float largestOfQuad(float value) {
  value = fmaxf(value, shuffleXor(value, 1));
  return fmaxf(value, shuffleXor(value, 2));
}

// A row's largest score so far, and the sum of its weights that this lane has seen.
struct RowSum {
  float largest, total;
};
// Scores are shifted by this before they become weights. Nothing seen yet: any shift keeps the
// unseen at zero.
__device__ __forceinline__ float shiftOf(float largest) { return largest <= UNSEEN ? 0.0f : largest; }

// Scales a lane's scores of one row, hides what is not seen, isSeen(c) being asked of the key at
// column c beyond the lane's first, and returns the largest of the row.
template <int COUNT, class IsSeen>
__device__ __forceinline__ float scaleScores(float (&scores)[COUNT][4], int half, float scale,
                                             const IsSeen& isSeen) {
  const float unit = scale * LOG2_E;
  float most = UNSEEN;
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      float& score = scores[j][2 * half + p];
      score = isSeen(8 * j + p) ? roundedProduct(score, unit) : UNSEEN;
      most = fmaxf(most, score);
    }
  }
  return largestOfQuad(most);
}
// Turns them into weights and returns their sum over the lane.
template <int COUNT>
__device__ __forceinline__ float weighScores(float (&scores)[COUNT][4], int half, float shift) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      float& score = scores[j][2 * half + p];
      score = powerOfTwo(score - shift);
      sum += score;
    }
  }
  return sum;
}
// By what sums up to now shrink when a part with this largest score joins them.
__device__ __forceinline__ float join(RowSum* row, float largest, float sum) {
  const float most = fmaxf(row->largest, largest);
  const float keep = powerOfTwo(row->largest - shiftOf(most));
  *row = {most, fmaf(row->total, keep, sum)};
  return keep;
}

// Tiles that change while the block works are held twice, the next one arriving, where that fits.
template <class T>
constexpr int STAGES = sizeof(T) == 2 ? 2 : 1;

// Calls begin(i, stage) for tile after tile and work(i, stage) once it is there.
template <class T, class Begin, class Work>
__device__ __forceinline__ void forTiles(int32_t from, int32_t to, const Begin& begin,
                                         const Work& work) {
  if (from < to) begin(from, from % STAGES<T>);
  commitCopies();
  for (int32_t i = from; i < to; i++) {
    if constexpr (STAGES<T> == 2) {
      if (i + 1 < to) begin(i + 1, (i + 1) % 2);
      commitCopies();
    }
    waitCopies<STAGES<T> - 1>();
    syncBlock();
    work(i, i % STAGES<T>);
    syncBlock();
    if constexpr (STAGES<T> == 1) {
      if (i + 1 < to) begin(i + 1, 0);
      commitCopies();
    }
  }
  waitCopies<0>();
}

// Rows of one segment and key head that a block works on.
struct RowTile {
  Segment segment;
  // The first row, and how many rows the segment has.
  int32_t first, rows;
  int32_t keyHead;

  // Row of q, out, … seen as [T·H, D]; −1 beyond the segment.
  __device__ __forceinline__ int64_t headOf(int32_t row, const AttentionShape& shape) const {
    if (row >= rows) return -1;
    const int64_t token = segment.start + row / shape.ratio;
    return token * shape.H + keyHead * shape.ratio + row % shape.ratio;
  }
  __device__ __forceinline__ int32_t positionOf(int32_t row, int32_t ratio) const {
    return segment.before + row / ratio;
  }
};

// False where there is no such tile. The last tiles, which see the most keys, go first.
__device__ __forceinline__ bool findRowTile(const Forest& forest, const AttentionShape& shape,
                                            int rowsPerTile, RowTile* tile) {
  const int32_t index = forest.tiles[0] - 1 - (int32_t)blockIdx.x;
  if (index < 0) return false;
  tile->segment = forest.segments[segmentOfTile<&Segment::firstRowTile>(forest, index)];
  tile->first = (index - tile->segment.firstRowTile) * rowsPerTile;
  tile->rows = (tile->segment.end - tile->segment.start) * shape.ratio;
  tile->keyHead = (int32_t)blockIdx.y;
  return true;
}

// The blocks of logical keys that some rows of a tile see: [from, to), of `keys` keys. Those in
// [full, fullEnd) every row sees whole.
struct KeyBlocks {
  int32_t from, to, keys, full, fullEnd;
};
__device__ __forceinline__ KeyBlocks keyBlocksOf(const RowTile& tile, int rowsPerTile,
                                                 const AttentionShape& shape) {
  const int32_t end = tile.first + rowsPerTile < tile.rows ? tile.first + rowsPerTile : tile.rows;
  const int32_t first = tile.positionOf(tile.first, shape.ratio);
  const int32_t last = tile.positionOf(end - 1, shape.ratio);
  const int32_t path = tile.segment.before + tile.segment.end - tile.segment.start;
  const int32_t keys = shape.isCausal ? last + 1 : path;
  const int32_t seenByAll = shape.isCausal ? first + 1 : path;
  KeyBlocks blocks = {0, (keys + KEYS - 1) / KEYS, keys, 0, seenByAll / KEYS};
  if (shape.window > 0) {
    if (first > shape.window) blocks.from = (first - shape.window) / KEYS;
    if (last > shape.window) blocks.full = (last - shape.window + KEYS - 1) / KEYS;
  }
  return blocks;
}

// Begins to copy block `block` of the logical keys of a path to a tile.
template <class T, int HEAD>
__device__ __forceinline__ void stageKeys(uint8_t* tile, const Matrix<T>& keys,
                                          const Forest& forest, const RowTile& rows, int32_t block,
                                          int32_t count, const AttentionShape& shape, int thread) {
  stageHeads<T, KEYS, HEAD>(tile, keys, thread, [&](int r) -> int64_t {
    const int32_t position = block * KEYS + r;
    if (position >= count) return -1;
    return (int64_t)tokenOnPath(forest, rows.segment, position) * shape.G + rows.keyHead;
  });
}

}  // namespace saccade
