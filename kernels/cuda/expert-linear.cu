// yᵣ = w[expertsᵣ]·xᵣ;  dxᵣ = w[expertsᵣ]ᵀ·dyᵣ;  dw[e] = Σ dyᵣ·xᵣᵀ over e's rows.
//
// Layout: x [R,K], w [E,N,K], y [R,N], row-major. Rows are sorted by expert, in the order of the
// list (parts/sorted-indices.cuh), and copied side by side. A block owns a tile of one expert's
// rows, and finds which by a search among the numbers of tiles before each expert, since only the
// device knows how many rows an expert has; the host launches as many blocks as there can be tiles.
// Sums are those of parts/tile-product.cuh, so a row has the bits that it has alone. dw: a block
// owns a tile of one expert's gradient, zeros where the expert has no rows.
#include "parts/indexed-rows.cuh"
#include "parts/product.cuh"

namespace saccade {
namespace {

// Rows by expert: those of expert e are at the places [starts[e], starts[e + 1]) of the sorted
// keys, and make the tiles from tiles[e] on.
struct Experts {
  const uint64_t* keys;
  const int64_t* starts;
  const int64_t* tiles;
  int64_t count;
};

constexpr int PLAN_THREADS = 256;

// One block.
__global__ void __launch_bounds__(PLAN_THREADS)
    planExperts(const uint64_t* keys, int64_t rows, int64_t count, int64_t height, int64_t* starts,
                int64_t* tiles) {
  for (int64_t e = threadIdx.x; e <= count; e += PLAN_THREADS) {
    // The first key of an expert that is not before e.
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t probe = low + (high - low) / 2;
      if (keys[probe] < (uint64_t)e << 32) low = probe + 1;
      else high = probe;
    }
    starts[e] = low;
  }
  syncBlock();
  if (threadIdx.x > 0) return;
  int64_t total = 0;
  for (int64_t e = 0; e < count; e++) {
    tiles[e] = total;
    total += divideUp(starts[e + 1] - starts[e], height);
  }
  tiles[count] = total;
}

// to[place] = from[the row at that place]; a warp owns a row.
template <class T>
__global__ void __launch_bounds__(COPY_THREADS)
    copySorted(const uint64_t* keys, int64_t rows, const T* from, T* to, int64_t width,
               bool isAligned) {
  const int64_t place = (int64_t)blockIdx.x * (COPY_THREADS / 32) + threadIdx.x / 32;
  if (place >= rows || keys[place] == NO_KEY) return;
  copyRow(to + place * width, from + placeOf(keys[place]) * width, width, isAligned,
          (int)threadIdx.x % 32);
}

// The expert of a tile; its number of experts beyond the last.
__device__ __forceinline__ int64_t expertOf(const Experts& experts, int64_t tile) {
  int64_t low = 0, high = experts.count;
  while (low < high) {
    const int64_t probe = low + (high - low) / 2;
    if (experts.tiles[probe + 1] <= tile) low = probe + 1;
    else high = probe;
  }
  return low;
}

// result[row of place] = w[e]·rows[place], or its transpose where w lies across the depth.
template <class T, Lie RIGHT, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_TOGETHER<T, Shape>)
    multiplyExperts(const T* rows, const T* w, T* result, Experts experts, int64_t N, int64_t K,
                    bool areRowsAligned, bool isWeightAligned) {
  const int64_t depth = RIGHT == Lie::along ? K : N, columns = RIGHT == Lie::along ? N : K;
  const int64_t e = expertOf(experts, blockIdx.x);
  if (e == experts.count) return;
  const int64_t first = experts.starts[e], count = experts.starts[e + 1] - first;
  const int64_t row = ((int64_t)blockIdx.x - experts.tiles[e]) * Shape::ROWS;
  const int64_t column = (int64_t)blockIdx.y * Shape::COLUMNS;
  const Matrix<T> left = {rows + first * depth, depth, count, depth, areRowsAligned};
  const Matrix<T> right = {w + e * N * K, K, N, K, isWeightAligned};
  TileSums<Shape> tile = {};
  multiplyTile<T, Lie::along, RIGHT>(tile, left, right, row, column, 0, depth, sharedMemory());
  const auto all = productResult<T, T>(result, columns, 0, columns, nullptr, false);
  storeTile(tile, all, column, sharedMemory(), [&](int r) {
    return row + r < count ? (int64_t)placeOf(experts.keys[first + row + r]) : (int64_t)-1;
  });
}

// dw[e] = Σ gradients[place]·rows[place]ᵀ over e's places; an expert to blockIdx.y.
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_TOGETHER<T, Shape>)
    sumExperts(const T* gradients, const T* rows, float* dw, const int64_t* starts, int64_t N,
               int64_t K, bool areGradientsAligned, bool areRowsAligned) {
  const int64_t first = starts[blockIdx.y], count = starts[blockIdx.y + 1] - first;
  const TilePlace place = tilePlace<Shape>(blockIdx.x, N, K);
  const Matrix<T> left = {gradients + first * N, N, count, N, areGradientsAligned};
  const Matrix<T> right = {rows + first * K, K, count, K, areRowsAligned};
  TileSums<Shape> tile = {};
  multiplyTile<T, Lie::across, Lie::across>(tile, left, right, place.row, place.column, 0, count,
                                            sharedMemory());
  const auto result = productResult<float, float>(dw + (int64_t)blockIdx.y * N * K, K, N, K,
                                                  nullptr, false);
  storeTile(tile, result, place.row, place.column, sharedMemory());
}

// The launch's dims and what is made for all of its products.
template <class T>
struct Groups {
  int64_t R, K, E, N;
  // Rows of a tile: few where experts have few rows.
  bool areLow;
  Experts experts;

