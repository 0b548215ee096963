// Attention of single new tokens over a KV cache: row n sees the slots of its spans.
//
// Layout: q, out [N,H,D]; kCache, vCache [C,G,D]; spans [R,2]; spanOffsets [N+1]; lse [H,N]. A
// block owns one row's query heads of one key head, 16 at a time, and walks the row's keys 128 at a
// time: each of its four warps computes the weights of 32 keys, then adds up a quarter of the head
// over all 128. So four warps share the work while each sum is the chain that attention's forward
// has, bit for bit: by parts of 32 keys, or by steps of 128 where the forward runs on warpgroups
// (parts/attend-step.cuh). A warp brings its own 32 keys and values; the next keys arrive while
// values are added up, and the next values while scores are computed. Several blocks share a
// multiprocessor, so that memory is never idle. Neighboring rows that begin with the same slots
// meet those together first (parts/attend-prefix.cuh), and each goes on from there: the chain over
// a row's logical keys is the same in both ways. With a window rows lose keys of the prompt at
// different steps, so they go alone.
#pragma once

#include "attend-prefix.cuh"
#include "attend-prefix-steps.cuh"

namespace saccade {

constexpr int HEADS = 16;
constexpr int WARPS = ATTEND_THREADS / 32;
static_assert(WARPS == QUARTERS && TURN == STEP, "a turn is a step");

// A lane's weights of a part, as words: pairs of 16-bit ones are rounded, as products read them.
template <class T>
constexpr int WEIGHT_WORDS = PART / 8 * 4 / (4 / (int)sizeof(T));
template <class T>
__device__ __forceinline__ void packWeights(uint32_t (&words)[WEIGHT_WORDS<T>],
                                            const float (&weights)[PART / 8][4]) {
#pragma unroll
  for (int j = 0; j < PART / 8; j++) {
#pragma unroll
    for (int i = 0; i < WEIGHT_WORDS<T> / (PART / 8); i++) {
      if constexpr (sizeof(T) == 2) {
        words[2 * j + i] = packed<T>(weights[j][2 * i], weights[j][2 * i + 1]);
      } else {
        words[4 * j + i] = floatAsWord(weights[j][i]);
      }
    }
  }
}
template <class T>
__device__ __forceinline__ void unpackWeights(Fragment<T>& fragment, const uint32_t* words) {
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int i = 0; i < 4; i++) fragment.words[i] = words[i];
  } else {
    float tile[1][4];
#pragma unroll
    for (int i = 0; i < 4; i++) tile[0][i] = wordAsFloat(words[i]);
    chain<T>(fragment, tile);
  }
}

// The values that warps exchange in a turn.
template <class T>
struct Exchange {
  // By part: the weights as the lanes hold them, the rows' largest scores, the lanes' sums.
  uint32_t weights[WARPS][WEIGHT_WORDS<T>][32];
  float largest[WARPS][HEADS];
  float sums[WARPS][2][32];
  RowSpans row;
};
template <class T, int HEAD>
struct Shared {
  static constexpr int QUERIES = HEAD_TILE_BYTES<T, HEADS, HEAD>;
  static constexpr int TILE = HEAD_TILE_BYTES<T, TURN, HEAD>;
  static constexpr int BYTES = QUERIES + 2 * TILE + (int)sizeof(Exchange<T>);
};

// sums += a part's weights · columns column + 8j … of its values.
template <class T, int COLUMNS>
__device__ __forceinline__ void addPart(float (&sums)[COLUMNS][4],
                                        const uint32_t (*weights)[32], const uint8_t* values,
                                        int part, int column, int lane) {
#pragma unroll
  for (int step = 0; step < PART / DEPTH<T>; step++) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; i++) words[i] = weights[4 * step + i][lane];
    Fragment<T> lefts;
    unpackWeights<T>(lefts, words);
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j++) {
      Fragment<T> rights;
      const int at = column + 16 * j;
      loadAcrossChained<T>(rights, values + at / PANEL<T> * TURN * PANEL_BYTES,
                           part * PART + step * DEPTH<T>, at % PANEL<T>, lane);
      multiply(sums[2 * j], sums[2 * j + 1], lefts, rights);
    }
  }
}

