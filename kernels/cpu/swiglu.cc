// y = silu(gate)·up and its gradients.
//
// Layout: flat arrays of N·D elements; a thread owns runs of 4096. The backward recomputes the
// logistic function instead of storing it: one exponential is cheaper than the memory traffic.
#include "parts/elementwise.h"
#include "parts/math.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const Stored* gate = stored<Stored>(*launch, 0);
  const Stored* up = stored<Stored>(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  forElements(*launch, launch->dims[0] * launch->dims[1], 0.6, [&](int64_t i, int64_t width) {
    const Vec g = loadWidth(gate + i, width);
    storeWidth(y + i, g * logistic(g) * loadWidth(up + i, width), width);
  });
  return 0;
}

// Operands: dy, gate, up, y, dGate, dUp.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* gate = stored<Stored>(*launch, 1);
  const Stored* up = stored<Stored>(*launch, 2);
  Stored* dGate = stored<Stored>(*launch, 4);
  Stored* dUp = stored<Stored>(*launch, 5);
  if (!dy) {
    zero(dGate, count);
    zero(dUp, count);
    return 0;
  }
  forElements(*launch, count, 0.9, [&](int64_t i, int64_t width) {
    const Vec upstream = loadWidth(dy + i, width);
    const Vec g = loadWidth(gate + i, width);
    const Vec s = logistic(g);
    if (dGate) {
      const Vec slope = s * fma(g, splat(1.0f) - s, splat(1.0f));
      storeWidth(dGate + i, upstream * loadWidth(up + i, width) * slope, width);
    }
    if (dUp) storeWidth(dUp + i, upstream * (g * s), width);
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(swiglu, "gate[N,D]' up[N,D]' -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
