// A library of kernels for a device, opened when it is asked for.
#pragma once

#include <string>
#include <vector>

#include "../cuda/library.h"
#include "kernel-form.h"
#include "marked-queue.h"

namespace saccade {

class DeviceLibrary {
 public:
  // The same library for the same path; it stays open until the process ends.
  // Throws std::runtime_error with the loader's words.
  static const DeviceLibrary& open(const std::string& path);

  const SaccadeDeviceLibrary& functions() const { return functions_; }
  const std::vector<const SaccadeDeviceKernel*>& kernels() const { return kernels_; }
  // In the same order.
  const std::vector<KernelForm>& forms() const { return forms_; }

 private:
  explicit DeviceLibrary(const SaccadeDeviceLibrary& functions);

  const SaccadeDeviceLibrary& functions_;
  const std::vector<const SaccadeDeviceKernel*> kernels_;
  const std::vector<KernelForm> forms_;
};

// The error of a library call that failed.
struct DeviceError {
  SaccadeOutcome outcome;
  Fault fault;
};

// Calls a function of a library; throws a DeviceError unless it is done.
template <class Call>
void expectDone(const Call& call) {
  SaccadeFailure failure{};
  const SaccadeOutcome outcome = call(&failure);
  if (outcome == SACCADE_DONE) return;
  throw DeviceError{outcome, {failure.message, failure.driver, outcome == SACCADE_LOST}};
}

}  // namespace saccade
