// Plans of attention: segments measured on the device, tiles found in them, keys on a row's path.
#include "checks.h"
#include "launches.h"

#include "../../../kernels/cuda/parts/attend.cuh"

using namespace saccade;
using maps::Draw;
using maps::expect;

namespace {

struct Tree {
  // start, end, parent of each segment.
  std::vector<int32_t> rows;
  int64_t tokens = 0;
  int64_t count() const { return (int64_t)rows.size() / 3; }
};

// Segments in depth-first pre-order, some of them empty; lengths up to `longest`.
Tree drawTree(Draw& draw, int64_t segments, int64_t longest) {
  Tree tree;
  std::vector<int32_t> path;
  for (int64_t s = 0; s < segments; s++) {
    while (!path.empty() && draw.below(3) == 0) path.pop_back();
    const int32_t parent = path.empty() ? -1 : path.back();
    const int64_t length = draw.below(6) == 0 ? 0 : 1 + draw.below(longest);
    tree.rows.insert(tree.rows.end(), {(int32_t)tree.tokens, (int32_t)(tree.tokens + length), parent});
    tree.tokens += length;
    path.push_back((int32_t)s);
  }
  return tree;
}

// The plan of a tree with the memory that it needs.
struct Planned {
  std::vector<int32_t> tiles = {-1, -1};
  std::vector<Segment> segments;
  std::vector<int32_t> positions;
  Forest forest;
  SaccadeFault fault = {};

