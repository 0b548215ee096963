// A kernel's form: what a launch is checked against, whatever it runs on.
#pragma once

#include <array>
#include <vector>

#include "kernel.h"
#include "signature.h"

namespace saccade {

struct KernelForm {
  const char* id;
  // As the kernel has it, and read.
  const char* text;
  Signature signature;
  // By storage type, whether there is a function.
  std::array<bool, SACCADE_STORAGES> forward;
  std::array<bool, SACCADE_STORAGES> backward;
};

// The names of the storage types.
constexpr const char* STORAGE_NAMES[SACCADE_STORAGES] = {"f32", "bf16", "f16"};

// The forms of kernels of the processor or of a device.
template <class Kernel>
std::vector<KernelForm> formsOf(const std::vector<const Kernel*>& kernels) {
  std::vector<KernelForm> forms;
  for (const Kernel* kernel : kernels) {
    KernelForm form{kernel->id, kernel->signature, readSignature(kernel->signature), {}, {}};
    for (size_t storage = 0; storage < SACCADE_STORAGES; storage++) {
      form.forward[storage] = kernel->forward[storage] != nullptr;
      form.backward[storage] = kernel->backward[storage] != nullptr;
    }
    forms.push_back(form);
  }
  return forms;
}

}  // namespace saccade
