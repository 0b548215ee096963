// The gradients of attention:
//
//   p = e^(s − lse);  δ = Σ_d dout∘out − dlse;  ds = p∘(dout·vᵀ − δ)
//   dq = scale·ds·k;  dk = scale·dsᵀ·q;  dv = pᵀ·dout
//
// Two kernels, each the only writer of what it computes, so that no sum depends on who comes first.
// For dq a block owns 64 rows (token, head) and walks the logical keys on their path as the forward
// does. For dk and dv it owns 64 keys of a segment and walks the rows that may see them: those of
// the segment and of all its descendants, which follow it. The scores are computed as sᵀ = k·qᵀ
// there, so that pᵀ and dsᵀ are left operands as they stand in registers. The rows that see a
// shared prompt are many, and its keys few: up to four blocks share them, and their sums are added
// in order.
#include "attention-backward-keys.cuh"
#include "attention-backward-queries.cuh"

namespace saccade {
namespace {

constexpr int ROWS = 64;

template <class T>
struct Inputs {
  Matrix<T> q, k, v, dOut;
  // See firstFactOf.
  RowFacts facts;
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

// What a tile has of each of its rows.
struct StagedRow {
  float delta, lse;
  int32_t position, unused;
};

template <class T, int HEAD>
constexpr size_t KEY_SHARED = (2 + 2 * STAGES<T>) * HEAD_TILE_BYTES<T, ROWS, HEAD> +
                              STAGES<T> * ROWS * sizeof(StagedRow);

// `partSums`: for the tiles that are cut; null if none can be. blockIdx.z is the part.
template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2)
    keyGradients(Inputs<T> in, T* dk, T* dv, float* partSums) {
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, ROWS, HEAD>;
  const AttentionShape& shape = in.shape;
  if ((int32_t)blockIdx.x >= in.forest.tiles[1]) return;
  const KeyTile tile = findKeyTile<KEYS, ROWS>(in.forest, shape, (int32_t)blockIdx.x);
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
  StagedRow* facts = reinterpret_cast<StagedRow*>(tiles + 2 * STAGES<T> * TILE_BYTES);
  const auto keyAt = [&](int r) -> int64_t {
    return firstKey + r < segment.end ? (int64_t)(firstKey + r) * shape.G + keyHead : -1;
  };
  stageHeads<T, KEYS, HEAD>(keys, in.k, thread, keyAt);
  stageHeads<T, KEYS, HEAD>(values, in.v, thread, keyAt);

  const int64_t firstFact = firstFactOf(shape, keyHead, from);
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
          const int32_t row = i * ROWS + thread;
          const int64_t fact = firstFact + row;
          facts[stage * ROWS + thread] =
              row < rowCount
                  ? StagedRow{in.facts.delta(fact), in.facts.lse(fact), in.facts.position(fact), 0}
                  : StagedRow{0.0f, 1e30f, -1, 0};
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
              const StagedRow row = facts[stage * ROWS + part + 8 * j + lane % 4 * 2 + p];
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
                                  : partOf<KEYS, HEAD>(partSums, (int32_t)blockIdx.x, keyHead, shape.G,
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

// What both kinds of kernels are launched with.
template <class T>
struct Backward {
  const SaccadeDeviceLaunch& launch;
  AttentionShape shape;
  int64_t segments;
  Forest forest;
  RowFacts facts;
  T *dq, *dk, *dv;
};

template <class T>
int prepare(Backward<T>* backward, int rowsPerTile, int keysPerTile) {
  const SaccadeDeviceLaunch& launch = backward->launch;
  const AttentionShape& shape = backward->shape;
  const TileSizes sizes = {shape.ratio, rowsPerTile, keysPerTile};
  if (planSegments(launch, 5, backward->segments, shape.T, sizes, true, &backward->forest)) return 1;
  const int64_t rows = shape.T * shape.H;
  backward->facts = {scratchArray<uint32_t>(launch, 3 * rows), rows};
  if (!backward->facts.words) return outOfScratch(launch);
  const T *dOut = stored<T>(launch, 0), *out = stored<T>(launch, 6);
  return launchKernel(launch, prepareRows<T>, dim3((unsigned)divideUp(rows, 16)),
                      dim3(256), 0, dOut, out, floats(launch, 1), floats(launch, 7),
                      backward->forest.positions, shape,
                      isWholeChunks<T>(shape.D) && areAligned({dOut, out}), backward->facts);
}

// The tiles of COUNT keys, and the workspace of those that are cut.
template <int COUNT, int HEAD>
struct KeyParts {
  int64_t tiles;
  int parts;
  float* sums;

  template <class T>
  int reserve(const Backward<T>& backward) {
    const AttentionShape& shape = backward.shape;
    tiles = mostTiles(shape.T, COUNT, backward.segments);
    // One segment has no descendants, and few rows are not cut.
    const bool isCut = (backward.dk || backward.dv) && backward.segments > 1 &&
                       shape.T * shape.ratio > LEAST_ROWS;
    parts = isCut ? MOST_PARTS : 1;
    sums = nullptr;
    if (!isCut) return 0;
    sums = scratchArray<float>(backward.launch,
                               tiles * shape.G * MOST_PARTS * PART_FLOATS<COUNT, HEAD>);
    return sums ? 0 : outOfScratch(backward.launch);
  }
  // Adds up the parts of tiles that were walked in tiles of TILE_ROWS rows.
  template <int TILE_ROWS, class T>
  int add(const Backward<T>& backward) const {
    if (!sums) return 0;
    return launchKernel(backward.launch, addKeyParts<T, COUNT, TILE_ROWS, HEAD>,
                        dim3((unsigned)tiles, (unsigned)backward.shape.G), dim3(256), 0,
                        backward.forest, backward.shape, sums, backward.dk, backward.dv);
  }
};

template <class T, int HEAD>
int backwardByWarps(Backward<T>* backward) {
  if (prepare(backward, ROWS, KEYS)) return 1;
  const SaccadeDeviceLaunch& launch = backward->launch;
  const AttentionShape& shape = backward->shape;
  const int64_t D = shape.D;
  const T *dOut = stored<T>(launch, 0), *q = stored<T>(launch, 2);
  // Without a gradient of the output it is zero: a matrix without rows.
  const Inputs<T> inputs = {matrixOf(q, D, shape.T * shape.H, D),
                            matrixOf(stored<T>(launch, 3), D, shape.T * shape.G, D),
                            matrixOf(stored<T>(launch, 4), D, shape.T * shape.G, D),
                            matrixOf(dOut ? dOut : q, D, dOut ? shape.T * shape.H : 0, D),
                            backward->facts,
                            backward->forest,
                            shape};
  if (backward->dq) {
    const unsigned tiles = (unsigned)mostTiles(shape.T * shape.ratio, ROWS, backward->segments);
    if (launchKernel(launch, queryGradients<T, HEAD>, dim3(tiles, (unsigned)shape.G),
                     dim3(ATTEND_THREADS), QUERY_SHARED<T, HEAD>, inputs, backward->dq)) {
      return 1;
    }
  }
  if (!backward->dk && !backward->dv) return 0;
  KeyParts<KEYS, HEAD> parts;
  if (parts.reserve(*backward)) return 1;
  const dim3 grid((unsigned)parts.tiles, (unsigned)shape.G, (unsigned)parts.parts);
  if (launchKernel(launch, keyGradients<T, HEAD>, grid, dim3(ATTEND_THREADS), KEY_SHARED<T, HEAD>,
                   inputs, backward->dk, backward->dv, parts.sums)) {
    return 1;
  }
  return parts.template add<ROWS>(*backward);
}

// One launch for all gradients, those of keys first: a block of them takes longer, and those of
// rows fill the multiprocessors up at the end.
template <class T, int HEAD>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1)
    gradientsByGroups(GroupInputs<T> in, GroupBlocks blocks, T* dq, T* dk, T* dv, float* partSums) {
#if defined(SACCADE_HAS_WARPGROUPS)
  if ((int32_t)blockIdx.x < blocks.keyBlocks) {
    keyGradientsByGroup<T, HEAD>(in, blocks, dk, dv, partSums);
  } else {
    queryGradientsByGroup<T, HEAD>(in, blocks, dq);
  }
#endif
}

template <class T, int HEAD>
int backwardByGroups(Backward<T>* backward) {
  if (prepare(backward, OWNED, OWNED)) return 1;
  const SaccadeDeviceLaunch& launch = backward->launch;
  const AttentionShape& shape = backward->shape;
  const GroupInputs<T> inputs = {stored<T>(launch, 2), stored<T>(launch, 3), stored<T>(launch, 4),
                                 stored<T>(launch, 0), backward->facts,      backward->forest,
                                 shape};
  KeyParts<OWNED, HEAD> parts;
  if (parts.reserve(*backward)) return 1;
  GroupBlocks blocks = {(int32_t)parts.tiles, 0,
                        (int32_t)mostTiles(shape.T * shape.ratio, OWNED, backward->segments)};
  if (backward->dk || backward->dv) blocks.keyBlocks = (int32_t)(parts.tiles * shape.G * parts.parts);
  const int32_t rowBlocks = backward->dq ? blocks.rowTiles * shape.G : 0;
  if (launchKernel(launch, gradientsByGroups<T, HEAD>,
                   dim3((unsigned)(blocks.keyBlocks + rowBlocks)), dim3(GRADIENT_THREADS),
                   GRADIENT_SHARED<T, HEAD>, inputs, blocks, backward->dq, backward->dk,
                   backward->dv, parts.sums)) {
    return 1;
  }
  return parts.template add<WALKED>(*backward);
}

template <class T, int HEAD>
int backwardOf(Backward<T>* backward) {
  if constexpr (sizeof(T) == 2) {
    const SaccadeDeviceLaunch& launch = backward->launch;
    void* const* of = launch.operands;
    const bool isWhole = isWholeChunks<T>(backward->shape.D) && of[0] &&
                         areAligned({of[0], of[2], of[3], of[4], of[8], of[9], of[10]});
    // Chunks, and facts of rows, are counted in 32 bits.
    const int64_t chunks = backward->shape.D / CHUNK<T>;
    const bool isCounted =
        backward->shape.T * backward->shape.H * (chunks > 3 ? chunks : 3) < UINT32_MAX;
    if (isWhole && isCounted && launch.device->computeCapability == 90 &&
        launch.device->sharedBytes >= GRADIENT_SHARED<T, HEAD>) {
      return backwardByGroups<T, HEAD>(backward);
    }
  }
  return backwardByWarps<T, HEAD>(backward);
}

}  // namespace

template <class T>
int attentionBackward(const SaccadeDeviceLaunch* launch) {
  AttentionShape shape;
  if (readAttention(*launch, &shape)) return 1;
  if (shape.T == 0) return 0;
  Backward<T> backward = {*launch,          shape,
                          launch->dims[4],  {},
                          {},               stored<T>(*launch, 8),
                          stored<T>(*launch, 9), stored<T>(*launch, 10)};
  return shape.D <= 64 ? backwardOf<T, 64>(&backward) : backwardOf<T, 128>(&backward);
}

template int attentionBackward<float>(const SaccadeDeviceLaunch* launch);
template int attentionBackward<Bf16>(const SaccadeDeviceLaunch* launch);
template int attentionBackward<F16>(const SaccadeDeviceLaunch* launch);

}  // namespace saccade
