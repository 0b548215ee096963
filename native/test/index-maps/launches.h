// Launches of kernels on the emulator's blocks, looked at and cut short: any blocks of a grid that is
// far too large to run, on memory of which only the pages that are touched exist.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "../../../kernels/cuda/parts/launch.cuh"

namespace maps {

struct Grid {
  saccade::emulator::Index3 grid, block;
  size_t sharedBytes;
};

// Says which block comes after so many; false behind the last one.
using Blocks = std::function<bool(const Grid& grid, int i, saccade::emulator::Index3* block)>;
bool everyBlock(const Grid& grid, int i, saccade::emulator::Index3* block);
// The last `count` blocks of a grid of one dimension.
Blocks lastBlocks(int count);
Blocks firstBlocks(int count);

// While it lives, launches are kept, and of each grid only some blocks run.
class Launches {
 public:
  explicit Launches(Blocks blocks = everyBlock);
  ~Launches();
  Launches(const Launches&) = delete;
  std::vector<Grid> grids;
  Blocks blocks;
};

// Zeros of any size: only what is touched takes memory.
class Sparse {
 public:
  explicit Sparse(int64_t bytes);
  ~Sparse();
  Sparse(const Sparse&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_;
  size_t bytes_;
};

// A launch as the host side of a kernel gets it; memory for workspaces is freed with it. Workspaces
// begin as NaN, those larger than SPARSE_BYTES as zeros of which only touched pages exist.
class Launch {
 public:
  Launch(std::vector<void*> operands, std::vector<int64_t> dims, std::vector<double> scalars = {});
  ~Launch();
  Launch(const Launch&) = delete;
  const SaccadeDeviceLaunch* operator->() const { return &launch_; }
  const SaccadeDeviceLaunch& operator*() const { return launch_; }
  const SaccadeFault& fault() const { return fault_; }
  const char* error() const { return error_; }

 private:
  static constexpr int64_t SPARSE_BYTES = 16 << 20;
  static void* scratch(void* self, int64_t bytes);
  std::vector<void*> operands_;
  std::vector<int64_t> dims_;
  std::vector<double> scalars_;
  std::vector<std::unique_ptr<Sparse>> workspaces_;
  SaccadeFault fault_ = {};
  SaccadeDevice device_ = {};
  char error_[SACCADE_ERROR_CHARS] = "";
  SaccadeDeviceLaunch launch_;
};

// Runs `body` in every thread of one block.
void runBlock(int threads, size_t sharedBytes, const std::function<void()>& body);

}  // namespace maps