  Planned(Tree& tree, const TileSizes& sizes, bool hasPositions = true)
      : segments((size_t)tree.count()),
        positions(hasPositions ? (size_t)tree.tokens : 0),
        forest{tiles.data(), segments.data(), positions.data(), tree.count()} {
    const Refusal refusal = {&fault, 1};
    maps::runBlock(FOREST_THREADS, FOREST_THREADS * sizeof(int64_t), [&] {
      planForest(tree.rows.data(), tree.count(), tree.tokens, sizes, forest, refusal, 0);
    });
    if (!hasPositions || tree.tokens == 0) return;
    maps::Launch launch({}, {});
    launchKernel(*launch, fillPositions, dim3((unsigned)divideUp(tree.tokens, 256)), dim3(256), 0,
                 forest, tree.tokens);
  }
};

// Tokens on the path to a segment, its own last: what a query at its end may see.
std::vector<int32_t> pathOf(const Tree& tree, int64_t s) {
  std::vector<int32_t> path;
  for (int64_t at = s; at >= 0; at = tree.rows[(size_t)(3 * at + 2)]) {
    std::vector<int32_t> own;
    for (int32_t t = tree.rows[(size_t)(3 * at)]; t < tree.rows[(size_t)(3 * at + 1)]; t++) own.push_back(t);
    path.insert(path.begin(), own.begin(), own.end());
  }
  return path;
}

void checkTree(Tree& tree, const TileSizes& sizes) {
  Planned plan(tree, sizes);
  expect(plan.fault.launch == 0, "a sound tree is refused at %ld", (long)plan.fault.index);
  int32_t rowTiles = 0, keyTiles = 0;
  for (int64_t s = 0; s < tree.count(); s++) {
    const Segment& segment = plan.segments[(size_t)s];
    const std::vector<int32_t> path = pathOf(tree, s);
    const int32_t length = segment.end - segment.start;
    int64_t next = s + 1;
    for (; next < tree.count(); next++) {
      int64_t ancestor = next;
      while (ancestor > s) ancestor = tree.rows[(size_t)(3 * ancestor + 2)];
      if (ancestor != s) break;
    }
    expect(segment.before == (int32_t)path.size() - length, "before is %d", segment.before);
    expect(segment.subtreeEnd == tree.rows[(size_t)(3 * next - 2)], "subtree ends at %d, expected %d",
           segment.subtreeEnd, tree.rows[(size_t)(3 * next - 2)]);
    expect(segment.firstRowTile == rowTiles && segment.firstKeyTile == keyTiles,
           "tiles of segment %ld begin at %d, %d", (long)s, segment.firstRowTile,
           segment.firstKeyTile);
    for (int32_t p = 0; p < (int32_t)path.size(); p++) {
      const int32_t token = tokenOnPath(plan.forest, segment, p);
      expect(token == path[(size_t)p], "key %d of segment %ld is token %d, expected %d", p, (long)s,
             token, path[(size_t)p]);
    }
    for (int32_t t = 0; t < length; t++) {
      expect(plan.positions[(size_t)(segment.start + t)] == segment.before + t, "position of token %d",
             segment.start + t);
    }
    const int32_t ownRows = (length * sizes.rowsPerToken + sizes.rowsPerTile - 1) / sizes.rowsPerTile;
    const int32_t ownKeys = (length + sizes.keysPerTile - 1) / sizes.keysPerTile;
    for (int32_t tile = rowTiles; tile < rowTiles + ownRows; tile++) {
      expect(segmentOfTile<&Segment::firstRowTile>(plan.forest, tile) == s, "row tile %d", tile);
    }
    for (int32_t tile = keyTiles; tile < keyTiles + ownKeys; tile++) {
      expect(segmentOfTile<&Segment::firstKeyTile>(plan.forest, tile) == s, "key tile %d", tile);
    }
    rowTiles += ownRows;
    keyTiles += ownKeys;
  }
  expect(plan.tiles[0] == rowTiles && plan.tiles[1] == keyTiles, "%d and %d tiles, expected %d, %d",
         plan.tiles[0], plan.tiles[1], rowTiles, keyTiles);
  expect(rowTiles <= mostTiles(tree.tokens * sizes.rowsPerToken, sizes.rowsPerTile, tree.count()),
         "more row tiles than blocks are launched");
  expect(keyTiles <= mostTiles(tree.tokens, sizes.keysPerTile, tree.count()),
         "more key tiles than blocks are launched");
}

// Every pair of a row and a key that is seen lies in the blocks that are walked; where a block is
// taken whole, all of its pairs are seen.
void checkKeyBlocks(Tree& tree, const AttentionShape& shape, int rowsPerTile) {
  Planned plan(tree, {shape.ratio, rowsPerTile, KEYS});
  std::vector<int> rowsSeen((size_t)(tree.tokens * shape.H));
  for (int32_t block = 0; block < plan.tiles[0] + 2; block++) {
    RowTile tile;
    bool isTile = false;
    maps::runBlock(1, 0, [&] {
      const_cast<emulator::Place&>(emulator::place()).block = {(uint32_t)block, 1, 0};
      isTile = findRowTile(plan.forest, shape, rowsPerTile, &tile);
    });
    expect(isTile == (block < plan.tiles[0]), "block %d of %d", block, plan.tiles[0]);
    if (!isTile) continue;
    const KeyBlocks blocks = keyBlocksOf(tile, rowsPerTile, shape);
    const int32_t path = tile.segment.before + tile.segment.end - tile.segment.start;
    for (int32_t r = 0; r < rowsPerTile; r++) {
      const int64_t head = tile.headOf(tile.first + r, shape);
      if (head < 0) continue;
      rowsSeen[(size_t)head]++;
      const int32_t position = tile.positionOf(tile.first + r, shape.ratio);
      expect(plan.positions[(size_t)(head / shape.H)] == position, "row %d is at %d", r, position);
      for (int32_t key = 0; key < path; key++) {
        const bool isSeen = sees(shape, position, key), isWalked = key / KEYS >= blocks.from && key / KEYS < blocks.to;
        expect(!isSeen || (isWalked && key < blocks.keys), "key %d of row at %d is not walked", key,
               position);
        const bool isWhole = key / KEYS >= blocks.full && key / KEYS < blocks.fullEnd && isWalked;
        expect(!isWhole || isSeen, "key %d of row at %d is taken unseen", key, position);
      }
      for (int32_t block = blocks.full; block < blocks.fullEnd; block++) {
        expect((block + 1) * KEYS <= path, "block %d is whole beyond %d keys", block, path);
      }
    }
  }
  for (int64_t t = 0; t < tree.tokens; t++) {
    for (int32_t h = 0; h < shape.H; h++) {
      const bool isOwn = h / shape.ratio == 1;
      expect(rowsSeen[(size_t)(t * shape.H + h)] == (isOwn ? 1 : 0), "head %d of token %ld has %d rows", h,
             (long)t, rowsSeen[(size_t)(t * shape.H + h)]);
    }
  }
}

}  // namespace

