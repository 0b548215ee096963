// weights = softmax(logits) at the K experts with the largest logits, or at given ones; with the
// scalar normalize ≠ 0 divided by their sum; and the gradient of the logits.
//
// Layout: logits [T,E]; given, weights, experts [T,K]. A warp owns a token; a lane owns every 32nd
// logit. Experts are chosen one after the other: the first of the largest that come after the one
// before, in the order of falling logits and rising index. The passes after the first find the
// logits in the L1 cache.
#include "parts/launch.cuh"
#include "parts/row-sum.cuh"

namespace saccade {
namespace {

constexpr int TOKENS = ROW_THREADS / 32;

__device__ __forceinline__ float maxOfWarp(float most) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) most = fmaxf(most, shuffleXor(most, mask));
  return most;
}

// A logit and its expert; none where the expert is negative.
struct Candidate {
  float logit;
  int32_t expert;
};
// Where one stands before the other in the order in which experts are chosen.
__device__ __forceinline__ bool isBefore(const Candidate& a, const Candidate& b) {
  if (a.expert < 0 || b.expert < 0) return a.expert >= 0;
  return a.logit > b.logit || (a.logit == b.logit && a.expert < b.expert);
}

// The first of those after `last`, or of all where that is none; the same in all lanes.
template <class T>
__device__ __forceinline__ Candidate nextOf(const T* logits, int64_t E, const Candidate& last,
                                            int lane) {
  Candidate best = {0.0f, -1};
  for (int64_t e = lane; e < E; e += 32) {
    const Candidate own = {widened(logits[e]), (int32_t)e};
    const bool isLeft = last.expert < 0 ? own.logit == own.logit : isBefore(last, own);
    if (isLeft && isBefore(own, best)) best = own;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const Candidate other = {shuffleXor(best.logit, mask), shuffleXor(best.expert, mask)};
    if (isBefore(other, best)) best = other;
  }
  return best;
}

struct Routing {
  int64_t T, E, K;
  bool isNormalized;
};

template <class T>
__global__ void __launch_bounds__(ROW_THREADS, 1)
    route(const T* allLogits, const int32_t* allGiven, float* allWeights, int32_t* allExperts,
          Routing shape, Refusal refusal) {
  const int64_t E = shape.E, K = shape.K;
  const int64_t t = (int64_t)blockIdx.x * TOKENS + threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
  if (t >= shape.T) return;
  const T* logits = allLogits + t * E;
  const int32_t* given = allGiven + t * K;
  float* weights = allWeights + t * K;
  int32_t* experts = allExperts + t * K;
  const bool isRouted = given[0] == -1;
  Candidate last = {0.0f, -1};
  bool isLeft = true;
  for (int64_t k = 0; k < K; k++) {
    int64_t chosen = k;
    if (!isRouted) {
      chosen = expectIndex(refusal, 1, t * K + k, given[k], 0, E);
    } else {
      expectIndex(refusal, 1, t * K + k, given[k], -1, 0);
      if (isLeft) last = nextOf(logits, E, last, lane);
      // Logits that are NaN have no order; any expert does.
      isLeft = isLeft && last.expert >= 0;
      if (isLeft) chosen = last.expert;
    }
    if (lane == 0) experts[k] = (int32_t)chosen;
  }
  syncWarp();
  float most = -INFINITY, sum = 0;
  if (shape.isNormalized) {
    for (int64_t k = lane; k < K; k += 32) most = fmaxf(most, widened(logits[experts[k]]));
    most = maxOfWarp(most);
    for (int64_t k = lane; k < K; k += 32) sum += expf(widened(logits[experts[k]]) - most);
  } else {
    for (int64_t e = lane; e < E; e += 32) most = fmaxf(most, widened(logits[e]));
    most = maxOfWarp(most);
    for (int64_t e = lane; e < E; e += 32) sum += expf(widened(logits[e]) - most);
  }
  const float scale = 1.0f / sumOfWarp(sum);
  for (int64_t k = lane; k < K; k += 32) {
    weights[k] = expf(widened(logits[experts[k]]) - most) * scale;
  }
}

template <class T>
__global__ void __launch_bounds__(ROW_THREADS, 1)
    differentiate(const float* allGradients, const T* allLogits, const float* allWeights,
                  const int32_t* allExperts, T* gradients, Routing shape) {
  const int64_t E = shape.E, K = shape.K;
  const int64_t t = (int64_t)blockIdx.x * TOKENS + threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
  if (t >= shape.T) return;
  const T* logits = allLogits + t * E;
  const float* dw = allGradients + t * K;
  const float* w = allWeights + t * K;
  const int32_t* experts = allExperts + t * K;
  float dot = 0;
  for (int64_t k = lane; k < K; k += 32) dot = fmaf(w[k], dw[k], dot);
  dot = sumOfWarp(dot);
  float most = -INFINITY, sum = 0;
  if (!shape.isNormalized) {
    for (int64_t e = lane; e < E; e += 32) most = fmaxf(most, widened(logits[e]));
    most = maxOfWarp(most);
    for (int64_t e = lane; e < E; e += 32) sum += expf(widened(logits[e]) - most);
    sum = sumOfWarp(sum);
  }
  for (int64_t e = lane; e < E; e += 32) {
    float gradient = shape.isNormalized ? 0.0f : expf(widened(logits[e]) - most) * (-dot / sum);
    for (int64_t k = 0; k < K; k++) {
      const float pull = shape.isNormalized ? dw[k] - dot : dw[k];
      if (experts[k] == e) gradient += w[k] * pull;
    }
    gradients[t * E + e] = rounded<T>(gradient);
  }
}

Routing routingOf(const SaccadeDeviceLaunch& launch) {
  return {launch.dims[0], launch.dims[1], launch.dims[2], launch.scalars[0] != 0};
}

int checkCount(const SaccadeDeviceLaunch& launch, const Routing& shape) {
  if (shape.K <= shape.E) return 0;
  return fail(launch, "%lld experts are wanted of %lld. Pass fewer.", (long long)shape.K,
              (long long)shape.E);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const Routing shape = routingOf(*launch);
  if (checkCount(*launch, shape)) return 1;
  if (shape.K == 0) return 0;
  return launchKernel(*launch, route<T>, dim3((unsigned)divideUp(shape.T, TOKENS)),
                      dim3(ROW_THREADS), 0, stored<T>(*launch, 0), ints(*launch, 1),
                      floats(*launch, 2), ints(*launch, 3), shape, refusalOf(*launch));
}

// Operands: dWeights, logits, given, weights, experts, dLogits.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const Routing shape = routingOf(*launch);
  const float* gradients = floats(*launch, 0);
  T* result = stored<T>(*launch, 5);
  if (checkCount(*launch, shape)) return 1;
  if (!result) return 0;
  if (!gradients || shape.K == 0) return fillZeros(*launch, result, shape.T * shape.E);
  return launchKernel(*launch, differentiate<T>, dim3((unsigned)divideUp(shape.T, TOKENS)),
                      dim3(ROW_THREADS), 0, gradients, stored<T>(*launch, 1), floats(*launch, 3),
                      ints(*launch, 4), result, shape);
}

}  // namespace

SACCADE_KERNEL(routeExperts,
               "logits[T,E]' given[T,K]# -> weights[T,K]'! experts[T,K]# ; normalize",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
