// yᵣ = w[expertsᵣ]·xᵣ, and its gradients dxᵣ = w[expertsᵣ]ᵀ·dyᵣ, dw[e] = Σ dyᵣ·xᵣᵀ over e's rows.
//
// Layout: x [R,K], w [E,N,K], y [R,N], row-major. Rows are sorted by expert, in the order of the
// list, and copied side by side; then each expert that has rows is one product (parts/product.h) on
// all threads. Its sums depend on K (or N) alone, so a row has the bits that it has alone.
#include "parts/elementwise.h"
#include "parts/product.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Rows by expert: those of expert e are rows[starts[e]] … rows[starts[e + 1] − 1].
struct Groups {
  const int64_t* starts;
  const int64_t* rows;
  // The most rows of one expert.
  int64_t most;
};

Groups groupRows(const SaccadeLaunch& launch, const int32_t* experts, int64_t R, int64_t E) {
  int64_t* starts = scratchArray<int64_t>(launch, E + 1);
  int64_t* next = scratchArray<int64_t>(launch, larger(1, E));
  int64_t* rows = scratchArray<int64_t>(launch, larger(1, R));
  memset(starts, 0, (size_t)(E + 1) * sizeof *starts);
  for (int64_t r = 0; r < R; r++) starts[experts[r] + 1]++;
  int64_t most = 0;
  for (int64_t e = 0; e < E; e++) {
    most = larger(most, starts[e + 1]);
    starts[e + 1] += starts[e];
    next[e] = starts[e];
  }
  for (int64_t r = 0; r < R; r++) rows[next[experts[r]]++] = r;
  return {starts, rows, most};
}

// Runs body(place, row) for every row and its place among the sorted, on all threads.
template <class Body>
void forSorted(const SaccadeLaunch& launch, const Groups& groups, int64_t R, int64_t width,
               const Body& body) {
  constexpr int64_t RUN = 16;
  parallelFor(launch, divideUp(R, RUN), 0.3 * (double)(R * width), [&](int64_t run, int32_t) {
    const int64_t end = smaller(R, (run + 1) * RUN);
    for (int64_t place = run * RUN; place < end; place++) body(place, groups.rows[place]);
  });
}

// The rows of `from` [R, width], sorted.
template <class Stored>
const Stored* sortedRows(const SaccadeLaunch& launch, const Groups& groups, const Stored* from,
                         int64_t R, int64_t width) {
  Stored* to = scratchArray<Stored>(launch, larger(1, R * width));
  forSorted(launch, groups, R, width, [&](int64_t place, int64_t row) {
    memcpy(to + place * width, from + row * width, (size_t)width * sizeof(Stored));
  });
  return to;
}

template <class Stored>
void unsortRows(const SaccadeLaunch& launch, const Groups& groups, const Stored* from, Stored* to,
                int64_t R, int64_t width) {
  forSorted(launch, groups, R, width, [&](int64_t place, int64_t row) {
    memcpy(to + row * width, from + place * width, (size_t)width * sizeof(Stored));
  });
}

// Runs the products productOf(e, first row, rows) of all experts that have rows, in one workspace.
template <class Stored, class ProductOf>
void multiplyGroups(const SaccadeLaunch& launch, const Groups& groups, int64_t E,
                    const ProductOf& productOf) {
  auto largest = productOf(0, 0, groups.most);
  const ProductSpace space =
      productSpace<Stored>(launch, packingOf(largest).words);
  for (int64_t e = 0; e < E; e++) {
    const int64_t first = groups.starts[e], count = groups.starts[e + 1] - first;
    if (count > 0) product(launch, space, productOf(e, first, count));
  }
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t R = launch->dims[0], K = launch->dims[1], E = launch->dims[2], N = launch->dims[3];
  const Stored* x = stored<Stored>(*launch, 0);
  const int32_t* experts = ints(*launch, 1);
  const Stored* w = stored<Stored>(*launch, 2);
  Stored* y = stored<Stored>(*launch, 3);
  if (checkIndices(*launch, "experts", experts, R, 0, E)) return 1;
  if (R == 0) return 0;
  const Groups groups = groupRows(*launch, experts, R, E);
  const Stored* rows = sortedRows(*launch, groups, x, R, K);
  Stored* results = scratchArray<Stored>(*launch, larger(1, R * N));
  multiplyGroups<Stored>(*launch, groups, E, [&](int64_t e, int64_t first, int64_t count) {
    return Product<Stored, Stored>{
        count, N, K, {rows + first * K, K, 1}, {w + e * N * K, K, 1}, results + first * N, N};
  });
  unsortRows(*launch, groups, results, y, R, N);
  return 0;
}

// Operands: dy, x, experts, w, y, dx, dw.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t R = launch->dims[0], K = launch->dims[1], E = launch->dims[2], N = launch->dims[3];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const int32_t* experts = ints(*launch, 2);
  const Stored* w = stored<Stored>(*launch, 3);
  Stored* dx = stored<Stored>(*launch, 5);
  float* dw = floats(*launch, 6);
  if (checkIndices(*launch, "experts", experts, R, 0, E)) return 1;
  if (!dy || R == 0) {
    zero(dx, R * K);
    zero(dw, E * N * K);
    return 0;
  }
  const Groups groups = groupRows(*launch, experts, R, E);
  const Stored* gradients = sortedRows(*launch, groups, dy, R, N);
  if (dx) {
    Stored* results = scratchArray<Stored>(*launch, larger(1, R * K));
    multiplyGroups<Stored>(*launch, groups, E, [&](int64_t e, int64_t first, int64_t count) {
      return Product<Stored, Stored>{
          count, K, N, {gradients + first * N, N, 1}, {w + e * N * K, 1, K}, results + first * K, K};
    });
    unsortRows(*launch, groups, results, dx, R, K);
  }
  if (dw) {
    for (int64_t e = 0; e < E; e++) {
      if (groups.starts[e] == groups.starts[e + 1]) zero(dw + e * N * K, N * K);
    }
    const Stored* rows = sortedRows(*launch, groups, x, R, K);
    multiplyGroups<Stored>(*launch, groups, E, [&](int64_t e, int64_t first, int64_t count) {
      return Product<Stored, float>{
          N, K, count, {gradients + first * N, 1, N}, {rows + first * K, 1, K}, dw + e * N * K, K};
    });
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(expertLinear, "x[R,K]' experts[R]# w[E,N,K]+ -> y[R,N]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