template <class T, int HEAD, bool IN_STEPS>
__global__ void __launch_bounds__(ATTEND_THREADS, sizeof(T) == 2 ? 3 : 1)
    attendDecode(Matrix<T> q, Matrix<T> k, Matrix<T> v, Spans spans, const int32_t* prefixKeys,
                 ChainStates states, AttentionShape shape, T* out, float* lse) {
  using Space = Shared<T, HEAD>;
  constexpr int COLUMNS = HEAD / WARPS;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warp = thread / 32;
  const int64_t n = blockIdx.x;
  const int32_t keyHead = (int32_t)blockIdx.y, firstHead = (int32_t)blockIdx.z * HEADS;
  uint8_t* queries = sharedMemory();
  uint8_t* keys = queries + Space::QUERIES;
  uint8_t* values = keys + Space::TILE;
  Exchange<T>& exchange = *reinterpret_cast<Exchange<T>*>(values + Space::TILE);
  if (thread == 0) exchange.row = readSpans(spans, n, shape.window);
  const int32_t prefix = prefixKeys ? prefixKeys[n] : 0;
  const auto headAt = [&](int r) -> int64_t {
    if (firstHead + r >= shape.ratio) return -1;
    return n * shape.H + keyHead * shape.ratio + firstHead + r;
  };
  stageHeads<T, HEADS, HEAD>(queries, q, thread, headAt);
  syncBlock();

  const RowSpans row = exchange.row;
  const int32_t firstTurn = (prefix > 0 ? prefix : row.from) / TURN;
  KeyRun runs[2] = {{0, 0}, {0, 0}};
  // Begins to copy the warp's own keys, or values, of a turn.
  const auto begin = [&](const Matrix<T>& matrix, uint8_t* tile, int32_t turn, KeyRun& run) {
    if (turn * TURN < row.keys) {
      const HeadCopier<T, HEAD, TURN, PART> copier = {{matrix, shape.G, keyHead}, warp * PART, lane};
      copier.copyKeys(tile, turn * TURN, row.from, row.keys, run,
                      [&](int32_t key) { return row.runAt(key); },
                      [&](int32_t key) { return (int32_t)row.slotOf(key); });
    }
    commitCopies();
  };
  begin(k, keys, firstTurn, runs[0]);
  begin(v, values, firstTurn, runs[1]);
  float sums[COLUMNS / 8][4] = {};
  constexpr float NONE = IN_STEPS ? NOTHING : UNSEEN;
  RowSum totals[2] = {{NONE, 0.0f}, {NONE, 0.0f}};
  const float unit = shape.scale * LOG2_E;
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
  const auto shrink = [&](int half, float keep) {
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
      sums[j][2 * half] *= keep;
      sums[j][2 * half + 1] *= keep;
    }
  };
