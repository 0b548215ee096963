// out = softmax(scale·q·kᵀ + mask)·v over a forest of segments, never holding a T × T array.
//
// Layout: q, out [T,H,D]; k, v [T,G,D]; segments [S,3]; lse [H,T]. H/G query heads share a key head
// and are worked on together, as rows (token, head). A block owns 128 rows (64 in float32) of one
// segment and one key head, a warp 32 (16) of them with their sums in registers; it walks the
// blocks of 64 logical keys on their path from the root on, half a block at a time. While keys are
// multiplied their values and the next keys arrive. Heads are padded to 64 or 128. The backward is
// in parts/attention-backward.cu.
#include "parts/attention-backward.cuh"
#include "parts/attention-warpgroups.cuh"

namespace saccade {
namespace {

// Tiles of 16 rows of a warp: float32 has twice the words to hold.
template <class T>
constexpr int ROW_TILES = sizeof(T) == 2 ? 2 : 1;
template <class T>
constexpr int ROWS = ATTEND_THREADS / 32 * 16 * ROW_TILES<T>;

// The rows and blocks of all threads: in shared memory, since registers are short.
struct RowPlan {
  RowTile rows;
  KeyBlocks blocks;
};

template <class T, int HEAD>
constexpr size_t FORWARD_SHARED = HEAD_TILE_BYTES<T, ROWS<T>, HEAD> +
                                  3 * HEAD_TILE_BYTES<T, KEYS, HEAD> + sizeof(RowPlan);

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2)
    attendForward(Matrix<T> q, Matrix<T> k, Matrix<T> v, Forest forest, AttentionShape shape,
                  T* out, float* lse) {
  constexpr int TILES = ROW_TILES<T>;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpRow = thread / 32 * 16 * TILES;
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, KEYS, HEAD>;
  uint8_t* queries = sharedMemory();
  uint8_t* values = queries + HEAD_TILE_BYTES<T, ROWS<T>, HEAD>;
  // The block's keys and the next one's, in turns.
  uint8_t* keys = values + TILE_BYTES;
  RowPlan& plan = *reinterpret_cast<RowPlan*>(keys + 2 * TILE_BYTES);
  const RowTile& rows = plan.rows;
  const KeyBlocks& blocks = plan.blocks;
  if ((int32_t)blockIdx.x >= forest.tiles[0]) return;
  if (thread == 0) {
    findRowTile(forest, shape, ROWS<T>, &plan.rows);
    plan.blocks = keyBlocksOf(plan.rows, ROWS<T>, shape);
  }
  syncBlock();

  stageHeads<T, ROWS<T>, HEAD>(queries, q, thread,
                               [&](int r) { return rows.headOf(rows.first + r, shape); });
  stageKeys<T, HEAD>(keys + blocks.from % 2 * TILE_BYTES, k, forest, rows, blocks.from, blocks.keys,
                     shape, thread);
  commitCopies();

  float sums[TILES][HEAD / 8][4] = {};
  RowSum totals[TILES][2];
#pragma unroll
  for (int i = 0; i < TILES; i++) totals[i][0] = totals[i][1] = {UNSEEN, 0.0f};
  for (int32_t block = blocks.from; block < blocks.to; block++) {
    waitCopies<0>();
    syncBlock();
    stageKeys<T, HEAD>(values, v, forest, rows, block, blocks.keys, shape, thread);
    commitCopies();
    if (block + 1 < blocks.to) {
      stageKeys<T, HEAD>(keys + (block + 1) % 2 * TILE_BYTES, k, forest, rows, block + 1,
                         blocks.keys, shape, thread);
    }
    commitCopies();
    const bool isFull = block >= blocks.full && block < blocks.fullEnd;
#pragma unroll 1
    for (int part = 0; part < KEYS; part += PART) {
      float scores[TILES][PART / 8][4] = {};
#pragma unroll
      for (int i = 0; i < TILES; i++) {
        multiplyHeads<T, HEAD, ROWS<T>>(scores[i], queries, warpRow + 16 * i,
                                        keys + block % 2 * TILE_BYTES, part, lane);
      }
#pragma unroll
      for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const int32_t row = rows.first + warpRow + 16 * i + lane / 4 + 8 * half;
          const int32_t position = rows.positionOf(row, shape.ratio);
          const int32_t firstKey = block * KEYS + part + lane % 4 * 2;
          const float most = scaleScores(scores[i], half, shape.scale, [&](int column) {
            const int32_t key = firstKey + column;
            return isFull || (key < blocks.keys && sees(shape, position, key));
          });
          RowSum& total = totals[i][half];
          const float sum = weighScores(scores[i], half, shiftOf(fmaxf(total.largest, most)));
          const float keep = join(&total, most, sum);
#pragma unroll
          for (int j = 0; j < HEAD / 8; j++) {
            sums[i][j][2 * half] *= keep;
            sums[i][j][2 * half + 1] *= keep;
          }
        }
      }
      if (part == 0) {
        waitCopies<1>();
        syncBlock();
      }
#pragma unroll
      for (int i = 0; i < TILES; i++) {
        addWeighted<T>(sums[i], scores[i], values, part, 0, lane);
      }
    }
  }

