// y = x·Φ(x), the exact Gaussian error linear unit, and dx = dy·(Φ(x) + x·φ(x)).
//
// Layout: flat arrays of N·D elements; a thread owns runs of 4096. Φ and φ share one exponential.
#include "parts/elementwise.h"
#include "parts/math.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const Stored* x = stored<Stored>(*launch, 0);
  Stored* y = stored<Stored>(*launch, 1);
  forElements(*launch, launch->dims[0] * launch->dims[1], 0.8, [&](int64_t i, int64_t width) {
    const Vec v = loadWidth(x + i, width);
    storeWidth(y + i, v * standardNormal(v).cumulative, width);
  });
  return 0;
}

// Operands: dy, x, y, dx.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  Stored* dx = stored<Stored>(*launch, 3);
  if (!dy) zero(dx, count);
  if (!dy || !dx) return 0;
  forElements(*launch, count, 0.9, [&](int64_t i, int64_t width) {
    const Vec v = loadWidth(x + i, width);
    const Normal normal = standardNormal(v);
    const Vec slope = fma(v, normal.density, normal.cumulative);
    storeWidth(dx + i, loadWidth(dy + i, width) * slope, width);
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(gelu, "x[N,D]' -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
