// The gradients of attention:
//
//   p = e^(s − lse);  δ = Σ_d dout∘out − dlse;  ds = p∘(dout·vᵀ − δ)
//   dq = scale·ds·k;  dk = scale·dsᵀ·q;  dv = pᵀ·dout
//
// Two kernels, each the only writer of what it computes, so that no sum depends on who comes first.
// For dq a block owns 64 rows (token, head) and walks the logical keys on their path as the forward
// does. For dk and dv it owns 64 keys of a segment and walks the rows that may see them: those of the
// segment and of all its descendants, which follow it. The scores are computed as sᵀ = k·qᵀ there, so
// that pᵀ and dsᵀ are left operands as they stand in registers. The rows that see a shared prompt are
// many, and its keys few: up to four blocks share them, and their sums are added in order.
#include "attention-backward.cuh"

namespace saccade {
namespace {

constexpr int ROWS = 64;

// The statistics of a row of q.
struct Prepared {
  float delta;
  // In units of ln 2.
  float lse;
};

// By [T,H]; a warp per head.
template <class T>
__global__ void __launch_bounds__(256)
    prepareRows(const T* dOut, const T* out, const float* dLse, const float* lse,
                AttentionShape shape, Prepared* prepared) {
  const int64_t at = (int64_t)blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = laneOf((int)threadIdx.x);
  float sum = 0.0f;
  if (dOut && at < shape.T * shape.H) {
    for (int64_t d = lane; d < shape.D; d += 32) {
      sum += widened(dOut[at * shape.D + d]) * widened(out[at * shape.D + d]);
    }
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) sum += shuffleXor(sum, mask);
  if (lane != 0 || at >= shape.T * shape.H) return;
  const int64_t place = at % shape.H * shape.T + at / shape.H;
  const float own = lse[place];
  // A row that sees nothing has no weights: any large number keeps the powers at zero.
  prepared[at] = {sum - (dLse ? dLse[place] : 0.0f), own < -1e37f ? 1e30f : own * LOG2_E};
}

template <class T>
struct Inputs {
  Matrix<T> q, k, v, dOut;
  // By row of q.
  const Prepared* prepared;
  Forest forest;
  AttentionShape shape;
};

template <class T, int HEAD>
constexpr size_t QUERY_SHARED = (2 + 2 * STAGES<T>) * HEAD_TILE_BYTES<T, ROWS, HEAD>;

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2) queryGradients(Inputs<T> in, T* dq) {
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, ROWS, HEAD>;
  const AttentionShape& shape = in.shape;
  RowTile rows;
  if (!findRowTile(in.forest, shape, ROWS, &rows)) return;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpRow = thread / 32 * 16;
  uint8_t* queries = sharedMemory();
  uint8_t* gradients = queries + TILE_BYTES;
  uint8_t* tiles = gradients + TILE_BYTES;
  const KeyBlocks blocks = keyBlocksOf(rows, ROWS, shape);
  const auto headOf = [&](int r) { return rows.headOf(rows.first + r, shape); };
  stageHeads<T, ROWS, HEAD>(queries, in.q, thread, headOf);
  stageHeads<T, ROWS, HEAD>(gradients, in.dOut, thread, headOf);

  float delta[2], lse[2];
  int32_t position[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int32_t r = warpRow + lane / 4 + 8 * half;
    const int64_t at = headOf(r);
    delta[half] = at < 0 ? 0.0f : in.prepared[at].delta;
    lse[half] = at < 0 ? 1e30f : in.prepared[at].lse;
    position[half] = rows.positionOf(rows.first + r, shape.ratio);
  }
  const float unit = shape.scale * LOG2_E;
  float sums[HEAD / 8][4] = {};
  forTiles<T>(
      blocks.from, blocks.to,
      [&](int32_t block, int stage) {
        uint8_t* at = tiles + 2 * stage * TILE_BYTES;
        stageKeys<T, HEAD>(at, in.k, in.forest, rows, block, blocks.keys, shape, thread);
        stageKeys<T, HEAD>(at + TILE_BYTES, in.v, in.forest, rows, block, blocks.keys, shape,
                           thread);
      },
      [&](int32_t block, int stage) {
        const uint8_t* keys = tiles + 2 * stage * TILE_BYTES;
        const uint8_t* values = keys + TILE_BYTES;
        const bool isFull = block >= blocks.full && block < blocks.fullEnd;
#pragma unroll 1
        for (int part = 0; part < KEYS; part += PART) {
          float scores[PART / 8][4] = {}, weights[PART / 8][4] = {};
          multiplyHeads<T, HEAD, ROWS>(scores, queries, warpRow, keys, part, lane);
          multiplyHeads<T, HEAD, ROWS>(weights, gradients, warpRow, values, part, lane);
#pragma unroll
          for (int j = 0; j < PART / 8; j++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
              const int half = i / 2;
              const int32_t key = block * KEYS + part + 8 * j + lane % 4 * 2 + i % 2;
              const bool isSeen =
                  isFull || (key < blocks.keys && sees(shape, position[half], key));
              const float p = isSeen ? powerOfTwo(scores[j][i] * unit - lse[half]) : 0.0f;
              scores[j][i] = p * (weights[j][i] - delta[half]);
            }
          }
          addWeighted<T>(sums, scores, keys, part, 0, lane);
        }
      });
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t at = headOf(warpRow + lane / 4 + 8 * half);
    if (at < 0) continue;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int column = 8 * j + lane % 4 * 2 + p;
        if (column < shape.D) {
          dq[at * shape.D + column] = rounded<T>(sums[j][2 * half + p] * shape.scale);
        }
      }
    }
  }
}

