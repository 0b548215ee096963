// y = x·Φ(x), the Gaussian error linear unit, and dx = dy·(Φ(x) + x·φ(x)). With the scalar tanh, Φ is
// its approximation by a hyperbolic tangent (parts/math.h) and φ that one's slope.
//
// Layout: flat arrays of N·D elements; a thread owns runs of 4096. Φ and φ share one exponential.
#include "parts/elementwise.h"
#include "parts/math.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored, class Curve>
void transform(const SaccadeLaunch& launch, double nanosecondsEach, Curve curve) {
  const Stored* x = stored<Stored>(launch, 0);
  Stored* y = stored<Stored>(launch, 1);
  forElements(launch, launch.dims[0] * launch.dims[1], nanosecondsEach,
              [&](int64_t i, int64_t width) {
                const Vec v = loadWidth(x + i, width);
                storeWidth(y + i, v * curve(v).cumulative, width);
              });
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  if (launch->scalars[0] == 0) transform<Stored>(*launch, 0.8, standardNormal);
  else transform<Stored>(*launch, 0.6, tanhNormal);
  return 0;
}

template <class Stored, class Curve>
void differentiate(const SaccadeLaunch& launch, double nanosecondsEach, Curve curve) {
  const Stored* dy = stored<Stored>(launch, 0);
  const Stored* x = stored<Stored>(launch, 1);
  Stored* dx = stored<Stored>(launch, 3);
  forElements(launch, launch.dims[0] * launch.dims[1], nanosecondsEach,
              [&](int64_t i, int64_t width) {
                const Vec v = loadWidth(x + i, width);
                const Normal normal = curve(v);
                const Vec slope = fma(v, normal.density, normal.cumulative);
                storeWidth(dx + i, loadWidth(dy + i, width) * slope, width);
              });
}

// Operands: dy, x, y, dx.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const bool isGiven = launch->operands[0] != nullptr;
  Stored* dx = stored<Stored>(*launch, 3);
  if (!isGiven) zero(dx, launch->dims[0] * launch->dims[1]);
  if (!isGiven || !dx) return 0;
  if (launch->scalars[0] == 0) differentiate<Stored>(*launch, 0.9, standardNormal);
  else differentiate<Stored>(*launch, 0.7, tanhNormal);
  return 0;
}

}  // namespace

SACCADE_KERNEL(gelu, "x[N,D]' -> y[N,D]' ; tanh", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
