// Plans of products: who owns which element of C, in which order blocks walk its tiles, and how the
// depth is cut.
#include "checks.h"
#include "launches.h"

#include <map>
#include <set>

#include "../../../kernels/cuda/parts/product.cuh"
#include "../../../kernels/cuda/parts/vocabulary.cuh"

using namespace saccade;
using maps::Draw;
using maps::expect;

namespace {

template <class Shape>
void checkOwners(const char* name) {
  std::map<std::pair<int, int>, int> owners;
  maps::runBlock(Shape::THREADS, 0, [&] {
    TileSums<Shape> tile = {};
    forPairs(tile, [&](int row, int column, float, float) {
      owners[{row, column}]++;
      owners[{row, column + 1}]++;
    });
  });
  expect((int)owners.size() == Shape::ROWS * Shape::COLUMNS, "%s: %d of %d elements have an owner",
         name, (int)owners.size(), Shape::ROWS * Shape::COLUMNS);
  for (const auto& [place, count] : owners) {
    const bool isInside = place.first >= 0 && place.first < Shape::ROWS && place.second >= 0 &&
                          place.second < Shape::COLUMNS;
    expect(isInside && count == 1, "%s: (%d, %d) has %d owners", name, place.first, place.second,
           count);
  }
}

template <class Shape>
void checkWalk(int64_t rows, int64_t columns) {
  const int64_t rowTiles = divideUp(rows, Shape::ROWS), columnTiles = divideUp(columns, Shape::COLUMNS);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t block = 0; block < rowTiles * columnTiles; block++) {
    const TilePlace place = tilePlace<Shape>(block, rows, columns);
    const bool isTile = place.row % Shape::ROWS == 0 && place.column % Shape::COLUMNS == 0 &&
                        place.row >= 0 && place.row < rows && place.column >= 0 &&
                        place.column < columns;
    expect(isTile, "block %ld of [%ld, %ld] is at (%ld, %ld)", (long)block, (long)rows,
           (long)columns, (long)place.row, (long)place.column);
    seen.insert({place.row, place.column});
  }
  expect((int64_t)seen.size() == rowTiles * columnTiles, "[%ld, %ld]: %d of %ld tiles", (long)rows,
         (long)columns, (int)seen.size(), (long)(rowTiles * columnTiles));
}

struct Product {
  int64_t rows, columns, depth;
  bool isCut;
};

// C = A·Bᵀ + bias of whole numbers through the launches that multiply() makes, on a C that holds
// something already.
template <class T>
std::vector<maps::Grid> checkProduct(const Product& sizes, bool isAdded) {
  const auto [rows, columns, depth, isCut] = sizes;
  std::vector<T> left((size_t)(rows * depth)), right((size_t)(columns * depth)), bias((size_t)columns);
  std::vector<float> result((size_t)(rows * columns), 5.0f);
  Draw draw((uint64_t)(rows + 100 * columns + 10000 * depth));
  for (auto* values : {&left, &right, &bias}) {
    for (T& value : *values) value = rounded<T>(draw.small());
  }
  maps::Launches launches;
  maps::Launch launch({}, {});
  const int refused = multiply<T, Lie::along, Lie::along>(
      *launch, matrixOf<T>(left.data(), depth, rows, depth),
      matrixOf<T>(right.data(), depth, columns, depth),
      ProductResult<float, T>{result.data(), columns, rows, columns, bias.data(), isAdded}, depth,
      isCut);
  expect(refused == 0, "refused: %s", launch.error());
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      float sum = widened(bias[(size_t)j]) + (isAdded ? 5.0f : 0.0f);
      for (int64_t d = 0; d < depth; d++) {
        sum += widened(left[(size_t)(i * depth + d)]) * widened(right[(size_t)(j * depth + d)]);
      }
      const float got = result[(size_t)(i * columns + j)];
      expect(got == sum, "[%ld, %ld] over %ld: (%ld, %ld) is %g, expected %g", (long)rows,
             (long)columns, (long)depth, (long)i, (long)j, got, sum);
    }
  }
  return launches.grids;
}

}  // namespace

CHECK("tile: every element of a tile has one owner, in each shape") {
  checkOwners<WideTile>("wide");
  checkOwners<LowTile>("low");
  checkOwners<SmallTile>("small");
}

CHECK("tile: blocks walk over every tile once, whatever the sizes") {
  for (int64_t rows : {1, 127, 128, 129, 1000, 1024, 1025, 3000}) {
    for (int64_t columns : {1, 128, 500, 2048, 2049}) {
      checkWalk<WideTile>(rows, columns);
      checkWalk<SmallTile>(rows, columns);
    }
  }
  Draw draw(5);
  for (int i = 0; i < 40; i++) checkWalk<LowTile>(1 + draw.below(2000), 1 + draw.below(6000));
}

