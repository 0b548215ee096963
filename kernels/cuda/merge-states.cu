// Attention over the union of two sets of keys, from its results over each:
//
//   lse = ln(e^aLse + e^bLse);  out = α·a + β·b;  α = e^(aLse − lse), β = e^(bLse − lse)
//
// Layout: a, b, out [T,H,D]; aLse, bLse, lse [H,T]. A warp owns the row of one token and head, a
// lane every 32nd chunk of 16 bytes of it; every lane makes the row's shares.
#include <math.h>

#include "parts/chunk.cuh"
#include "parts/launch.cuh"
#include "parts/row-sum.cuh"

namespace saccade {
namespace {

struct Shares {
  float alpha, beta, lse;
};

// Both sides −∞ give shares of 0.
__device__ __forceinline__ Shares share(float a, float b) {
  const float highest = fmaxf(a, b);
  if (highest == -INFINITY) return {0, 0, highest};
  const float alpha = expf(a - highest), beta = expf(b - highest);
  const float sum = alpha + beta;
  return {alpha / sum, beta / sum, highest + logf(sum)};
}

// A row of token t and head h: its place among all rows, and that of its lse.
struct Row {
  int64_t row, lse;
};
__device__ __forceinline__ Row ownRow(int64_t T, int64_t H) {
  const int64_t row = (int64_t)blockIdx.x * (ROW_THREADS / 32) + threadIdx.x / 32;
  return {row, row % H * T + row / H};
}

// Where a share is 0 the other side's values count for nothing: they may be anything.
__device__ __forceinline__ float scaled(float share, float value) {
  return share != 0 ? share * value : 0.0f;
}

template <class T>
__global__ void __launch_bounds__(ROW_THREADS)
    mergeRows(const T* a, const float* aLse, const T* b, const float* bLse, T* out, float* lse,
              int64_t tokens, int64_t H, int64_t D, bool isAligned) {
  const Row own = ownRow(tokens, H);
  if (own.row >= tokens * H) return;
  const int lane = (int)threadIdx.x % 32;
  const Shares shares = share(aLse[own.lse], bLse[own.lse]);
  if (lane == 0) lse[own.lse] = shares.lse;
  for (int64_t d = lane * CHUNK<T>; d < D; d += 32 * CHUNK<T>) {
    const bool isWhole = isAligned && D - d >= CHUNK<T>;
    float first[CHUNK<T>], second[CHUNK<T>];
    loadChunk(first, a + own.row * D + d, D - d, isWhole);
    loadChunk(second, b + own.row * D + d, D - d, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      first[e] = scaled(shares.alpha, first[e]) + scaled(shares.beta, second[e]);
    }
    storeChunk(out + own.row * D + d, first, D - d, isWhole);
  }
}

struct StateGradients {
  float* dLse;
  float* daLse;
  float* dbLse;
};

//   da = α·dout;  daLse = α·(β·Σ_d dout∘(a − b) + dlse);  b's alike, with the sign of a − b turned
template <class T>
__global__ void __launch_bounds__(ROW_THREADS)
    differentiateMerge(const T* dOut, const T* a, const float* aLse, const T* b, const float* bLse,
                       T* da, T* db, StateGradients states, int64_t tokens, int64_t H, int64_t D,
                       bool isAligned) {
  const Row own = ownRow(tokens, H);
  if (own.row >= tokens * H) return;
  const int lane = (int)threadIdx.x % 32;
  const Shares shares = share(aLse[own.lse], bLse[own.lse]);
  // The product of the shares is 0 where one side counts for nothing; its values are not read.
  const bool isMixed = shares.alpha * shares.beta != 0;
  float difference = 0;
  for (int64_t d = lane * CHUNK<T>; dOut && d < D; d += 32 * CHUNK<T>) {
    const int64_t at = own.row * D + d;
    const bool isWhole = isAligned && D - d >= CHUNK<T>;
    float gradients[CHUNK<T>], values[CHUNK<T>];
    loadChunk(gradients, dOut + at, D - d, isWhole);
    if (isMixed) {
      float others[CHUNK<T>];
      loadChunk(values, a + at, D - d, isWhole);
      loadChunk(others, b + at, D - d, isWhole);
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) {
        difference = fmaf(gradients[e], values[e] - others[e], difference);
      }
    }
    if (da) {
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) values[e] = shares.alpha * gradients[e];
      storeChunk(da + at, values, D - d, isWhole);
    }
    if (db) {
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) values[e] = shares.beta * gradients[e];
      storeChunk(db + at, values, D - d, isWhole);
    }
  }
  difference = sumOfWarp(difference);
  if (lane > 0) return;
  const float upstream = states.dLse ? states.dLse[own.lse] : 0.0f;
  if (states.daLse) {
    states.daLse[own.lse] = shares.alpha * (upstream + shares.beta * difference);
  }
  if (states.dbLse) {
    states.dbLse[own.lse] = shares.beta * (upstream - shares.alpha * difference);
  }
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t tokens = launch->dims[0], H = launch->dims[1], D = launch->dims[2];
  const T* a = stored<T>(*launch, 0);
  const T* b = stored<T>(*launch, 2);
  T* out = stored<T>(*launch, 4);
  return launchKernel(*launch, mergeRows<T>, dim3((unsigned)divideUp(tokens * H, 8)),
                      dim3(ROW_THREADS), 0, a, floats(*launch, 1), b, floats(*launch, 3), out,
                      floats(*launch, 5), tokens, H, D,
                      areAligned({a, b, out}) && isWholeChunks<T>(D));
}

// Operands: dOut, dLse, a, aLse, b, bLse, out, lse, da, daLse, db, dbLse.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t tokens = launch->dims[0], H = launch->dims[1], D = launch->dims[2];
  const T* dOut = stored<T>(*launch, 0);
  const T* a = stored<T>(*launch, 2);
  const T* b = stored<T>(*launch, 4);
  T* da = stored<T>(*launch, 8);
  T* db = stored<T>(*launch, 10);
  if (!dOut && (fillZeros(*launch, da, tokens * H * D) || fillZeros(*launch, db, tokens * H * D))) {
    return 1;
  }
  const StateGradients states = {floats(*launch, 1), floats(*launch, 9), floats(*launch, 11)};
  return launchKernel(*launch, differentiateMerge<T>, dim3((unsigned)divideUp(tokens * H, 8)),
                      dim3(ROW_THREADS), 0, dOut, a, floats(*launch, 3), b, floats(*launch, 5), da,
                      db, states, tokens, H, D,
                      areAligned({dOut, a, b, da, db}) && isWholeChunks<T>(D));
}

}  // namespace

SACCADE_KERNEL(mergeStates,
               "a[T,H,D]' aLse[H,T]'! b[T,H,D]' bLse[H,T]'! -> out[T,H,D]' lse[H,T]'!",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
