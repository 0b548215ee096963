// The attention mask, built on the device: one block checks that the segments [S,3] (start, end,
// parent or −1) tile the tokens in depth-first pre-order and measures them; tiles find theirs by search.
//
// A token's position counts from its root. The keys of a segment's path, its ancestors' from the root
// down and then its own, are its logical keys; key i of the path has position i.
#pragma once

#include "launch.cuh"

namespace saccade {

struct Segment {
  int32_t start, end;
  // Position of its first token.
  int32_t before;
  int32_t parent;
  // Behind the last token of its descendants, which follow it.
  int32_t subtreeEnd;
  int32_t firstRowTile, firstKeyTile;
  int32_t unused;
};

// In device memory. A forest that fails the checks has no tiles.
struct Forest {
  // Tiles of query rows and of keys.
  int32_t* tiles;
  Segment* segments;
  // One for each token.
  int32_t* positions;
  int64_t count;
};

// Rows of a segment: pairs (token, query head of one key head), heads innermost.
struct TileSizes {
  int32_t rowsPerToken, rowsPerTile, keysPerTile;
};

constexpr int FOREST_THREADS = 256;

// Adds up `value` over the block's threads before this one; `total` becomes the sum over all.
__device__ inline int64_t sumBefore(int64_t value, int64_t* shared, int64_t* total) {
  const int thread = (int)threadIdx.x;
  shared[thread] = value;
  syncBlock();
  int64_t before = 0, all = 0;
  for (int i = 0; i < FOREST_THREADS; i++) {
    if (i == thread) before = all;
    all += shared[i];
  }
  *total = all;
  syncBlock();
  return before;
}

static __global__ void __launch_bounds__(FOREST_THREADS)
    planForest(const int32_t* rows, int64_t count, int64_t tokens, TileSizes sizes, Forest forest,
               Refusal refusal, int operand) {
  const int thread = (int)threadIdx.x;
  int64_t* shared = reinterpret_cast<int64_t*>(sharedMemory());
  int64_t faults = 0;
  for (int64_t s = thread; s < count; s += FOREST_THREADS) {
    const int64_t start = rows[3 * s], end = rows[3 * s + 1], parent = rows[3 * s + 2];
    const int64_t expected = s == 0 ? 0 : rows[3 * s - 2];
    const int64_t least = s + 1 == count ? tokens : start;
    // The parent is on the path to the segment before this one.
    int64_t ancestor = s - 1;
    while (ancestor >= 0 && ancestor != parent) {
      const int64_t next = rows[3 * ancestor + 2];
      ancestor = next < ancestor ? next : -2;
    }
    const bool isOnPath = ancestor == parent && parent >= -1;
    const bool isSound = start == expected && end >= least && end <= tokens && isOnPath;
    if (isSound) continue;
    faults++;
    if (start != expected) expectIndex(refusal, operand, 3 * s, start, expected, expected + 1);
    else if (!isOnPath) expectIndex(refusal, operand, 3 * s + 2, s, -1, -1);
    else expectIndex(refusal, operand, 3 * s + 1, end, least, tokens + 1);
  }
  if (count == 0 && tokens > 0 && thread == 0) {
    faults++;
    expectIndex(refusal, operand, 0, 0, tokens, tokens + 1);
  }
  int64_t allFaults;
  sumBefore(faults, shared, &allFaults);
  if (thread == 0) forest.tiles[0] = forest.tiles[1] = 0;
  if (allFaults > 0) return;
  int64_t rowTiles = 0, keyTiles = 0;
  for (int64_t first = 0; first < count; first += FOREST_THREADS) {
    const int64_t s = first + thread;
    Segment segment = {};
    int64_t ownRowTiles = 0, ownKeyTiles = 0;
    if (s < count) {
      segment.start = rows[3 * s];
      segment.end = rows[3 * s + 1];
      segment.parent = rows[3 * s + 2];
      int64_t before = 0;
      for (int64_t a = segment.parent; a >= 0; a = rows[3 * a + 2]) {
        before += rows[3 * a + 1] - rows[3 * a];
      }
      segment.before = (int32_t)before;
      int64_t next = s + 1;
      while (next < count && rows[3 * next + 2] >= s) next++;
      segment.subtreeEnd = rows[3 * next - 2];
      const int64_t length = segment.end - segment.start;
      ownRowTiles = (length * sizes.rowsPerToken + sizes.rowsPerTile - 1) / sizes.rowsPerTile;
      ownKeyTiles = (length + sizes.keysPerTile - 1) / sizes.keysPerTile;
    }
    int64_t total;
    segment.firstRowTile = (int32_t)(rowTiles + sumBefore(ownRowTiles, shared, &total));
    rowTiles += total;
    segment.firstKeyTile = (int32_t)(keyTiles + sumBefore(ownKeyTiles, shared, &total));
    keyTiles += total;
    if (s < count) forest.segments[s] = segment;
  }
  if (thread == 0) {
    forest.tiles[0] = (int32_t)rowTiles;
    forest.tiles[1] = (int32_t)keyTiles;
  }
}

static __global__ void __launch_bounds__(256) fillPositions(Forest forest, int64_t tokens) {
  const int64_t token = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (token >= tokens || forest.tiles[1] == 0) return;
  int64_t low = 0, high = forest.count;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (forest.segments[middle].start <= token) low = middle;
    else high = middle;
  }
  const Segment& segment = forest.segments[low];
  forest.positions[token] = (int32_t)(segment.before + token - segment.start);
}

// Most tiles there can be: each segment's last one may be short.
inline int64_t mostTiles(int64_t items, int64_t perTile, int64_t segments) {
  return divideUp(items, perTile) + segments;
}

// Queues the plan. Returns 1 with the launch's error filled if there is no memory for it.
inline int planSegments(const SaccadeDeviceLaunch& launch, int operand, int64_t count,
                        int64_t tokens, const TileSizes& sizes, bool hasPositions, Forest* forest) {
  forest->tiles = scratchArray<int32_t>(launch, 2);
  forest->segments = scratchArray<Segment>(launch, count > 0 ? count : 1);
  forest->positions = hasPositions ? scratchArray<int32_t>(launch, tokens) : nullptr;
  forest->count = count;
  if (!forest->tiles || !forest->segments || (hasPositions && !forest->positions)) {
    return outOfScratch(launch);
  }
  if (launchKernel(launch, planForest, dim3(1), dim3(FOREST_THREADS),
                   FOREST_THREADS * sizeof(int64_t), ints(launch, operand), count, tokens, sizes,
                   *forest, refusalOf(launch), operand)) {
    return 1;
  }
  if (!hasPositions) return 0;
  return launchKernel(launch, fillPositions, dim3((unsigned)divideUp(tokens, 256)), dim3(256), 0,
                      *forest, tokens);
}

// The segment of a tile, by the first tile of each.
template <int32_t Segment::* FIRST_TILE>
__device__ inline int64_t segmentOfTile(const Forest& forest, int32_t tile) {
  int64_t low = 0, high = forest.count;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (forest.segments[middle].*FIRST_TILE <= tile) low = middle;
    else high = middle;
  }
  return low;
}

// The token of the path's logical key `position`, for a path that ends in segment s.
__device__ __forceinline__ int32_t tokenOnPath(const Forest& forest, const Segment& last,
                                               int32_t position) {
  if (position >= last.before) return last.start + (position - last.before);
  int32_t s = last.parent;
  while (forest.segments[s].before > position) s = forest.segments[s].parent;
  return forest.segments[s].start + (position - forest.segments[s].before);
}

}  // namespace saccade