#pragma unroll 1
  for (int32_t turn = firstTurn; turn * TURN < row.keys; turn++) {
    // The warp's keys are there; the queries too, by the barriers so far and the other warps'
    // waits.
    waitCopies<1>();
    if (turn == firstTurn) syncBlock();
    else syncWarp();
    float scores[PART / 8][4] = {};
    multiplyHeads<T, HEAD, HEADS, TURN>(scores, queries, 0, keys, warp * PART, lane);
    syncWarp();
    begin(k, keys, turn + 1, runs[0]);
    const int32_t firstKey = turn * TURN + warp * PART;
    const bool isWhole = firstKey >= row.from && firstKey + PART <= row.keys;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const auto isSeen = [&](int column) {
        const int32_t key = firstKey + lane % 4 * 2 + column;
        return isWhole || (key >= row.from && key < row.keys);
      };
      float most;
      if constexpr (IN_STEPS) {
#pragma unroll
        for (int j = 0; j < PART / 8; j++) {
#pragma unroll
          for (int p = 0; p < 2; p++) {
            if (!isSeen(8 * j + p)) scores[j][2 * half + p] = NOTHING;
          }
        }
        most = largestScore(scores, half);
      } else {
        most = scaleScores(scores, half, shape.scale, isSeen);
      }
      if (lane % 4 == 0) exchange.largest[warp][lane / 4 + 8 * half] = most;
    }
    syncBlock();
    // In steps: the row's largest score and its shift with all parts.
    float most[2], shift[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      most[half] = totals[half].largest;
#pragma unroll
      for (int part = 0; part < WARPS; part++) {
        if (IN_STEPS || part <= warp) {
          most[half] = fmaxf(most[half], exchange.largest[part][lane / 4 + 8 * half]);
        }
      }
      if constexpr (IN_STEPS) {
        shift[half] = shiftOfRaw(most[half], unit);
        exchange.sums[warp][half][lane] = weighQuarter(scores, half, unit, shift[half]);
      } else {
        exchange.sums[warp][half][lane] = weighScores(scores, half, shiftOf(most[half]));
      }
    }
    uint32_t words[WEIGHT_WORDS<T>];
    packWeights<T>(words, scores);
#pragma unroll
    for (int i = 0; i < WEIGHT_WORDS<T>; i++) exchange.weights[warp][i][lane] = words[i];
    waitCopies<1>();
    syncBlock();
    if constexpr (IN_STEPS) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float quarters[QUARTERS];
#pragma unroll
        for (int i = 0; i < QUARTERS; i++) quarters[i] = exchange.sums[i][half][lane];
        shrink(half, joinStep(&totals[half], most[half], unit, sumQuarters(quarters)));
      }
    }
#pragma unroll
    for (int part = 0; part < WARPS; part++) {
      if constexpr (!IN_STEPS) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
          shrink(half, join(&totals[half], exchange.largest[part][lane / 4 + 8 * half],
                            exchange.sums[part][half][lane]));
        }
      }
      addPart<T>(sums, exchange.weights[part], values, part, warp * COLUMNS, lane);
    }
    syncBlock();
    begin(v, values, turn + 1, runs[1]);
  }
  waitCopies<0>();

#pragma unroll
  for (int half = 0; half < 2; half++) {
    const float sum = sumQuad(totals[half].total);
    const int64_t at = headAt(lane / 4 + 8 * half);
    if (at < 0) continue;
    const float share = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (warp == 0 && lane % 4 == 0) {
      lse[at % shape.H * shape.T + n] = IN_STEPS ? logSumOf(totals[half], unit, sum)
                                                 : logSumOf(totals[half], 1.0f, sum);
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
template <class T, int HEAD, bool IN_STEPS>
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
    if (IN_STEPS ? launchPrefixSteps<T, HEAD>(launch, grid, q, k, v, spans, prefixes, shape, states)
                 : launchKernel(launch, attendPrefix<T, HEAD>, grid, dim3(ATTEND_THREADS),
                                PREFIX_SHARED<T, HEAD>, q, k, v, spans, prefixes, shape, states)) {
      return 1;
    }
  }
  const dim3 grid((unsigned)shape.T, (unsigned)shape.G, (unsigned)divideUp(shape.ratio, HEADS));
  return launchKernel(launch, attendDecode<T, HEAD, IN_STEPS>, grid, dim3(ATTEND_THREADS),
                      Shared<T, HEAD>::BYTES, q, k, v, spans, prefixes.keys, states, shape, out,
                      floats(launch, 6));
}

// As the forward walks there.
template <class T, int HEAD>
int decode(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, const Spans& spans,
           const T* queries, T* out) {
  if constexpr (sizeof(T) == 2) {
    if (walksInSteps<T>(launch, shape)) {
      return decode<T, HEAD, true>(launch, shape, spans, queries, out);
    }
  }
  return decode<T, HEAD, false>(launch, shape, spans, queries, out);
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
