// Attention of single new tokens over a KV cache: row n sees the slots of its spans.
//
// Layout: q, out [N,H,D]; kCache, vCache [C,G,D]; spans [R,2]; spanOffsets [N+1]; lse [H,N]. A block
// owns one row's query heads of one key head, 16 at a time; its four warps take the row's keys 32 at a
// time in turns, each with its own sums, two tiles of keys and values under way, and the block adds up
// the four at the end. A row's bits depend on its own slots' contents and their number.
// Rows that share a prompt read it each by themselves, out of the second-level cache at best.
#include "common/attend.cuh"

namespace saccade {
namespace {

constexpr int HEADS = 16;
constexpr int WARPS = ATTEND_THREADS / 32;
template <class T>
constexpr int STAGES = sizeof(T) == 2 ? 2 : 1;

struct Spans {
  const int32_t *spans, *offsets;
  int64_t rows, count, slots;
  int spansOperand, offsetsOperand;
  Refusal refusal;
};

// A row's spans and how many slots they have, of which those before `from` are outside the window.
struct RowSpans {
  const int32_t* first;
  int32_t count, keys, from;

  // The slot of logical key `i`.
  __device__ __forceinline__ int64_t slotOf(int32_t i) const {
    const int32_t* span = first;
    while (i >= span[1] - span[0]) {
      i -= span[1] - span[0];
      span += 2;
    }
    return span[0] + i;
  }
};

// Reads and checks a row's spans; a row with one out of range sees nothing.
__device__ inline RowSpans readSpans(const Spans& spans, int64_t n, int32_t window) {
  const Refusal& refusal = spans.refusal;
  const int64_t first = spans.offsets[n], end = spans.offsets[n + 1];
  RowSpans row = {spans.spans, 0, 0, 0};
  bool isSound = expectIndex(refusal, spans.offsetsOperand, n, first, 0, spans.count + 1) == first;
  isSound = isSound &&
            expectIndex(refusal, spans.offsetsOperand, n + 1, end, first, spans.count + 1) == end;
  if (!isSound) return row;
  int64_t keys = 0;
  for (int64_t r = first; r < end; r++) {
    const int64_t from = spans.spans[2 * r], to = spans.spans[2 * r + 1];
    if (expectIndex(refusal, spans.spansOperand, 2 * r, from, 0, spans.slots + 1) != from ||
        expectIndex(refusal, spans.spansOperand, 2 * r + 1, to, from, spans.slots + 1) != to) {
      return row;
    }
    keys += to - from;
  }
  row.first = spans.spans + 2 * first;
  row.count = (int32_t)(end - first);
  row.keys = (int32_t)keys;
  row.from = window > 0 && keys > window + 1 ? (int32_t)(keys - window - 1) : 0;
  return row;
}

template <class T, int HEAD>
struct Shared {
  static constexpr int QUERIES = HEAD_TILE_BYTES<T, HEADS, HEAD>;
  static constexpr int TILE = HEAD_TILE_BYTES<T, PART, HEAD>;
  static constexpr int WARP = 2 * STAGES<T> * TILE;
  // Sums of a warp at the end, then its rows' maxima and totals.
  static constexpr int SUMS = HEADS * (HEAD + 2) * (int)sizeof(float);
  static constexpr int WORK = WARPS * (WARP > SUMS ? WARP : SUMS);
  static constexpr int BYTES = QUERIES + WORK + (int)sizeof(RowSpans);
};

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS)
    attendDecode(Matrix<T> q, Matrix<T> k, Matrix<T> v, Spans spans, AttentionShape shape, T* out,
                 float* lse) {
  using Space = Shared<T, HEAD>;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warp = thread / 32;
  const int64_t n = blockIdx.x;
  const int32_t keyHead = (int32_t)blockIdx.y, firstHead = (int32_t)blockIdx.z * HEADS;
  uint8_t* queries = sharedMemory();
  uint8_t* work = queries + Space::QUERIES;
  RowSpans& row = *reinterpret_cast<RowSpans*>(work + Space::WORK);
  if (thread == 0) row = readSpans(spans, n, shape.window);
  const auto headAt = [&](int r) -> int64_t {
    if (firstHead + r >= shape.ratio) return -1;
    return n * shape.H + keyHead * shape.ratio + firstHead + r;
  };
  stageHeads<T, HEADS, HEAD>(queries, q, thread, headAt);
  commitCopies();
  waitCopies<0>();
  syncBlock();

  uint8_t* tiles = work + warp * Space::WARP;
  const auto begin = [&](int32_t part, int stage) {
    if (part * PART < row.keys) {
      const auto slotAt = [&](int r) -> int64_t {
        const int32_t key = part * PART + r;
        if (key < row.from || key >= row.keys) return -1;
        return row.slotOf(key) * shape.G + keyHead;
      };
      uint8_t* at = tiles + 2 * stage * Space::TILE;
      stageHeads<T, PART, HEAD, 32>(at, k, lane, slotAt);
      stageHeads<T, PART, HEAD, 32>(at + Space::TILE, v, lane, slotAt);
    }
    commitCopies();
  };
  float sums[HEAD / 8][4] = {};
  float largest[2] = {UNSEEN, UNSEEN}, total[2] = {0.0f, 0.0f};
  const int32_t first = row.from / PART / WARPS * WARPS + warp;
  begin(first, 0);
  for (int32_t part = first, turn = 0; part * PART < row.keys; part += WARPS, turn++) {
    const int stage = turn % STAGES<T>;
    if (STAGES<T> == 2) begin(part + WARPS, 1 - stage);
    waitCopies<STAGES<T> - 1>();
    syncWarp();
    const uint8_t* keys = tiles + 2 * stage * Space::TILE;
    float scores[PART / 8][4] = {};
    multiplyHeads<T, HEAD, HEADS, PART>(scores, queries, 0, keys, 0, lane);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const float keep = weigh(
          scores, half, shape.scale,
          [&](int column) {
            const int32_t key = part * PART + lane % 4 * 2 + column;
            return key >= row.from && key < row.keys;
          },
          &largest[half], &total[half]);
#pragma unroll
      for (int j = 0; j < HEAD / 8; j++) {
        sums[j][2 * half] *= keep;
        sums[j][2 * half + 1] *= keep;
      }
    }
    addWeighted<T, HEAD, PART>(sums, scores, keys + Space::TILE, 0, lane);
    syncWarp();
    if (STAGES<T> == 1) begin(part + WARPS, 0);
  }
  waitCopies<0>();
  syncBlock();