#pragma unroll
  for (int i = 0; i < TILES; i++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int32_t row = rows.first + warpRow + 16 * i + lane / 4 + 8 * half;
      const float sum = sumQuad(totals[i][half].total);
      const int64_t at = rows.headOf(row, shape);
      if (at < 0) continue;
      const float share = sum > 0.0f ? 1.0f / sum : 0.0f;
      if (lane % 4 == 0) {
        lse[at % shape.H * shape.T + at / shape.H] =
            sum > 0.0f ? (totals[i][half].largest + log2f(sum)) * LN_2 : -INFINITY;
      }
#pragma unroll
      for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
          const int column = 8 * j + lane % 4 * 2 + p;
          if (column < shape.D) {
            out[at * shape.D + column] = rounded<T>(sums[i][j][2 * half + p] * share);
          }
        }
      }
    }
  }
}

template <class T, int HEAD>
int forwardOf(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, int64_t S) {
  Forest forest;
  const TileSizes sizes = {shape.ratio, ROWS<T>, KEYS};
  if (planSegments(launch, 3, S, shape.T, sizes, false, &forest)) return 1;
  const int64_t D = shape.D;
  const int64_t tiles = mostTiles(shape.T * shape.ratio, ROWS<T>, S);
  return launchKernel(launch, attendForward<T, HEAD>, dim3((unsigned)tiles, (unsigned)shape.G),
                      dim3(ATTEND_THREADS), FORWARD_SHARED<T, HEAD>,
                      matrixOf(stored<T>(launch, 0), D, shape.T * shape.H, D),
                      matrixOf(stored<T>(launch, 1), D, shape.T * shape.G, D),
                      matrixOf(stored<T>(launch, 2), D, shape.T * shape.G, D), forest, shape,
                      stored<T>(launch, 4), floats(launch, 5));
}

// The same on warpgroups.
template <class T, int HEAD>
int forwardInSteps(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, int64_t S) {
  Forest forest;
  const TileSizes sizes = {shape.ratio, STEP_ROWS, STEP};
  if (planSegments(launch, 3, S, shape.T, sizes, false, &forest)) return 1;
  const int64_t D = shape.D;
  const int64_t tiles = mostTiles(shape.T * shape.ratio, STEP_ROWS, S);
  return launchKernel(launch, attendForwardSteps<T, HEAD>, dim3((unsigned)tiles, (unsigned)shape.G),
                      dim3(STEP_THREADS), STEP_SHARED<T, HEAD>,
                      matrixOf(stored<T>(launch, 0), D, shape.T * shape.H, D),
                      matrixOf(stored<T>(launch, 1), D, shape.T * shape.G, D),
                      matrixOf(stored<T>(launch, 2), D, shape.T * shape.G, D), forest, shape,
                      stored<T>(launch, 4), floats(launch, 5));
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  AttentionShape shape;
  if (readAttention(*launch, &shape)) return 1;
  if (shape.T == 0) return 0;
  const int64_t S = launch->dims[4];
  if constexpr (sizeof(T) == 2) {
    if (walksInSteps<T>(*launch, shape)) {
      return shape.D <= 64 ? forwardInSteps<T, 64>(*launch, shape, S)
                           : forwardInSteps<T, 128>(*launch, shape, S);
    }
  }
  return shape.D <= 64 ? forwardOf<T, 64>(*launch, shape, S) : forwardOf<T, 128>(*launch, shape, S);
}

}  // namespace

SACCADE_KERNEL(attention,
               "q[T,H,D]' k[T,G,D]' v[T,G,D]' segments[S,P]# -> out[T,H,D]' lse[H,T]'! ; "
               "scale causal window",
               SACCADE_STORED(forward), SACCADE_STORED(attentionBackward))

}  // namespace saccade