CHECK("tile: places beyond 2^32 rows and columns are exact") {
  const int64_t rows = ((int64_t)1 << 36) + 5, columns = ((int64_t)1 << 20) + 3;
  const int64_t rowTiles = divideUp(rows, 128), columnTiles = divideUp(columns, 128);
  for (const int64_t fromEnd : {1, 2, 3, 9, 1000, 8193}) {
    const int64_t block = rowTiles * columnTiles - fromEnd;
    const TilePlace place = tilePlace<WideTile>(block, rows, columns);
    // The last group is of as many tiles of rows as are left, and is walked column by column.
    const int64_t height = rowTiles % 8 == 0 ? 8 : rowTiles % 8;
    const int64_t inGroup = columnTiles * height - fromEnd;
    expect(place.row == (rowTiles - height + inGroup % height) * 128, "row %ld", (long)place.row);
    expect(place.column == inGroup / height * 128, "column %ld", (long)place.column);
  }
}

CHECK("product: cuts of the depth cover it once, in parts that sizes alone decide") {
  // Blocks: 1 × 1 of wide tiles, cut in as many parts as are 1024 deep; the last may be short.
  const struct {
    Product sizes;
    unsigned parts;
  } cases[] = {
      {{3, 5, 1024, true}, 1},  {{3, 5, 1025, true}, 2},  {{3, 5, 2050, true}, 3},
      {{40, 7, 3000, true}, 3}, {{2, 130, 2500, true}, 3}, {{129, 3, 1100, true}, 2},
      {{3, 5, 2050, false}, 1}, {{40, 7, 1, true}, 1},
  };
  for (const auto& [sizes, parts] : cases) {
    const std::vector<maps::Grid> grids = checkProduct<Bf16>(sizes, parts == 2);
    expect(!grids.empty() && grids[0].grid.y == parts, "depth %ld is cut into %u parts, expected %u",
           (long)sizes.depth, grids.empty() ? 0 : grids[0].grid.y, parts);
    expect(grids.size() == (parts > 1 ? 2u : 1u), "%d launches", (int)grids.size());
  }
  checkProduct<float>({3, 5, 1100, true}, true);
}

CHECK("product: of no depth, what is there and the bias are the result") {
  checkProduct<Bf16>({3, 5, 0, true}, true);
  checkProduct<Bf16>({50, 5, 0, false}, false);
}

CHECK("product: matrices of rows further apart than 2^32 elements") {
  const int64_t rows = 36, columns = 8, depth = 40, stride = ((int64_t)1 << 27) + 8;
  maps::Sparse leftMemory(rows * stride * 2), rightMemory(columns * depth * 2);
  maps::Sparse resultMemory(rows * stride * 4);
  Bf16 *left = leftMemory.as<Bf16>(), *right = rightMemory.as<Bf16>();
  float* result = resultMemory.as<float>();
  Draw draw(3);
  for (int64_t d = 0; d < depth; d++) {
    for (int64_t i = 0; i < rows; i++) left[i * stride + d] = rounded<Bf16>(draw.small());
    for (int64_t j = 0; j < columns; j++) right[j * depth + d] = rounded<Bf16>(draw.small());
  }
  maps::Launch launch({}, {});
  multiply<Bf16, Lie::along, Lie::along>(
      *launch, matrixOf<Bf16>(left, stride, rows, depth),
      matrixOf<Bf16>(right, depth, columns, depth),
      ProductResult<float, Bf16>{result, stride, rows, columns, nullptr, false}, depth, false);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      float sum = 0;
      for (int64_t d = 0; d < depth; d++) sum += widened(left[i * stride + d]) * widened(right[j * depth + d]);
      expect(result[i * stride + j] == sum, "(%ld, %ld) is %g, expected %g", (long)i, (long)j,
             result[i * stride + j], sum);
    }
  }
}

CHECK("fold: eight lanes own every entry of a fold once, in runs of one counter") {
  std::set<int> seen;
  for (int lane = 0; lane < FOLD_LANES; lane++) {
    for (int run = 0; run < RUNS; run++) {
      expect(entryOf(lane, run) % 4 == 0, "lane %d begins at %d", lane, entryOf(lane, run));
      for (int i = 0; i < 4; i++) seen.insert(entryOf(lane, run) + i);
    }
  }
  expect((int)seen.size() == FOLD && *seen.begin() == 0 && *seen.rbegin() == FOLD - 1,
         "%d entries", (int)seen.size());
}
