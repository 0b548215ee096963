// y ← a·x + b·y; where b is 0, y is not read; where x is absent, y ← b·y.
//
// Layout: flat arrays of N floats; a thread owns runs of 4096. Bound by memory.
#include "parts/elementwise.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Operands: x, y, then y again.
int forward(const SaccadeLaunch* launch) {
  const float* x = floats(*launch, 0);
  float* y = floats(*launch, 2);
  const Vec a = splat((float)launch->scalars[0]), b = splat((float)launch->scalars[1]);
  const bool reads = launch->scalars[1] != 0;
  if (!x) {
    forElements(*launch, launch->dims[0], 0.2, [&](int64_t i, int64_t width) {
      storeWidth(y + i, reads ? b * loadWidth(y + i, width) : splat(0), width);
    });
    return 0;
  }
  forElements(*launch, launch->dims[0], 0.3, [&](int64_t i, int64_t width) {
    const Vec scaled = a * loadWidth(x + i, width);
    storeWidth(y + i, reads ? fma(b, loadWidth(y + i, width), scaled) : scaled, width);
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(axpby, "x[N]?! y[N]! -> y[N]!=y ; a b", SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
