// y = x·wᵀ + b;  dx = dy·w;  dw = dyᵀ·x;  db = Σₘ dyₘ.
//
// Layout: x [M,K], w [N,K], y [M,N], row-major. Products as in parts/product.cuh. The depth of dw
// is the batch, so it alone may be cut into parts; db is summed as in parts/sum-rows.cuh.
#include "parts/product.cuh"
#include "parts/sum-rows.cuh"

namespace saccade {
namespace {

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const auto y = productResult<T, T>(stored<T>(*launch, 3), N, M, N, stored<T>(*launch, 2), false);
  return multiply<T, Lie::along, Lie::along>(*launch, matrixOf(stored<T>(*launch, 0), K, M, K),
                                             matrixOf(stored<T>(*launch, 1), K, N, K), y, K, false);
}

// Operands: dy, x, w, b, y, dx, dw, db.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  const T* w = stored<T>(*launch, 2);
  T* dx = stored<T>(*launch, 5);
  float* dw = floats(*launch, 6);
  float* db = floats(*launch, 7);
  // Without dy all gradients are zero: products of no depth.
  const int64_t rows = dy ? M : 0, outputs = dy ? N : 0;
  const Matrix<T> gradient = matrixOf(dy ? dy : x, N, rows, outputs);
  if (dx) {
    const auto result = productResult<T, T>(dx, K, M, K, nullptr, false);
    if (multiply<T, Lie::along, Lie::across>(*launch, gradient, matrixOf(w, K, N, K), result,
                                             outputs, false)) {
      return 1;
    }
  }
  if (dw) {
    const auto result = productResult<float, float>(dw, K, N, K, nullptr, false);
    if (multiply<T, Lie::across, Lie::across>(*launch, gradient, matrixOf(x, K, M, K), result, rows,
                                              true)) {
      return 1;
    }
  }
  return db ? sumRows(*launch, dy ? dy : x, rows, N, db) : 0;
}

}  // namespace

SACCADE_KERNEL(gemm, "x[M,K]' w[N,K]+ b[N]+? -> y[M,N]'", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace saccade
