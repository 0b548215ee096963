// y = x·wᵀ + b, and its gradients dx = dy·w, dw = dyᵀ·x, db = Σ_m dy.
//
// Layout: all row-major, w as [N,K]. Tile and threads: common/product.h; a thread owns a block of
// 96 rows × 1024 columns of the result at a time. Transposed operands are packed, never stored.
// Few rows take the same path: reading w in place as broadcasts, with lanes over rows, was tried
// and is slower below 12 rows (1 × 128 × 384: 18 µs against 12) and above 24.
// db: a thread owns a strip of columns and adds the rows in blocks of 256, in order.
#include "common/product.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

int forward(const SaccadeLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const float* x = floats(*launch, 0);
  const float* w = floats(*launch, 1);
  Product p{M, N, K, {x, K, 1}, {w, K, 1}, floats(*launch, 3), N};
  p.bias = floats(*launch, 2);
  product(*launch, productSpace(*launch), p);
  return 0;
}

void sumRows(const SaccadeLaunch& launch, const float* dy, float* db, int64_t M, int64_t N) {
  constexpr int64_t BLOCK = 256;
  parallelFor(launch, divideUp(N, LANES), 0.2 * (double)(M * N), [&](int64_t strip, int32_t) {
    const int64_t n = strip * LANES;
    const int64_t width = smaller(LANES, N - n);
    Vec total{};
    for (int64_t m = 0; m < M; m += BLOCK) {
      Vec sum{};
      const int64_t end = smaller(M, m + BLOCK);
      for (int64_t i = m; i < end; i++) sum = sum + loadWidth(dy + i * N + n, width);
      total = total + sum;
    }
    storeWidth(db + n, total, width);
  });
}

// Operands: dy, x, w, b, y, dx, dw, db.
int backward(const SaccadeLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const float* dy = floats(*launch, 0);
  const float* x = floats(*launch, 1);
  const float* w = floats(*launch, 2);
  float* dx = floats(*launch, 5);
  float* dw = floats(*launch, 6);
  float* db = floats(*launch, 7);
  if (!dy) {
    if (dx) memset(dx, 0, (size_t)(M * K) * sizeof(float));
    if (dw) memset(dw, 0, (size_t)(N * K) * sizeof(float));
    if (db) memset(db, 0, (size_t)N * sizeof(float));
    return 0;
  }
  const ProductSpace space = productSpace(*launch);
  if (dx) product(*launch, space, {M, K, N, {dy, N, 1}, {w, 1, K}, dx, K});
  if (dw) product(*launch, space, {N, K, M, {dy, 1, N}, {x, 1, K}, dw, K});
  if (db) sumRows(*launch, dy, db, M, N);
  return 0;
}

}  // namespace

SACCADE_KERNEL(gemm, "x[M,K]' w[N,K]' b[N]'? -> y[M,N]'", forward, backward)

}  // namespace SACCADE_ISA
}  // namespace saccade