// δ, lse and the position of each of the tile's rows.
struct RowFacts {
  float delta, lse;
  int32_t position, unused;
};

template <class T, int HEAD>
constexpr size_t KEY_SHARED = (2 + 2 * STAGES<T>) * HEAD_TILE_BYTES<T, ROWS, HEAD> +
                              STAGES<T> * ROWS * sizeof(RowFacts);

constexpr int32_t MOST_PARTS = 4;
// Tiles of rows that are not cut: what a block takes for them is much more than for a part's sums.
constexpr int32_t LEAST_TILES = 64;

// A tile of keys of a segment, and the rows of which some may see them.
struct KeyTile {
  Segment segment;
  int32_t firstKey;
  // The first row's token, and how many rows and tiles of them there are.
  int32_t from, rows, rowTiles;
  // How many parts the tiles are cut into, and how many a part has. It hangs on the segment and its
  // descendants alone, so what else is in the batch changes no bit.
  int32_t parts, partTiles;
};
__device__ inline KeyTile findKeyTile(const Forest& forest, const AttentionShape& shape,
                                      int32_t index) {
  KeyTile tile = {};
  tile.segment = forest.segments[segmentOfTile<&Segment::firstKeyTile>(forest, index)];
  tile.firstKey = tile.segment.start + (index - tile.segment.firstKeyTile) * KEYS;
  tile.from = shape.isCausal ? tile.firstKey : tile.segment.start;
  tile.rows = (tile.segment.subtreeEnd - tile.from) * shape.ratio;
  tile.rowTiles = (tile.rows + ROWS - 1) / ROWS;
  const bool isShared = tile.segment.subtreeEnd > tile.segment.end;
  const int32_t wanted = isShared ? (tile.rowTiles + LEAST_TILES - 1) / LEAST_TILES : 1;
  tile.parts = wanted < MOST_PARTS ? wanted : MOST_PARTS;
  tile.partTiles = (tile.rowTiles + tile.parts - 1) / tile.parts;
  return tile;
}

// Sums of a part of a tile's rows, of ∂k and then of ∂v, [KEYS,HEAD] each; by tile, key head, part.
template <int HEAD>
constexpr int64_t PART_FLOATS = 2 * KEYS * HEAD;
template <int HEAD>
__device__ __forceinline__ float* partOf(float* sums, int32_t tile, int32_t keyHead, int32_t heads,
                                         int32_t part) {
  return sums + (((int64_t)tile * heads + keyHead) * MOST_PARTS + part) * PART_FLOATS<HEAD>;
}

