// y = x·wᵀ + b;  dx = dy·w;  dw = dyᵀ·x;  db = Σₘ dyₘ.
//
// Layout: x [M,K], w [N,K], y [M,N], row-major. Products as in common/product.cuh. The depth of dw is
// the batch, so it alone may be cut into parts; db is summed over chunks of 256 rows, then over chunks.
#include "common/product.cuh"

namespace saccade {
namespace {

constexpr int64_t SUM_ROWS = 256;

// parts[chunk][n] = Σ dy over the chunk's rows, or, with chunks of one row, over all rows.
template <class T>
__global__ void __launch_bounds__(128)
    sumColumns(const T* dy, int64_t rows, int64_t columns, int64_t chunkRows, float* sums) {
  const int64_t n = (int64_t)blockIdx.x * 128 + threadIdx.x;
  if (n >= columns) return;
  const int64_t first = (int64_t)blockIdx.y * chunkRows;
  const int64_t end = first + chunkRows < rows ? first + chunkRows : rows;
  float sum = 0;
  for (int64_t m = first; m < end; m++) sum += widened(dy[m * columns + n]);
  sums[(int64_t)blockIdx.y * columns + n] = sum;
}

template <class T>
int biasGradient(const SaccadeDeviceLaunch& launch, const T* dy, int64_t M, int64_t N, float* db) {
  const int64_t chunks = divideUp(M, SUM_ROWS);
  const unsigned blocks = (unsigned)divideUp(N, 128);
  if (chunks <= 1) {
    return launchKernel(launch, sumColumns<T>, dim3(blocks), dim3(128), 0, dy, M, N, M, db);
  }
  if (chunks > 65535) return fail(launch, "%lld rows are more than it takes.", (long long)M);
  float* parts = scratchArray<float>(launch, chunks * N);
  if (!parts) return outOfScratch(launch);
  const int refused = launchKernel(launch, sumColumns<T>, dim3(blocks, (unsigned)chunks), dim3(128),
                                   0, dy, M, N, SUM_ROWS, parts);
  if (refused) return refused;
  return launchKernel(launch, sumColumns<float>, dim3(blocks), dim3(128), 0, parts, chunks, N,
                      chunks, db);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const ProductResult<T, T> y = {stored<T>(*launch, 3), N, M, N, stored<T>(*launch, 2), false};
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
    const ProductResult<T, T> result = {dx, K, M, K, nullptr, false};
    if (multiply<T, Lie::along, Lie::across>(*launch, gradient, matrixOf(w, K, N, K), result,
                                             outputs, false)) {
      return 1;
    }
  }
  if (dw) {
    const ProductResult<float, float> result = {dw, K, N, K, nullptr, false};
    if (multiply<T, Lie::across, Lie::across>(*launch, gradient, matrixOf(x, K, M, K), result, rows,
                                              true)) {
      return 1;
    }
  }
  return db ? biasGradient(*launch, dy ? dy : x, rows, N, db) : 0;
}

}  // namespace

SACCADE_KERNEL(gemm, "x[M,K]' w[N,K]+ b[N]+? -> y[M,N]'", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace saccade