  // Of warp w and head r: HEAD sums, the maximum, the total.
  float* states = reinterpret_cast<float*>(work);
  const auto stateOf = [&](int w, int r) { return states + (w * HEADS + r) * (HEAD + 2); };
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float* state = stateOf(warp, lane / 4 + 8 * half);
    const float sum = sumQuad(total[half]);
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
      state[8 * j + lane % 4 * 2] = sums[j][2 * half];
      state[8 * j + lane % 4 * 2 + 1] = sums[j][2 * half + 1];
    }
    if (lane % 4 == 0) {
      state[HEAD] = largest[half];
      state[HEAD + 1] = sum;
    }
  }
  syncBlock();
  for (int i = thread; i < HEADS * HEAD; i += ATTEND_THREADS) {
    const int r = i / HEAD, column = i % HEAD;
    const int64_t at = headAt(r);
    if (at < 0 || column >= shape.D) continue;
    float most = UNSEEN;
#pragma unroll
    for (int w = 0; w < WARPS; w++) most = fmaxf(most, stateOf(w, r)[HEAD]);
    float sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
      const float* state = stateOf(w, r);
      const float share = state[HEAD] <= UNSEEN ? 0.0f : powerOfTwo(state[HEAD] - most);
      sum += share * state[column];
      weights += share * state[HEAD + 1];
    }
    out[at * shape.D + column] = rounded<T>(weights > 0.0f ? sum / weights : 0.0f);
    if (column == 0) {
      lse[at % shape.H * shape.T + n] =
          weights > 0.0f ? (most + log2f(weights)) * LN_2 : -INFINITY;
    }
  }
}

template <class T, int HEAD>
int decode(const SaccadeDeviceLaunch& launch, const AttentionShape& shape, const Spans& spans) {
  const int64_t D = shape.D, slots = spans.slots * shape.G;
  const dim3 grid((unsigned)shape.T, (unsigned)shape.G, (unsigned)divideUp(shape.ratio, HEADS));
  return launchKernel(launch, attendDecode<T, HEAD>, grid, dim3(ATTEND_THREADS),
                      Shared<T, HEAD>::BYTES,
                      matrixOf(stored<T>(launch, 0), D, shape.T * shape.H, D),
                      matrixOf(stored<T>(launch, 1), D, slots, D),
                      matrixOf(stored<T>(launch, 2), D, slots, D), spans, shape,
                      stored<T>(launch, 5), floats(launch, 6));
}

// Dims: N H D C G R U2 O.
template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
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
  return shape.D <= 64 ? decode<T, 64>(*launch, shape, spans)
                       : decode<T, 128>(*launch, shape, spans);
}

}  // namespace

SACCADE_KERNEL(attentionDecode,
               "q[N,H,D] kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> "
               "out[N,H,D] lse[H,N]! ; scale window",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
