// Attention of single new tokens over a KV cache: row n sees the slots of its spans.
//
// Layout: q, out [N,H,D]; kCache, vCache [C,G,D]; spans [R,2]; spanOffsets [N+1]; lse [H,N]. A block
// owns one row's query heads of one key head, 16 at a time, and walks the row's keys 128 at a time: each
// of its four warps computes the weights of 32 keys, then adds up a quarter of the head over all 128. So
// four warps share the work while each sum is the chain that attention's forward has, bit for bit.
// Neighboring rows that begin with the same slots meet those together first (parts/attend-prefix.cuh),
// and each goes on from there: the chain over a row's logical keys is the same in both ways. With a
// window rows lose keys of the prompt at different steps, so they go alone.
#pragma once

#include "attend-prefix.cuh"

namespace saccade {

constexpr int HEADS = 16;
constexpr int WARPS = ATTEND_THREADS / 32;
template <class T, int HEAD>
struct Shared {
  static constexpr int QUERIES = HEAD_TILE_BYTES<T, HEADS, HEAD>;
  static constexpr int TILE = HEAD_TILE_BYTES<T, TURN, HEAD>;
  static constexpr int TILES = 2 * STAGES<T> * TILE;
};
// The values that warps exchange in a turn.
struct Exchange {
  // By part: the weights as the lanes hold them, the rows' largest scores, the lanes' sums.
  float weights[WARPS][PART / 8][4][32];
  float largest[WARPS][HEADS];
  float sums[WARPS][2][32];
  RowSpans row;
};

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS)
    attendDecode(Matrix<T> q, Matrix<T> k, Matrix<T> v, Spans spans, const int32_t* prefixKeys,
                 ChainStates states, AttentionShape shape, T* out, float* lse) {
  using Space = Shared<T, HEAD>;
  constexpr int COLUMNS = HEAD / WARPS;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warp = thread / 32;
  const int64_t n = blockIdx.x;
  const int32_t keyHead = (int32_t)blockIdx.y, firstHead = (int32_t)blockIdx.z * HEADS;
  uint8_t* queries = sharedMemory();
  uint8_t* tiles = queries + Space::QUERIES;
  Exchange& exchange = *reinterpret_cast<Exchange*>(tiles + Space::TILES);
  const RowSpans& row = exchange.row;
  if (thread == 0) exchange.row = readSpans(spans, n, shape.window);
  const auto headAt = [&](int r) -> int64_t {
    if (firstHead + r >= shape.ratio) return -1;
    return n * shape.H + keyHead * shape.ratio + firstHead + r;
  };
  stageHeads<T, HEADS, HEAD>(queries, q, thread, headAt);
  syncBlock();

  const auto begin = [&](int32_t turn, int stage) {
    if (turn * TURN < row.keys) {
      const auto slotAt = [&](int r) -> int64_t {
        const int32_t key = turn * TURN + r;
        if (key < row.from || key >= row.keys) return -1;
        return row.slotOf(key) * shape.G + keyHead;
      };
      uint8_t* at = tiles + 2 * stage * Space::TILE;
      stageHeads<T, TURN, HEAD>(at, k, thread, slotAt);
      stageHeads<T, TURN, HEAD>(at + Space::TILE, v, thread, slotAt);
    }
    commitCopies();
  };
  float sums[COLUMNS / 8][4] = {};
  RowSum totals[2] = {{UNSEEN, 0.0f}, {UNSEEN, 0.0f}};
  const int32_t prefix = prefixKeys ? prefixKeys[n] : 0;
  if (prefix > 0) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int64_t at = headAt(lane / 4 + 8 * half);
      if (at < 0) continue;
      totals[half] = {states.largest[at], states.totals[4 * at + lane % 4]};
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
          const int column = warp * COLUMNS + 8 * j + lane % 4 * 2 + p;
          sums[j][2 * half + p] = states.sums[at * HEAD + column];
        }
      }
    }
  }
  const int32_t first = (prefix > 0 ? prefix : row.from) / TURN;
  begin(first, first % STAGES<T>);
  for (int32_t turn = first; turn * TURN < row.keys; turn++) {
    const int stage = turn % STAGES<T>;
    if (STAGES<T> == 2) begin(turn + 1, 1 - stage);
    waitCopies<STAGES<T> - 1>();
    syncBlock();
    const uint8_t* keys = tiles + 2 * stage * Space::TILE;
    const uint8_t* values = keys + Space::TILE;
    float scores[PART / 8][4] = {};
    multiplyHeads<T, HEAD, HEADS, TURN>(scores, queries, 0, keys, warp * PART, lane);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int32_t firstKey = turn * TURN + warp * PART + lane % 4 * 2;
      const float most = scaleScores(scores, half, shape.scale, [&](int column) {
        const int32_t key = firstKey + column;
        return key >= row.from && key < row.keys;
      });
      if (lane % 4 == 0) exchange.largest[warp][lane / 4 + 8 * half] = most;
    }
    syncBlock();
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float most = totals[half].largest;
      for (int part = 0; part <= warp; part++) {
        most = fmaxf(most, exchange.largest[part][lane / 4 + 8 * half]);
      }
      exchange.sums[warp][half][lane] = weighScores(scores, half, shiftOf(most));
    }
