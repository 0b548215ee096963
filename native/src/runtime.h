// One set of kernels, threads and scratch memory: what a backend opens.
#pragma once

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
  // Work estimated to take less stays on one thread; handing over costs 5 to 10 µs.
  void setHandOver(double nanoseconds) { forKernels_.handOverNanoseconds = nanoseconds; }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::string& instructionSet() const { return instructionSet_; }
  const std::vector<const SaccadeKernel*>& kernels() const { return kernels_; }
  const std::vector<KernelForm>& forms() const { return forms_; }
  ThreadPool& pool() { return pool_; }
  Scratch& scratch() { return scratch_; }
  const SaccadeRuntime* forKernels() const { return &forKernels_; }

 private:
  const std::string instructionSet_;
  const std::vector<const SaccadeKernel*> kernels_;
  // In the same order.
  const std::vector<KernelForm> forms_;
  ThreadPool pool_;
  Scratch scratch_;
  SaccadeRuntime forKernels_;
};

}  // namespace saccade