// `partSums`: for the tiles that are cut; null if none can be. blockIdx.z is the part.
template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2)
    keyGradients(Inputs<T> in, T* dk, T* dv, float* partSums) {
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, ROWS, HEAD>;
  const AttentionShape& shape = in.shape;
  if ((int32_t)blockIdx.x >= in.forest.tiles[1]) return;
  const KeyTile tile = findKeyTile(in.forest, shape, (int32_t)blockIdx.x);
  if ((int32_t)blockIdx.z >= tile.parts) return;
  const Segment& segment = tile.segment;
  const int32_t keyHead = (int32_t)blockIdx.y;
  const int32_t firstKey = tile.firstKey, from = tile.from, rowCount = tile.rows;
  const int32_t firstTile = (int32_t)blockIdx.z * tile.partTiles;
  const int32_t endTile = firstTile + tile.partTiles < tile.rowTiles ? firstTile + tile.partTiles
                                                                     : tile.rowTiles;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpKey = thread / 32 * 16;
  uint8_t* keys = sharedMemory();
  uint8_t* values = keys + TILE_BYTES;
  uint8_t* tiles = values + TILE_BYTES;
  RowFacts* facts = reinterpret_cast<RowFacts*>(tiles + 2 * STAGES<T> * TILE_BYTES);
  const auto keyAt = [&](int r) -> int64_t {
    return firstKey + r < segment.end ? (int64_t)(firstKey + r) * shape.G + keyHead : -1;
  };
  stageHeads<T, KEYS, HEAD>(keys, in.k, thread, keyAt);
  stageHeads<T, KEYS, HEAD>(values, in.v, thread, keyAt);

  const float unit = shape.scale * LOG2_E;
  const int32_t ownPosition = segment.before + firstKey - segment.start + warpKey + lane / 4;
  const int32_t ownKey = firstKey + warpKey + lane / 4;
  float keySums[HEAD / 8][4] = {}, valueSums[HEAD / 8][4] = {};
  forTiles<T>(
      firstTile, endTile,
      [&](int32_t i, int stage) {
        const auto headAt = [&](int r) -> int64_t {
          const int32_t row = i * ROWS + r;
          if (row >= rowCount) return -1;
          const int64_t token = from + row / shape.ratio;
          return token * shape.H + keyHead * shape.ratio + row % shape.ratio;
        };
        uint8_t* at = tiles + 2 * stage * TILE_BYTES;
        stageHeads<T, ROWS, HEAD>(at, in.q, thread, headAt);
        stageHeads<T, ROWS, HEAD>(at + TILE_BYTES, in.dOut, thread, headAt);
        if (thread < ROWS) {
          const int64_t row = headAt(thread);
          facts[stage * ROWS + thread] =
              row < 0 ? RowFacts{0.0f, 1e30f, -1, 0}
                      : RowFacts{in.prepared[row].delta, in.prepared[row].lse,
                                 in.forest.positions[row / shape.H], 0};
        }
      },
      [&](int32_t, int stage) {
        const uint8_t* queries = tiles + 2 * stage * TILE_BYTES;
        const uint8_t* gradients = queries + TILE_BYTES;
#pragma unroll 1
        for (int part = 0; part < ROWS; part += PART) {
          float scores[PART / 8][4] = {}, weights[PART / 8][4] = {};
          multiplyHeads<T, HEAD, KEYS>(scores, keys, warpKey, queries, part, lane);
          multiplyHeads<T, HEAD, KEYS>(weights, values, warpKey, gradients, part, lane);
#pragma unroll
          for (int j = 0; j < PART / 8; j++) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
              const RowFacts row = facts[stage * ROWS + part + 8 * j + lane % 4 * 2 + p];
#pragma unroll
              for (int half = 0; half < 2; half++) {
                const bool isSeen = row.position >= 0 && ownKey + 8 * half < segment.end &&
                                    sees(shape, row.position, ownPosition + 8 * half);
                float& score = scores[j][2 * half + p];
                float& weight = weights[j][2 * half + p];
                score = isSeen ? powerOfTwo(score * unit - row.lse) : 0.0f;
                weight = score * (weight - row.delta);
              }
            }
          }
          addWeighted<T>(valueSums, scores, gradients, part, 0, lane);
          addWeighted<T>(keySums, weights, queries, part, 0, lane);
        }
      });
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int32_t key = warpKey + lane / 4 + 8 * half;
    const int64_t at = keyAt(key);
    if (at < 0) continue;
    float* part = tile.parts == 1 ? nullptr
                                  : partOf<HEAD>(partSums, (int32_t)blockIdx.x, keyHead, shape.G,
                                                 (int32_t)blockIdx.z) + key * HEAD;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int column = 8 * j + lane % 4 * 2 + p;
        if (part) {
          part[column] = keySums[j][2 * half + p];
          part[KEYS * HEAD + column] = valueSums[j][2 * half + p];
          continue;
        }
        if (column >= shape.D) continue;
        if (dk) dk[at * shape.D + column] = rounded<T>(keySums[j][2 * half + p] * shape.scale);
        if (dv) dv[at * shape.D + column] = rounded<T>(valueSums[j][2 * half + p]);
      }
    }
  }
}

