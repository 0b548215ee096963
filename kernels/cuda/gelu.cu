// y = x·Φ(x), the Gaussian error linear unit, and dx = dy·(Φ(x) + x·φ(x)). With the scalar tanh, Φ is
// its approximation σ(2u), u = √(2/π)·(x + 0.044715·x³), and φ that one's slope σ(2u)·σ(−2u)·2u′.
//
// A thread owns 16 bytes of each array at a time (parts/elementwise.cuh). Φ(x) = erfc(−x/√2)/2,
// which keeps its precision where it is small.
#include "parts/elementwise.cuh"

namespace saccade {
namespace {

__device__ __forceinline__ float cumulative(float x) { return 0.5f * erfcf(x * -0.70710678f); }

struct Gelu {
  __device__ void operator()(const float (&in)[1], float (&out)[1]) const {
    out[0] = in[0] * cumulative(in[0]);
  }
};

// dy, x to dx.
struct GeluGradient {
  __device__ void operator()(const float (&in)[2], float (&out)[1]) const {
    const float x = in[1];
    const float density = 0.39894228f * expf(-0.5f * x * x);
    // x·φ(x), without ∞·0.
    const float pull = density > 0 ? x * density : density;
    out[0] = in[0] * (cumulative(x) + pull);
  }
};

// 2u of a bounded x: beyond |x| = 10 the curve is 0 or 1.
constexpr float SLOPE = 1.59576912f, CUBIC = 0.044715f;
__device__ __forceinline__ float bounded(float x) {
  return x > 10.0f ? 10.0f : x < -10.0f ? -10.0f : x;
}
__device__ __forceinline__ float tanhPower(float x) {
  return expf(-x * fmaf(x * x, CUBIC * SLOPE, SLOPE));
}

struct TanhGelu {
  __device__ void operator()(const float (&in)[1], float (&out)[1]) const {
    out[0] = in[0] * (1.0f / (1.0f + tanhPower(bounded(in[0]))));
  }
};

// dy, x to dx.
struct TanhGeluGradient {
  __device__ void operator()(const float (&in)[2], float (&out)[1]) const {
    const float x = bounded(in[1]), power = tanhPower(x), s = 1.0f / (1.0f + power);
    const float density = s * (power * s) * fmaf(x * x, 3 * CUBIC * SLOPE, SLOPE);
    out[0] = in[0] * fmaf(in[1], density, s);
  }
};

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const Elements<T, 1, 1> elements = {
      {stored<T>(*launch, 0)}, {stored<T>(*launch, 1)}, launch->dims[0] * launch->dims[1]};
  return launch->scalars[0] == 0 ? mapAll(*launch, elements, Gelu{})
                                 : mapAll(*launch, elements, TanhGelu{});
}

// Operands: dy, x, y, dx.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  T* dx = stored<T>(*launch, 3);
  if (!dx) return 0;
  if (!launch->operands[0]) return fillZeros(*launch, dx, count);
  const Elements<T, 2, 1> elements = {
      {stored<T>(*launch, 0), stored<T>(*launch, 1)}, {dx}, count};
  return launch->scalars[0] == 0 ? mapAll(*launch, elements, GeluGradient{})
                                 : mapAll(*launch, elements, TanhGeluGradient{});
}

}  // namespace

SACCADE_KERNEL(gelu, "x[N,D]' -> y[N,D]' ; tanh", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