CHECK("forest: segments are measured, and tiles and keys on a path found, as by walking the tree") {
  Draw draw(1);
  for (int i = 0; i < 60; i++) {
    Tree tree = drawTree(draw, 1 + draw.below(14), 90);
    checkTree(tree, {(int32_t)(1 + draw.below(8)), i % 2 ? 64 : 128, KEYS});
  }
  // More segments than the block has threads.
  Tree many = drawTree(draw, 700, 4);
  checkTree(many, {2, 64, KEYS});
}

CHECK("forest: tiles walk all keys that their rows see, and take only blocks whole that all see") {
  Draw draw(2);
  for (int i = 0; i < 24; i++) {
    Tree tree = drawTree(draw, 1 + draw.below(5), 200);
    const int32_t ratio = (int32_t)(1 + draw.below(7));
    const int32_t window = i % 3 == 0 ? 0 : (int32_t)(1 + draw.below(150));
    const AttentionShape shape = {tree.tokens, 2 * ratio, 64, 2, ratio, 1.0f, i % 2 == 0, window};
    checkKeyBlocks(tree, shape, i % 4 < 2 ? 64 : 128);
  }
}

CHECK("forest: segments of 2^30 tokens are measured without a carry") {
  const int32_t length = 1 << 30;
  Tree tree;
  tree.rows = {0, length, -1, length, 2 * (length - 8), 0};
  tree.tokens = 2 * ((int64_t)length - 8);
  Planned plan(tree, {1, 64, KEYS}, false);
  expect(plan.fault.launch == 0, "it is refused at %ld", (long)plan.fault.index);
  expect(plan.tiles[0] == length / 64 + (length - 16 + 63) / 64, "%d row tiles", plan.tiles[0]);
  expect(plan.segments[0].subtreeEnd == tree.tokens, "it ends at %d", plan.segments[0].subtreeEnd);
  const Segment& last = plan.segments[1];
  expect(last.before == length, "before is %d", last.before);
  expect(tokenOnPath(plan.forest, last, length - 1) == length - 1, "the prompt's last key");
  expect(tokenOnPath(plan.forest, last, (int32_t)tree.tokens - 1) == tree.tokens - 1, "the last key");
  // Rows of q of a late token: more than 2^32 elements, and rows, before them.
  const AttentionShape shape = {tree.tokens, 48, 128, 48, 1, 1.0f, true, 0};
  const RowTile tile = {last, 0, last.end - last.start, 47};
  const int64_t row = tile.headOf(tile.rows - 1, shape);
  expect(row == (tree.tokens - 1) * 48 + 47, "row %ld", (long)row);
  expect(tile.headOf(tile.rows, shape) == -1, "a row beyond the segment");
}

CHECK("forest: what is no forest has no tiles, and the fault says where") {
  const struct {
    std::vector<int32_t> rows;
    int64_t tokens, place;
  } cases[] = {
      {{0, 5, -1, 6, 9, 0}, 9, 3},           // a gap
      {{0, 5, -1, 5, 8, 0}, 9, 4},           // tokens of nobody behind the last
      {{0, 5, -1, 5, 7, -1, 7, 9, 0}, 9, 8}, // a parent whose subtree has ended
      {{0, 5, -1, 5, 9, 1}, 9, 5},           // its own parent
      {{0, 5, -2, 5, 9, 0}, 9, 2},           // no such parent
      {{0, 10, -1}, 9, 1},                   // beyond the tokens
      {{0, 6, -1, 6, 4, 0, 4, 9, 0}, 9, 4},  // ends before it begins
  };
  for (const auto& [rows, tokens, place] : cases) {
    Tree tree = {rows, tokens};
    Planned plan(tree, {1, 64, KEYS}, false);
    expect(plan.tiles[0] == 0 && plan.tiles[1] == 0, "it has %d tiles", plan.tiles[0]);
    expect(plan.fault.launch == 1 && plan.fault.index == place, "the fault is at %ld, expected %ld",
           (long)plan.fault.index, (long)place);
  }
}
