// Tiles in shared memory: where each chunk lies, what is staged into them, and bank conflicts.
#include "checks.h"
#include "launches.h"

#include <set>

#include "../../../kernels/cuda/parts/chunk.cuh"

using namespace saccade;
using maps::Draw;
using maps::expect;

namespace {

template <class T>
void checkElements(const char* type) {
  constexpr int ROWS = 64;
  std::set<int> seen;
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < PANEL<T>; column++) {
      const int at = elementOffset<T>(row, column);
      // By the sentence at the head of panel.cuh, in bytes.
      const int byte = column * (int)sizeof(T), chunk = byte / 16;
      const int place = row * 128 + ((chunk ^ row % 8) * 16 + byte % 16);
      expect(at == place, "%s (%d, %d) lies at %d, expected %d", type, row, column, at, place);
      expect(at >= 0 && at + (int)sizeof(T) <= ROWS * 128, "%s leaves the panel", type);
      expect(seen.insert(at).second, "%s (%d, %d) shares byte %d", type, row, column, at);
    }
  }
  expect((int)seen.size() == ROWS * PANEL<T>, "%s: %d places", type, (int)seen.size());
}

float asFloat(float value) { return value; }
template <class T>
float asFloat(T value) {
  return widened(value);
}

// Checks that a staged panel holds the matrix where it has an element, and zeros elsewhere.
template <class T>
void checkStaged(int64_t rows, int64_t columns, int64_t stride, int shift, int64_t row,
                 int64_t column) {
  constexpr int ROWS = 16, THREADS = 64;
  std::vector<T> storage((size_t)(rows * stride) + 64);
  T* data = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64);
  data += shift;
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < stride; c++) {
      // The values beyond a row's columns belong to another row.
      data[r * stride + c] = rounded<T>(c < columns ? (float)(1 + (r * 37 + c) % 250) : NAN);
    }
  }
  const Matrix<T> matrix = matrixOf(data, stride, rows, columns);
  const bool isAligned = shift == 0 && stride * sizeof(T) % 16 == 0 && columns * sizeof(T) % 16 == 0;
  expect(matrix.isAligned == isAligned, "alignment of %d columns is %d", (int)columns,
         (int)matrix.isAligned);
  maps::runBlock(THREADS, ROWS * PANEL_BYTES, [&] {
    const int thread = (int)threadIdx.x;
    stagePanel<T, ROWS, THREADS>(sharedMemory(), matrix, row, column, thread);
    commitCopies();
    waitCopies<0>();
    syncBlock();
    if (thread > 0) return;
    for (int r = 0; r < ROWS; r++) {
      for (int c = 0; c < PANEL<T>; c++) {
        const T got = *reinterpret_cast<const T*>(sharedMemory() + elementOffset<T>(r, c));
        const int64_t y = row + r, x = column + c;
        const bool isThere = y >= 0 && y < rows && x < columns;
        const float wanted = isThere ? (float)(1 + (y * 37 + x) % 250) : 0.0f;
        expect(asFloat(got) == wanted, "element (%d, %d) of [%d, %d] is %g, expected %g", (int)y,
               (int)x, (int)rows, (int)columns, asFloat(got), wanted);
      }
    }
  });
}

template <class T>
void checkChunks(const char* type) {
  for (int width = 0; width <= CHUNK<T>; width++) {
    for (int shift = 0; shift < 2; shift++) {
      alignas(16) T from[2 * CHUNK<T>], to[2 * CHUNK<T>];
      for (int i = 0; i < 2 * CHUNK<T>; i++) from[i] = rounded<T>((float)i + 1), to[i] = T{};
      const bool isWhole = width == CHUNK<T> && shift == 0;
      float values[CHUNK<T>];
      loadChunk(values, from + shift, width, isWhole);
      for (int i = 0; i < CHUNK<T>; i++) {
        expect(values[i] == (i < width ? (float)(i + shift + 1) : 0.0f), "%s loads %g at %d of %d",
               type, values[i], i, width);
        values[i] = (float)(10 * i + 1);
      }
      storeChunk(to + shift, values, width, isWhole);
      for (int i = 0; i < 2 * CHUNK<T>; i++) {
        const bool isOwn = i >= shift && i < shift + width;
        expect(asFloat(to[i]) == (isOwn ? (float)(10 * (i - shift) + 1) : 0.0f),
               "%s stores %g at %d of %d", type, asFloat(to[i]), i, width);
      }
    }
  }
}

}  // namespace

CHECK("panel: every element of a panel has a place of its own, where the swizzle says") {
  checkElements<float>("float32");
  checkElements<Bf16>("bf16");
  checkElements<F16>("f16");
}

CHECK("panel: eight rows' chunks of one column, and a row's eight chunks, fall into all 32 banks") {
  for (int first = 0; first < 64; first += 8) {
    for (int chunk = 0; chunk < 8; chunk++) {
      std::set<int> down, across;
      for (int i = 0; i < 8; i++) {
        down.insert(chunkOffset(first + i, chunk) / 16 % 8);
        across.insert(chunkOffset(first + chunk, i) / 16 % 8);
      }
      expect(down.size() == 8, "column %d: %d groups of banks", chunk, (int)down.size());
      expect(across.size() == 8, "row %d: %d groups of banks", first + chunk, (int)across.size());
    }
  }
}

CHECK("panel: what is staged is the matrix, and zeros beyond each of its edges") {
  for (const int64_t row : {-3, 0, 5, 14, 40}) {
    for (const int64_t column : {0, 32, 64}) {
      // Whole chunks; a column too many; rows that begin anywhere.
      checkStaged<Bf16>(20, 72, 80, 0, row, column);
      checkStaged<Bf16>(20, 71, 80, 0, row, column);
      checkStaged<Bf16>(20, 71, 73, 1, row, column);
      checkStaged<float>(20, 68, 68, 0, row, column);
      checkStaged<float>(20, 67, 67, 3, row, column);
      checkStaged<F16>(17, 8, 8, 0, row, column);
    }
  }
}

CHECK("chunk: 16 bytes are loaded and stored whole or in part, and no element more") {
  checkChunks<float>("float32");
  checkChunks<Bf16>("bf16");
  checkChunks<F16>("f16");
}

CHECK("panel: rows and columns beyond 2^32 elements are staged from where they are") {
  const int64_t stride = ((int64_t)1 << 31) + 24, rows = 4, columns = stride - 8;
  maps::Sparse memory(rows * stride * 2);
  Bf16* data = memory.as<Bf16>();
  const Matrix<Bf16> matrix = matrixOf(data, stride, rows, columns);
  expect(matrix.isAligned, "the matrix is not aligned");
  const int64_t column = columns - 40;
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = column; c < columns + 8; c++) {
      data[r * stride + c] = rounded<Bf16>((float)(1 + r * 48 + (c - column)));
    }
  }
  maps::runBlock(32, 8 * PANEL_BYTES, [&] {
    stagePanel<Bf16, 8, 32>(sharedMemory(), matrix, 1, column, (int)threadIdx.x);
    commitCopies();
    waitCopies<0>();
    syncBlock();
    if (threadIdx.x > 0) return;
    for (int r = 0; r < 8; r++) {
      for (int c = 0; c < 64; c++) {
        const Bf16 got = *reinterpret_cast<const Bf16*>(sharedMemory() + elementOffset<Bf16>(r, c));
        const float wanted = r < 3 && c < 40 ? (float)(1 + (r + 1) * 48 + c) : 0.0f;
        expect(widened(got) == wanted, "(%d, %d) is %g, expected %g", r, c, widened(got), wanted);
      }
    }
  });
}
