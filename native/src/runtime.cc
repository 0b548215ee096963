#include "runtime.h"

#include <utility>

namespace saccade {

Runtime::Runtime(std::string instructionSet, int32_t threads)
    : instructionSet_(std::move(instructionSet)), kernels_(kernelsOf(instructionSet_)),
      forms_(formsOf(kernels_)), pool_(threads) {
  forKernels_.host = this;
  forKernels_.threads = threads;
  forKernels_.parallelFor = [](void* host, int64_t items, void (*body)(void*, int64_t, int32_t),
                               void* context) {
    static_cast<Runtime*>(host)->pool_.run(items, body, context);
  };
  forKernels_.scratch = [](void* host, int64_t bytes) {
    return static_cast<Runtime*>(host)->scratch_.take(bytes);
  };
}

}  // namespace saccade
