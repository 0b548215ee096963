#include "launches.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

using saccade::emulator::Index3;
using saccade::emulator::Place;

namespace saccade {
namespace emulator {

// The emulator's own, compiled under this name.
void runWholeGrid(const char* name, Index3 grid, Index3 block, size_t sharedBytes,
                  const std::function<void()>& body);

}  // namespace emulator
}  // namespace saccade

namespace maps {
namespace {

Launches* active = nullptr;

}  // namespace

bool everyBlock(const Grid& grid, int i, Index3* block) {
  const uint32_t n = static_cast<uint32_t>(i);
  *block = {n % grid.grid.x, n / grid.grid.x % grid.grid.y, n / grid.grid.x / grid.grid.y};
  return block->z < grid.grid.z;
}
Blocks lastBlocks(int count) {
  return [count](const Grid& grid, int i, Index3* block) {
    const uint32_t first = grid.grid.x > static_cast<uint32_t>(count) ? grid.grid.x - count : 0;
    *block = {first + i, 0, 0};
    return block->x < grid.grid.x;
  };
}
Blocks firstBlocks(int count) {
  return [count](const Grid& grid, int i, Index3* block) {
    *block = {static_cast<uint32_t>(i) % grid.grid.x, static_cast<uint32_t>(i) / grid.grid.x, 0};
    return i < count && block->y < grid.grid.y;
  };
}

Launches::Launches(Blocks blocks) : blocks(std::move(blocks)) { active = this; }
Launches::~Launches() { active = nullptr; }

Launch::Launch(std::vector<void*> operands, std::vector<int64_t> dims, std::vector<double> scalars)
    : operands_(std::move(operands)), dims_(std::move(dims)), scalars_(std::move(scalars)) {
  device_.host = this;
  // As many as it takes that no grid is cut to what runs at once.
  device_.multiprocessors = 1 << 25;
  device_.computeCapability = 90;
  device_.sharedBytes = 227 << 10;
  device_.fault = &fault_;
  device_.scratch = scratch;
  launch_ = {operands_.data(), dims_.data(), scalars_.data(), &device_, 1, error_};
}
Launch::~Launch() = default;

void* Launch::scratch(void* self, int64_t bytes) {
  auto& workspaces = static_cast<Launch*>(self)->workspaces_;
  workspaces.push_back(std::make_unique<Sparse>(bytes));
  void* memory = workspaces.back()->as<void>();
  // NaN, as whatever was there before.
  if (bytes <= SPARSE_BYTES) std::memset(memory, 0xff, (size_t)bytes);
  return memory;
}

Sparse::Sparse(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ != MAP_FAILED) return;
  std::perror("reserving addresses");
  std::abort();
}
Sparse::~Sparse() { munmap(memory_, bytes_); }

void runBlock(int threads, size_t sharedBytes, const std::function<void()>& body) {
  saccade::emulator::runWholeGrid("of a check", {1, 1, 1}, {static_cast<uint32_t>(threads), 1, 1},
                                  sharedBytes, body);
}

}  // namespace maps

namespace saccade {
namespace emulator {

// Launches run at once.
cudaError_t launch(cudaStream_t, std::function<void()> grid) {
  grid();
  return cudaSuccess;
}

void runGrid(const char* name, Index3 grid, Index3 block, size_t sharedBytes,
             const std::function<void()>& body) {
  const maps::Grid whole = {grid, block, sharedBytes};
  if (maps::active) maps::active->grids.push_back(whole);
  const maps::Blocks& blocks = maps::active ? maps::active->blocks : maps::everyBlock;
  Index3 at;
  for (int i = 0; blocks(whole, i, &at); i++) {
    runWholeGrid(name, {1, 1, 1}, block, sharedBytes, [&] {
      Place& place = const_cast<Place&>(emulator::place());
      place.block = at;
      place.gridSize = grid;
      body();
    });
  }
}

}  // namespace emulator
}  // namespace saccade

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "an error"; }
