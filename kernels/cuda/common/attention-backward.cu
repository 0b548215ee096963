// The gradients of attention:
//
//   p = e^(s − lse);  δ = Σ_d dout∘out − dlse;  ds = p∘(dout·vᵀ − δ)
//   dq = scale·ds·k;  dk = scale·dsᵀ·q;  dv = pᵀ·dout
//
// Two kernels, each the only writer of what it computes, so that no sum depends on who comes first.
// For dq a block owns 64 rows (token, head) and walks the logical keys on their path as the forward
// does. For dk and dv it owns 64 keys of a segment and walks the rows that may see them: those of the
// segment and of all its descendants, which follow it. The scores are computed as sᵀ = k·qᵀ there, so
// that pᵀ and dsᵀ are left operands as they stand in registers.
#include "attention-backward.cuh"

namespace saccade {
namespace {

constexpr int ROWS = 64;

// Of a row of q.
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
  // Who sees nothing has no weights: any large number keeps the powers at zero.
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

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2) keyGradients(Inputs<T> in, T* dk, T* dv) {
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, ROWS, HEAD>;
  const AttentionShape& shape = in.shape;
  const int32_t tile = (int32_t)blockIdx.x;
  if (tile >= in.forest.tiles[1]) return;
  const Segment segment =
      in.forest.segments[segmentOfTile<&Segment::firstKeyTile>(in.forest, tile)];
  const int32_t keyHead = (int32_t)blockIdx.y;
  // The tile's keys, and the tokens of which some may see them.
  const int32_t firstKey = segment.start + (tile - segment.firstKeyTile) * KEYS;
  const int32_t from = shape.isCausal ? firstKey : segment.start;
  const int32_t rowCount = (segment.subtreeEnd - from) * shape.ratio;
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
      0, (rowCount + ROWS - 1) / ROWS,
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
    const int64_t at = keyAt(warpKey + lane / 4 + 8 * half);
    if (at < 0) continue;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int column = 8 * j + lane % 4 * 2 + p;
        if (column >= shape.D) continue;
        if (dk) dk[at * shape.D + column] = rounded<T>(keySums[j][2 * half + p] * shape.scale);
        if (dv) dv[at * shape.D + column] = rounded<T>(valueSums[j][2 * half + p]);
      }
    }
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
  const unsigned tiles = (unsigned)mostTiles(shape.T, KEYS, S);
  return launchKernel(launch, keyGradients<T, HEAD>, dim3(tiles, (unsigned)shape.G),
                      dim3(ATTEND_THREADS), KEY_SHARED<T, HEAD>, inputs, dk, dv);
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
