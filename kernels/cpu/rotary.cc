// y₁ = x₁∘cos − x₂∘sin, y₂ = x₂∘cos + x₁∘sin over the halves of each head; the backward turns back.
//
// Layout: x, y [T,H,D], cos and sin [T,E] in float32, D = 2E. A thread owns runs of 32 tokens.
#include "parts/elementwise.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int rotate(const SaccadeLaunch& launch, const Stored* x, const float* cosines, const float* sines, Stored* y,
           float sign) {
  const int64_t T = launch.dims[0], H = launch.dims[1], D = launch.dims[2], E = launch.dims[3];
  constexpr int64_t RUN = 32;
  parallelFor(launch, divideUp(T, RUN), 0.4 * (double)(T * H * D), [&](int64_t run, int32_t) {
    const int64_t end = smaller(T, (run + 1) * RUN);
    for (int64_t t = run * RUN; t < end; t++) {
      for (int64_t h = 0; h < H; h++) {
        const Stored* in = x + (t * H + h) * D;
        Stored* out = y + (t * H + h) * D;
        forLanes(E, [&](int64_t e, int64_t width) {
          const Vec c = loadWidth(cosines + t * E + e, width);
          const Vec s = loadWidth(sines + t * E + e, width) * splat(sign);
          const Vec first = loadWidth(in + e, width);
          const Vec second = loadWidth(in + E + e, width);
          storeWidth(out + e, first * c - second * s, width);
          storeWidth(out + E + e, second * c + first * s, width);
        });
      }
    }
  });
  return 0;
}

int checkHalves(const SaccadeLaunch& launch) {
  const int64_t D = launch.dims[2], E = launch.dims[3];
  if (D == 2 * E) return 0;
  return fail(launch, "the tables hold %lld angles for heads of %lld. Pass tables of half a head.",
              (long long)E, (long long)D);
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  if (checkHalves(*launch)) return 1;
  return rotate(*launch, stored<Stored>(*launch, 0), floats(*launch, 1), floats(*launch, 2),
                stored<Stored>(*launch, 3), 1.0f);
}

// Operands: dy, x, cos, sin, y, dx.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  if (checkHalves(*launch)) return 1;
  const Stored* dy = stored<Stored>(*launch, 0);
  Stored* dx = stored<Stored>(*launch, 5);
  if (!dx) return 0;
  if (!dy) {
    zero(dx, launch->dims[0] * launch->dims[1] * launch->dims[2]);
    return 0;
  }
  return rotate(*launch, dy, floats(*launch, 2), floats(*launch, 3), dx, -1.0f);
}

}  // namespace

SACCADE_KERNEL(rotary, "x[T,H,D]' cos[T,E]! sin[T,E]! -> y[T,H,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