// The sums of tiles that were cut, part after part.
template <class T, int HEAD>
__global__ void __launch_bounds__(256)
    addKeyParts(Forest forest, AttentionShape shape, float* partSums, T* dk, T* dv) {
  if ((int32_t)blockIdx.x >= forest.tiles[1]) return;
  const KeyTile tile = findKeyTile(forest, shape, (int32_t)blockIdx.x);
  if (tile.parts == 1) return;
  const int32_t keyHead = (int32_t)blockIdx.y;
  const float* first = partOf<HEAD>(partSums, (int32_t)blockIdx.x, keyHead, shape.G, 0);
  for (int i = (int)threadIdx.x; i < KEYS * HEAD; i += 256) {
    const int32_t token = tile.firstKey + i / HEAD, column = i % HEAD;
    if (token >= tile.segment.end || column >= shape.D) continue;
    float keySum = 0.0f, valueSum = 0.0f;
    for (int32_t part = 0; part < tile.parts; part++) {
      keySum += first[part * PART_FLOATS<HEAD> + i];
      valueSum += first[part * PART_FLOATS<HEAD> + KEYS * HEAD + i];
    }
    const int64_t at = ((int64_t)token * shape.G + keyHead) * shape.D + column;
    if (dk) dk[at] = rounded<T>(keySum * shape.scale);
    if (dv) dv[at] = rounded<T>(valueSum);
  }
}

template <class T, int HEAD>
int backwardOf(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, int64_t S) {
  const int64_t D = shape.D;
  const T* dOut = stored<T>(launch, 0);
  T* dq = stored<T>(launch, 8);
  T* dk = stored<T>(launch, 9);
  T* dv = stored<T>(launch, 10);
  Forest forest;
  const TileSizes sizes = {shape.ratio, ROWS, KEYS};
  if (planSegments(launch, 5, S, shape.T, sizes, true, &forest)) return 1;
  Prepared* prepared = scratchArray<Prepared>(launch, shape.T * shape.H);
  if (!prepared) return outOfScratch(launch);
  if (launchKernel(launch, prepareRows<T>, dim3((unsigned)divideUp(shape.T * shape.H, 8)),
                   dim3(256), 0, dOut, stored<T>(launch, 6), floats(launch, 1), floats(launch, 7),
                   shape, prepared)) {
    return 1;
  }
  const T* q = stored<T>(launch, 2);
  // Without a gradient of the output it is zero: a matrix without rows.
  const Inputs<T> inputs = {matrixOf(q, D, shape.T * shape.H, D),
                            matrixOf(stored<T>(launch, 3), D, shape.T * shape.G, D),
                            matrixOf(stored<T>(launch, 4), D, shape.T * shape.G, D),
                            matrixOf(dOut ? dOut : q, D, dOut ? shape.T * shape.H : 0, D),
                            prepared,
                            forest,
                            shape};
  if (dq) {
    const unsigned tiles = (unsigned)mostTiles(shape.T * shape.ratio, ROWS, S);
    if (launchKernel(launch, queryGradients<T, HEAD>, dim3(tiles, (unsigned)shape.G),
                     dim3(ATTEND_THREADS), QUERY_SHARED<T, HEAD>, inputs, dq)) {
      return 1;
    }
  }
  if (!dk && !dv) return 0;
  const int64_t tiles = mostTiles(shape.T, KEYS, S);
  // One segment has no descendants, and few rows are not cut.
  const bool isCut = S > 1 && divideUp(shape.T * shape.ratio, ROWS) > LEAST_TILES;
  float* partSums = nullptr;
  if (isCut) {
    partSums = scratchArray<float>(launch, tiles * shape.G * MOST_PARTS * PART_FLOATS<HEAD>);
    if (!partSums) return outOfScratch(launch);
  }
  const dim3 grid((unsigned)tiles, (unsigned)shape.G, isCut ? MOST_PARTS : 1);
  if (launchKernel(launch, keyGradients<T, HEAD>, grid, dim3(ATTEND_THREADS), KEY_SHARED<T, HEAD>,
                   inputs, dk, dv, partSums)) {
    return 1;
  }
  if (!isCut) return 0;
  return launchKernel(launch, addKeyParts<T, HEAD>, dim3(grid.x, grid.y), dim3(256), 0, forest,
                      shape, partSums, dk, dv);
}

}  // namespace

template <class T>
int attentionBackward(const SaccadeDeviceLaunch* launch) {
  AttentionShape shape;
  if (readAttention(*launch, &shape)) return 1;
  if (shape.T == 0) return 0;
  const int64_t S = launch->dims[4];
  return shape.D <= 64 ? backwardOf<T, 64>(*launch, shape, S)
                       : backwardOf<T, 128>(*launch, shape, S);
}

template int attentionBackward<float>(const SaccadeDeviceLaunch* launch);
template int attentionBackward<Bf16>(const SaccadeDeviceLaunch* launch);
template int attentionBackward<F16>(const SaccadeDeviceLaunch* launch);

}  // namespace saccade
