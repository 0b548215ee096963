// y = x·wᵀ + b, and its gradients dx = dy·w, dw = dyᵀ·x, db = Σ_m dy.
//
// Layout: all row-major, w as [N,K]. Tile and threads: parts/product.h; a thread owns a block of
// 112 rows × 512 columns of the result at a time. Transposed operands are packed, never stored.
// Few rows take the same sums, with each block of w packed where it is used; still fewer, and a large w,
// with w turned in registers: parts/few-rows.h.
// db: a thread owns a strip of columns and adds the rows in blocks of 256, in order.
#include "parts/product.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// The values in float32, where they lie if they are.
const float* asFloats(const SaccadeLaunch&, const float* values, int64_t) { return values; }
const float* asFloats(const SaccadeLaunch& launch, const Bf16* values, int64_t count) {
  if (!values) return nullptr;
  float* out = scratchFloats(launch, count);
  convertRun(out, values, count);
  return out;
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const Stored* x = stored<Stored>(*launch, 0);
  const Stored* w = stored<Stored>(*launch, 1);
  Product<Stored, Stored> p{M, N, K, {x, K, 1}, {w, K, 1}, stored<Stored>(*launch, 3), N};
  p.bias = asFloats(*launch, stored<Stored>(*launch, 2), N);
  product(*launch, productSpace<Stored>(*launch, packingOf(p).words), p);
  return 0;
}

template <class Stored>
void sumRows(const SaccadeLaunch& launch, const Stored* dy, float* db, int64_t M, int64_t N) {
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
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t M = launch->dims[0], K = launch->dims[1], N = launch->dims[2];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const Stored* w = stored<Stored>(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 5);
  float* dw = floats(*launch, 6);
  float* db = floats(*launch, 7);
  if (!dy) {
    if (dx) memset(dx, 0, (size_t)(M * K) * sizeof(Stored));
    if (dw) memset(dw, 0, (size_t)(N * K) * sizeof(float));
    if (db) memset(db, 0, (size_t)N * sizeof(float));
    return 0;
  }
  const Product<Stored, Stored> ofX{M, K, N, {dy, N, 1}, {w, 1, K}, dx, K};
  const Product<Stored, float> ofW{N, K, M, {dy, 1, N}, {x, 1, K}, dw, K};
  const int64_t words = larger(packingOf(ofX).words, packingOf(ofW).words);
  const ProductSpace space = productSpace<Stored>(*launch, words);
  if (dx) product(*launch, space, ofX);
  if (dw) product(*launch, space, ofW);
  if (db) sumRows(*launch, dy, db, M, N);
  return 0;
}

}  // namespace

SACCADE_KERNEL(gemm, "x[M,K]' w[N,K]+ b[N]+? -> y[M,N]'", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
