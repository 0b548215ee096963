// C = A·B (+ bias) for operands along or across the depth, on the whole device.
//
// C is cut into wide tiles, or into small ones where it has few rows: the bits are the same. Where
// wide tiles make few blocks of a great depth, the depth may be cut too and the parts are added in
// their order; the cuts depend on the sizes alone.
#pragma once

#include "chunk.cuh"
#include "launch.cuh"
#include "tile-product.cuh"

namespace saccade {

// The destination C: stored as Out, plus `bias` by column if there is one, plus the value there
// already if `isAdded`.
template <class Out, class Bias>
struct ProductResult {
  Out* data;
  int64_t stride;
  int64_t rows, columns;
  const Bias* bias;
  bool isAdded;
  // Every row is made of whole, 16-byte aligned chunks.
  bool isAligned;
};
template <class Out, class Bias>
__host__ __device__ ProductResult<Out, Bias> productResult(Out* data, int64_t stride, int64_t rows,
                                                           int64_t columns, const Bias* bias,
                                                           bool isAdded) {
  const uint64_t bits = reinterpret_cast<uint64_t>(data) | (uint64_t)(stride * (int64_t)sizeof(Out)) |
                        (uint64_t)(columns * (int64_t)sizeof(Out));
  return {data, stride, rows, columns, bias, isAdded, bits % 16 == 0};
}

// What C gets at a place of it.
template <class Out, class Bias>
__device__ __forceinline__ float finished(const ProductResult<Out, Bias>& result, int64_t row,
                                          int64_t column, float sum) {
  if (result.bias) sum += widened(result.bias[column]);
  if (result.isAdded) sum += widened(result.data[row * result.stride + column]);
  return sum;
}

// The tile's part of C, whose row r goes to row targetOf(r), nowhere if that is negative. Through
// shared memory, which must be free: a thread then stores 16 bytes and a warp whole lines, and what
// is done to each sum stands once in the code, not once for every sum that a thread holds.
template <class Shape, class Out, class Bias, class TargetOf>
__device__ __forceinline__ void storeTile(const TileSums<Shape>& tile,
                                          const ProductResult<Out, Bias>& result, int64_t column,
                                          uint8_t* shared, const TargetOf& targetOf) {
  // Rows begin eight banks apart, so that the pairs of four rows fall into different ones.
  constexpr int STRIDE = Shape::COLUMNS + 8, WIDTH = CHUNK<Out>, CHUNKS = Shape::COLUMNS / WIDTH;
  static_assert(Shape::SHARED >= Shape::ROWS * STRIDE * (int)sizeof(float), "the sums fit");
  float* sums = reinterpret_cast<float*>(shared);
  forPairs(tile, [&](int row, int tileColumn, float first, float second) {
    storeTwo(sums + row * STRIDE + tileColumn, first, second);
  });
  syncBlock();
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < Shape::ROWS * CHUNKS; i += Shape::THREADS) {
    const int64_t row = targetOf(i / CHUNKS), first = column + i % CHUNKS * WIDTH;
    if (row < 0 || first >= result.columns) continue;
    float values[WIDTH];
#pragma unroll
    for (int j = 0; j < WIDTH; j += 4) {
      uint32_t words[4];
      loadWords(words, sums + i / CHUNKS * STRIDE + i % CHUNKS * WIDTH + j);
#pragma unroll
      for (int k = 0; k < 4; k++) values[j + k] = wordAsFloat(words[k]);
    }
    const int64_t width = result.columns - first;
    if (result.bias || result.isAdded) {
#pragma unroll
      for (int j = 0; j < WIDTH; j++) {
        if (j < width) values[j] = finished(result, row, first + j, values[j]);
      }
    }
    storeChunk(result.data + row * result.stride + first, values, width, result.isAligned);
  }
}
// Rows from `row` on.
template <class Shape, class Out, class Bias>
__device__ __forceinline__ void storeTile(const TileSums<Shape>& tile,
                                          const ProductResult<Out, Bias>& result, int64_t row,
                                          int64_t column, uint8_t* shared) {
  storeTile(tile, result, column, shared,
            [&](int r) { return row + r < result.rows ? row + r : (int64_t)-1; });
}

// Blocks walk down eight tiles of rows before they go to the next column, so that what they read of
// both operands stays in the cache.
struct TilePlace {
  int64_t row, column;
};
template <class Shape>
__device__ __forceinline__ TilePlace tilePlace(int64_t block, int64_t rows, int64_t columns) {
  constexpr int64_t HEIGHT = 8;
  const int64_t rowTiles = divideUp(rows, Shape::ROWS);
  const int64_t columnTiles = divideUp(columns, Shape::COLUMNS);
  const int64_t group = block / (HEIGHT * columnTiles), inGroup = block % (HEIGHT * columnTiles);
  const int64_t left = rowTiles - group * HEIGHT, height = left < HEIGHT ? left : HEIGHT;
  return {(group * HEIGHT + inGroup % height) * Shape::ROWS, inGroup / height * Shape::COLUMNS};
}

