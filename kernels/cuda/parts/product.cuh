// C = A·B (+ bias) for operands along or across the depth, on the whole device.
//
// C is cut into wide tiles, or into small ones where it has few rows: the bits are the same. Where
// wide tiles make few blocks of a great depth, the depth may be cut too and the parts are added in
// their order; the cuts depend on the sizes alone.
#pragma once

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
};

template <class Out, class Bias>
__device__ __forceinline__ void storePair(const ProductResult<Out, Bias>& result, int64_t row,
                                          int64_t column, float first, float second) {
  if (row >= result.rows) return;
  const float values[2] = {first, second};
#pragma unroll
  for (int i = 0; i < 2; i++) {
    if (column + i >= result.columns) return;
    Out* at = result.data + row * result.stride + column + i;
    float value = values[i];
    if (result.bias) value += widened(result.bias[column + i]);
    if (result.isAdded) value += widened(*at);
    *at = rounded<Out>(value);
  }
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
__global__ void __launch_bounds__(Shape::THREADS)
    multiplyMatrices(Matrix<T> left, Matrix<T> right, ProductResult<Out, Bias> result,
                     int64_t depth, int64_t partDepth, float* parts) {
  const TilePlace place = tilePlace<Shape>(blockIdx.x, result.rows, result.columns);
  const int64_t begin = (int64_t)blockIdx.y * partDepth;
  const int64_t end = begin + partDepth < depth ? begin + partDepth : depth;
  TileSums<Shape> tile = {};
  multiplyTile<T, LEFT, RIGHT>(tile, left, right, place.row, place.column, begin, end,
                               sharedMemory());
  if (parts) {
    const ProductResult<float, float> part = {
        parts + (int64_t)blockIdx.y * result.rows * result.columns,
        result.columns, result.rows, result.columns, nullptr, false};
    forPairs(tile, [&](int row, int column, float first, float second) {
      storePair(part, place.row + row, place.column + column, first, second);
    });
    return;
  }
  forPairs(tile, [&](int row, int column, float first, float second) {
    storePair(result, place.row + row, place.column + column, first, second);
  });
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
  Out* at = result.data + row * result.stride + column;
  if (result.bias) sum += widened(result.bias[column]);
  if (result.isAdded) sum += widened(*at);
  *at = rounded<Out>(sum);
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
  const int64_t tiles =
      divideUp(result.rows, WideTile::ROWS) * divideUp(result.columns, WideTile::COLUMNS);
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
  const int refused = launchTiles<T, LEFT, RIGHT, WideTile>(launch, left, right, result, depth,
                                                            partDepth, count, parts);
  if (refused || count == 1) return refused;
  return launchKernel(launch, addParts<Out, Bias>,
                      dim3((unsigned)divideUp(result.rows * result.columns, 256)), dim3(256), 0,
                      parts, count, result);
}

}  // namespace saccade