  int64_t height() const { return areLow ? LowTile::ROWS : WideTile::ROWS; }
};

// Null keys where there is no memory, or a launch was refused.
template <class T>
Groups<T> groupsOf(const SaccadeDeviceLaunch& launch, int operand) {
  const int64_t R = launch.dims[0], E = launch.dims[2];
  Groups<T> groups = {R, launch.dims[1], E, launch.dims[3], R <= FEW_ROWS * E, {}};
  const uint64_t* keys =
      sortIndices(launch, {ints(launch, operand), R, E, operand, refusalOf(launch)});
  if (!keys) return groups;
  int64_t* starts = scratchArray<int64_t>(launch, E + 1);
  int64_t* tiles = scratchArray<int64_t>(launch, E + 1);
  if (!starts || !tiles) {
    outOfScratch(launch);
    return groups;
  }
  if (launchKernel(launch, planExperts, dim3(1), dim3(PLAN_THREADS), 0, keys, R, E,
                   groups.height(), starts, tiles)) {
    return groups;
  }
  groups.experts = {keys, starts, tiles, E};
  return groups;
}

// The rows of `from` [R, width], sorted; null where there is no memory, or a launch was refused.
template <class T>
const T* sortedRows(const SaccadeDeviceLaunch& launch, const Groups<T>& groups, const T* from,
                    int64_t width) {
  T* to = scratchArray<T>(launch, groups.R * width);
  if (!to) {
    outOfScratch(launch);
    return nullptr;
  }
  const bool isAligned = areAligned({from, to}) && isWholeChunks<T>(width);
  const int refused =
      launchKernel(launch, copySorted<T>, dim3((unsigned)divideUp(groups.R, COPY_THREADS / 32)),
                   dim3(COPY_THREADS), 0, groups.experts.keys, groups.R, from, to, width, isAligned);
  return refused ? nullptr : to;
}

template <class T, Lie RIGHT, class Shape>
int launchExperts(const SaccadeDeviceLaunch& launch, const Groups<T>& groups, const T* rows,
                  const T* w, T* result) {
  const int64_t R = groups.R, E = groups.E, N = groups.N, K = groups.K;
  const int64_t depth = RIGHT == Lie::along ? K : N, columns = RIGHT == Lie::along ? N : K;
  const int64_t most = R / Shape::ROWS + (E < R ? E : R);
  const dim3 grid((unsigned)most, (unsigned)divideUp(columns, Shape::COLUMNS));
  return launchKernel(launch, multiplyExperts<T, RIGHT, Shape>, grid, dim3(Shape::THREADS),
                      Shape::SHARED, rows, w, result, groups.experts, N, K,
                      areAligned({rows}) && isWholeChunks<T>(depth),
                      areAligned({w}) && isWholeChunks<T>(K));
}

template <class T, Lie RIGHT>
int multiplyAll(const SaccadeDeviceLaunch& launch, const Groups<T>& groups, const T* rows,
                const T* w, T* result) {
  if (groups.areLow) return launchExperts<T, RIGHT, LowTile>(launch, groups, rows, w, result);
  const int64_t columns = RIGHT == Lie::along ? groups.N : groups.K;
  const int64_t depth = RIGHT == Lie::along ? groups.K : groups.N;
  const bool areAligned = saccade::areAligned({rows, w}) && isWholeChunks<T>(depth) &&
                          isWholeChunks<T>(groups.K);
  return withWideTile<T>(launch, groups.R, columns, areAligned, [&](auto shape) {
    return launchExperts<T, RIGHT, decltype(shape)>(launch, groups, rows, w, result);
  });
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const T* x = stored<T>(*launch, 0);
  const T* w = stored<T>(*launch, 2);
  T* y = stored<T>(*launch, 3);
  const Groups<T> groups = groupsOf<T>(*launch, 1);
  if (!groups.experts.keys) return 1;
  const T* rows = sortedRows(*launch, groups, x, groups.K);
  return rows ? multiplyAll<T, Lie::along>(*launch, groups, rows, w, y) : 1;
}

// Operands: dy, x, experts, w, y, dx, dw.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t R = launch->dims[0], K = launch->dims[1], E = launch->dims[2], N = launch->dims[3];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  const T* w = stored<T>(*launch, 3);
  T* dx = stored<T>(*launch, 5);
  float* dw = floats(*launch, 6);
  if (!dy || R == 0) return fillZeros(*launch, dx, R * K) || fillZeros(*launch, dw, E * N * K);
  const Groups<T> groups = groupsOf<T>(*launch, 2);
  if (!groups.experts.keys) return 1;
  const T* gradients = sortedRows(*launch, groups, dy, N);
  if (!gradients) return 1;
  if (dx && multiplyAll<T, Lie::across>(*launch, groups, gradients, w, dx)) return 1;
  if (!dw) return 0;
  const T* rows = sortedRows(*launch, groups, x, K);
  if (!rows) return 1;
  const bool areWhole = areAligned({gradients, rows}) && isWholeChunks<T>(N) && isWholeChunks<T>(K);
  return withWideTile<T>(*launch, N * E, K, areWhole, [&](auto shape) {
    using Shape = decltype(shape);
    return launchKernel(*launch, sumExperts<T, Shape>,
                        dim3((unsigned)tilesOf<Shape>(N, K), (unsigned)E), dim3(Shape::THREADS),
                        Shape::SHARED, gradients, rows, dw, groups.experts.starts, N, K,
                        areAligned({gradients}) && isWholeChunks<T>(N),
                        areAligned({rows}) && isWholeChunks<T>(K));
  });
}

}  // namespace

SACCADE_KERNEL(expertLinear, "x[R,K]' experts[R]# w[E,N,K]+ -> y[R,N]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