template <class T, class Out, class Bias, Lie LEFT, Lie RIGHT, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_TOGETHER<T, Shape>)
    multiplyMatrices(Matrix<T> left, Matrix<T> right, ProductResult<Out, Bias> result,
                     int64_t depth, int64_t partDepth, float* parts) {
  const TilePlace place = tilePlace<Shape>(blockIdx.x, result.rows, result.columns);
  const int64_t begin = (int64_t)blockIdx.y * partDepth;
  const int64_t end = begin + partDepth < depth ? begin + partDepth : depth;
  TileSums<Shape> tile = {};
  multiplyTile<T, LEFT, RIGHT>(tile, left, right, place.row, place.column, begin, end,
                               sharedMemory());
  if (parts) {
    const auto part = productResult<float, float>(
        parts + (int64_t)blockIdx.y * result.rows * result.columns, result.columns, result.rows,
        result.columns, nullptr, false);
    storeTile(tile, part, place.row, place.column, sharedMemory());
    return;
  }
  storeTile(tile, result, place.row, place.column, sharedMemory());
}

template <class Out, class Bias>
__global__ void __launch_bounds__(256)
    addParts(const float* parts, int64_t count, ProductResult<Out, Bias> result) {
  const int64_t size = result.rows * result.columns;
  const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= size) return;
  float sum = 0;
  for (int64_t part = 0; part < count; part++) sum += parts[part * size + i];
  const int64_t row = i / result.columns, column = i % result.columns;
  result.data[row * result.stride + column] = rounded<Out>(finished(result, row, column, sum));
}

template <class T, Lie LEFT, Lie RIGHT, class Shape, class Out, class Bias>
int launchTiles(const SaccadeDeviceLaunch& launch, const Matrix<T>& left, const Matrix<T>& right,
                const ProductResult<Out, Bias>& result, int64_t depth, int64_t partDepth,
                int64_t count, float* parts) {
  const int64_t tiles =
      divideUp(result.rows, Shape::ROWS) * divideUp(result.columns, Shape::COLUMNS);
  return launchKernel(launch, multiplyMatrices<T, Out, Bias, LEFT, RIGHT, Shape>,
                      dim3((unsigned)tiles, (unsigned)count), dim3(Shape::THREADS), Shape::SHARED,
                      left, right, result, depth, partDepth, parts);
}

// Tiles that C is cut into.
template <class Shape>
int64_t tilesOf(int64_t rows, int64_t columns) {
  return divideUp(rows, Shape::ROWS) * divideUp(columns, Shape::COLUMNS);
}

// Calls run(shape) with the shape of tiles for a product of many rows: the bits are the same in
// all. `areAligned`: both operands, in whole chunks, which is what warpgroups copy.
template <class T, class Run>
int withWideTile(const SaccadeDeviceLaunch& launch, int64_t rows, int64_t columns, bool areAligned,
                 const Run& run) {
  if constexpr (sizeof(T) == 2) {
    if (launch.device->computeCapability == 90 && areAligned) {
      // Rounds of blocks times what one takes: half of a wide tile's work at five sixths of its
      // speed.
      const int64_t width = launch.device->multiprocessors;
      const int64_t wide = divideUp(tilesOf<WideGroupTile>(rows, columns), width) * 10;
      const int64_t narrow = divideUp(tilesOf<NarrowGroupTile>(rows, columns), width) * 6;
      return narrow < wide ? run(NarrowGroupTile{}) : run(WideGroupTile{});
    }
  }
  return run(WideTile{});
}

// Blocks below which the depth is cut, and the least depth of a part.
constexpr int64_t FEW_BLOCKS = 128;
constexpr int64_t LEAST_PART = 1024;

// `isCut`: the depth may be cut. Not where C's rows must not depend on how many there are.
template <class T, Lie LEFT, Lie RIGHT, class Out, class Bias>
int multiply(const SaccadeDeviceLaunch& launch, const Matrix<T>& left, const Matrix<T>& right,
             const ProductResult<Out, Bias>& result, int64_t depth, bool isCut) {
  if constexpr (LEFT == Lie::along && RIGHT == Lie::along) {
    if (result.rows <= FEW_ROWS && !isCut) {
      return launchTiles<T, LEFT, RIGHT, SmallTile>(launch, left, right, result, depth, depth, 1,
                                                    nullptr);
    }
  }
  const int64_t tiles = tilesOf<WideTile>(result.rows, result.columns);
  int64_t count = 1;
  if (isCut && tiles < FEW_BLOCKS) {
    count = divideUp(FEW_BLOCKS, tiles > 0 ? tiles : 1);
    const int64_t most = divideUp(depth, LEAST_PART);
    if (count > most) count = most > 0 ? most : 1;
  }
  const int64_t partDepth = divideUp(divideUp(depth, count), PANEL<T>) * PANEL<T>;
  count = depth > 0 ? divideUp(depth, partDepth) : 1;
  float* parts = nullptr;
  if (count > 1) {
    parts = scratchArray<float>(launch, count * result.rows * result.columns);
    if (!parts) return outOfScratch(launch);
  }
  const int refused =
      withWideTile<T>(launch, result.rows, result.columns * count,
                      left.isAligned && right.isAligned, [&](auto shape) {
                        return launchTiles<T, LEFT, RIGHT, decltype(shape)>(
                            launch, left, right, result, depth, partDepth, count, parts);
                      });
  if (refused || count == 1) return refused;
  return launchKernel(launch, addParts<Out, Bias>,
                      dim3((unsigned)divideUp(result.rows * result.columns, 256)), dim3(256), 0,
                      parts, count, result);
}

}  // namespace saccade
