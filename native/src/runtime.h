// One set of kernels, threads and scratch memory: what a backend opens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog.h"
#include "kernel-form.h"
#include "scratch.h"
#include "thread-pool.h"

namespace saccade {

class Runtime {
 public:
  Runtime(std::string instructionSet, int32_t threads);
  // Work estimated to take less stays on one thread. Without it the estimate is held to what handing over costs
  // at the time.
  void setHandOver(double nanoseconds) { handOver_ = nanoseconds; }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::string& instructionSet() const { return instructionSet_; }
  const std::vector<const SaccadeKernel*>& kernels() const { return kernels_; }
  const std::vector<KernelForm>& forms() const { return forms_; }
  ThreadPool& pool() { return pool_; }
  Scratch& scratch() { return scratch_; }
  // For the launch that comes next.
  const SaccadeRuntime* forKernels() {
    forKernels_.handOverNanoseconds = handOver_.value_or(pool_.isAwake() ? AWAKE : ASLEEP);
    return &forKernels_;
  }

 private:
  // A thread that still spins takes over in a microsecond or two; waking one costs the caller 5 to 10.
  static constexpr double AWAKE = 4000, ASLEEP = 20000;

  const std::string instructionSet_;
  const std::vector<const SaccadeKernel*> kernels_;
  // In the same order.
  const std::vector<KernelForm> forms_;
  ThreadPool pool_;
  Scratch scratch_;
  SaccadeRuntime forKernels_;
  std::optional<double> handOver_;
};

}  // namespace saccade