#pragma unroll
    for (int j = 0; j < PART / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) exchange.weights[warp][j][i][lane] = scores[j][i];
    }
    syncBlock();
    for (int part = 0; part < WARPS; part++) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float keep = join(&totals[half], exchange.largest[part][lane / 4 + 8 * half],
                                exchange.sums[part][half][lane]);
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
          sums[j][2 * half] *= keep;
          sums[j][2 * half + 1] *= keep;
        }
      }
#pragma unroll
      for (int j = 0; j < PART / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) scores[j][i] = exchange.weights[part][j][i][lane];
      }
      addWeighted<T, TURN>(sums, scores, values, part * PART, warp * COLUMNS, lane);
    }
    syncBlock();
    if (STAGES<T> == 1) begin(turn + 1, 0);
  }
  waitCopies<0>();

#pragma unroll
  for (int half = 0; half < 2; half++) {
    const float sum = sumQuad(totals[half].total);
    const int64_t at = headAt(lane / 4 + 8 * half);
    if (at < 0) continue;
    const float share = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (warp == 0 && lane % 4 == 0) {
      lse[at % shape.H * shape.T + n] =
          sum > 0.0f ? (totals[half].largest + log2f(sum)) * LN_2 : -INFINITY;
    }
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int column = warp * COLUMNS + 8 * j + lane % 4 * 2 + p;
        if (column < shape.D) {
          out[at * shape.D + column] = rounded<T>(sums[j][2 * half + p] * share);
        }
      }
    }
  }
}

// With queries and results of the cache's storage.
template <class T, int HEAD>
int decode(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, const Spans& spans,
           const T* queries, T* out) {
  const int64_t D = shape.D, slots = spans.slots * shape.G, heads = shape.T * shape.H;
  const Matrix<T> q = matrixOf(queries, D, heads, D);
  const Matrix<T> k = matrixOf(stored<T>(launch, 1), D, slots, D);
  const Matrix<T> v = matrixOf(stored<T>(launch, 2), D, slots, D);
  const int32_t mostRows = PREFIX_ROWS / shape.ratio;
  const bool isGrouped =
      shape.window == 0 && shape.T > 1 && mostRows > 1 && spans.slots >= TURN && spans.count > 1;
  Prefixes prefixes = {};
  ChainStates states = {};
  if (isGrouped) {
    states = {scratchArray<float>(launch, heads * HEAD), scratchArray<float>(launch, heads * 4),
              scratchArray<float>(launch, heads)};
    if (!states.sums || !states.totals || !states.largest) return outOfScratch(launch);
    if (planCommon(launch, spans, mostRows, &prefixes)) return 1;
    const dim3 grid((unsigned)(shape.T / 2), (unsigned)shape.G);
    if (launchKernel(launch, attendPrefix<T, HEAD>, grid, dim3(ATTEND_THREADS),
                     PREFIX_SHARED<T, HEAD>, q, k, v, spans, prefixes, shape, states)) {
      return 1;
    }
  }
  const dim3 grid((unsigned)shape.T, (unsigned)shape.G, (unsigned)divideUp(shape.ratio, HEADS));
  return launchKernel(launch, attendDecode<T, HEAD>, grid, dim3(ATTEND_THREADS),
                      Shared<T, HEAD>::QUERIES + Shared<T, HEAD>::TILES + sizeof(Exchange), q, k, v,
                      spans, prefixes.keys, states, shape, out, floats(launch, 6));
}

// Dims: N H D C G R U2 O.
template <class T>
int decodeRows(const SaccadeDeviceLaunch* launch, const T* queries, T* out) {
  const int64_t* dims = launch->dims;
  AttentionShape shape;
  if (readShape(*launch, dims[0], dims[1], dims[2], dims[4], launch->scalars[0], true,
                launch->scalars[1], &shape)) {
    return 1;
  }
  if (dims[6] != 2 || dims[7] != dims[0] + 1) {
    return fail(*launch, "spans are [R, %lld] with %lld offsets for %lld rows; pass [R, 2] and N + 1.",
                (long long)dims[6], (long long)dims[7], (long long)dims[0]);
  }
  const Spans spans = {ints(*launch, 3), ints(*launch, 4), dims[0], dims[5], dims[3], 3, 4,
                       refusalOf(*launch)};
  return shape.D <= 64 ? decode<T, 64>(*launch, shape, spans, queries, out)
                       : decode<T, 128>(*launch, shape, spans, queries, out);
}

}  // namespace saccade
