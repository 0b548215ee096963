// Rows in chunks of a constant number, and sums over all rows, column by column: the gradients of
// scales and biases. Each chunk has a partial row, which are added in the order of the chunks, so
// threads change no bit.
#pragma once

#include "elementwise.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t ROW_CHUNK = 32;

// Runs body(chunk, first, end) for the rows [first, end) of every chunk, on all threads.
template <class Body>
static inline void forRowChunks(const SaccadeLaunch& launch, int64_t rows, double nanoseconds,
                                const Body& body) {
  parallelFor(launch, divideUp(rows, ROW_CHUNK), nanoseconds, [&](int64_t chunk, int32_t) {
    body(chunk, chunk * ROW_CHUNK, smaller(rows, (chunk + 1) * ROW_CHUNK));
  });
}

struct ChunkSums {
  // Null where the sum is not wanted.
  float* result;
  int64_t chunks;
  int64_t columns;
  float* partial;

  // Comes before the first row of a chunk.
  void begin(int64_t chunk) const {
    if (result) memset(partial + chunk * columns, 0, (size_t)columns * sizeof(float));
  }
  // Adds a·b to columns [column, column + width).
  SACCADE_INLINE void add(int64_t chunk, int64_t column, Vec a, Vec b, int64_t width) const {
    if (!result) return;
    float* sum = partial + chunk * columns + column;
    storeWidth(sum, fma(a, b, loadWidth(sum, width)), width);
  }
  // Comes after the last chunk, on one thread.
  void finish() const {
    if (!result) return;
    forLanes(columns, [&](int64_t column, int64_t width) {
      Vec total{};
      for (int64_t c = 0; c < chunks; c++) {
        total = total + loadWidth(partial + c * columns + column, width);
      }
      storeWidth(result + column, total, width);
    });
  }
};

static inline ChunkSums chunkSums(const SaccadeLaunch& launch, float* result, int64_t rows,
                                  int64_t columns) {
  const int64_t chunks = divideUp(rows, ROW_CHUNK);
  return {result, chunks, columns, result ? scratchFloats(launch, chunks * columns) : nullptr};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
