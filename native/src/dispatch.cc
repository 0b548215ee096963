#include "dispatch.h"

#include <new>
#include <stdexcept>

namespace saccade {
namespace {

// No array of this many elements exists; a product of dims beyond it is a mistake, not a size.
constexpr int64_t MOST_ELEMENTS = int64_t{1} << 46;

std::string count(int64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

int64_t elementsOf(const OperandRule& rule, const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (const int32_t axis : rule.axes) {
    const int64_t dim = dims[static_cast<size_t>(axis)];
    if (dim != 0 && elements > MOST_ELEMENTS / dim) {
      throw std::invalid_argument(rule.name +
                                  " would have more than 2^46 elements. Check the dims.");
    }
    elements *= dim;
  }
  return elements;
}

int64_t elementBytesOf(const OperandRule& rule, int32_t storage) {
  if (!rule.isStored || storage == SACCADE_F32) return 4;
  return storage == SACCADE_MIXED && !rule.isWeight ? 4 : 2;
}

void checkOperand(const std::string& id, const OperandRule& rule, const OperandMemory& memory,
                  const LaunchRequest& request) {
  if (!memory.present) {
    if (rule.mayBeAbsent) return;
    throw std::invalid_argument(id + ": operand '" + rule.name + "' is missing. Pass its memory.");
  }
  const int64_t elementBytes = elementBytesOf(rule, request.storage);
  const int64_t bytes = elementsOf(rule, request.dims) * elementBytes;
  if (memory.bytes != bytes) {
    throw std::invalid_argument(id + ": operand '" + rule.name + "' needs " + count(bytes, "byte") +
                                " for these dims, got " + std::to_string(memory.bytes) +
                                ". Pass a view of exactly that length.");
  }
  if (reinterpret_cast<uintptr_t>(memory.data) % static_cast<uintptr_t>(elementBytes) != 0) {
    throw std::invalid_argument(id + ": operand '" + rule.name +
                                "' is not aligned to its elements. Use an offset divisible by " +
                                std::to_string(elementBytes) + ".");
  }
  if (rule.inPlaceOf >= 0) {
    const OperandMemory& shared = request.operands[static_cast<size_t>(rule.inPlaceOf)];
    if (shared.data != memory.data) {
      throw std::invalid_argument(id + ": output '" + rule.name + "' is updated in place. " +
                                  "Pass the memory of the input it updates.");
    }
  }
}

void expectCount(const std::string& id, const char* noun, size_t expected, size_t got,
                 const char* remedy) {
  if (expected == got) return;
  throw std::invalid_argument(id + " takes " + count(static_cast<int64_t>(expected), noun) +
                              ", got " + std::to_string(got) + ". " + remedy);
}

bool overlap(const OperandMemory& a, const OperandMemory& b) {
  return a.present && b.present && a.bytes > 0 && b.bytes > 0 && a.data < b.data + b.bytes &&
         b.data < a.data + a.bytes;
}

// A kernel may write an output while it still reads inputs, so they must be apart.
void checkOverlap(const std::string& id, const std::vector<OperandRule>& rules,
                  const std::vector<OperandMemory>& operands) {
  for (size_t i = 0; i < rules.size(); i++) {
    if (!rules[i].written) continue;
    for (size_t j = 0; j < rules.size(); j++) {
      const bool shared = rules[i].inPlaceOf == static_cast<int32_t>(j);
      if (j == i || shared || !overlap(operands[i], operands[j])) continue;
      throw std::invalid_argument(id + ": output '" + rules[i].name + "' overlaps '" +
                                  rules[j].name + "'. Give the output its own memory.");
    }
  }
}

}  // namespace

void check(const std::vector<KernelForm>& kernels, LaunchRequest& request) {
  if (request.kernel < 0 || static_cast<size_t>(request.kernel) >= kernels.size()) {
    throw std::invalid_argument("kernel " + std::to_string(request.kernel) + " does not exist; " +
                                count(static_cast<int64_t>(kernels.size()), "kernel") +
                                " are built. Ask kernels() for their indices.");
  }
  const KernelForm& entry = kernels[static_cast<size_t>(request.kernel)];
  const std::string id = entry.id;
  if (request.storage >= SACCADE_STORAGES) {
    throw std::invalid_argument("storage type " + std::to_string(request.storage) +
                                " does not exist. Pass 0 for f32, 1 for bf16, 2 for f16 or 3 for "
                                "f32 with weights in bf16.");
  }
  request.id = entry.id;
  const auto& storages = request.backward ? entry.backward : entry.forward;
  if (!storages[static_cast<size_t>(request.storage)]) {
    throw std::invalid_argument(id + " has no " + (request.backward ? "backward" : "forward") +
                                " in this storage type. Ask kernels() for what it has.");
  }
  const auto& rules = request.backward ? entry.signature.backward : entry.signature.forward;
  expectCount(id, "operand", rules.size(), request.operands.size(),
              "Pass them in declared order, absent ones included.");
  expectCount(id, "dim", entry.signature.axes.size(), request.dims.size(),
              "Pass one per axis letter.");
  expectCount(id, "scalar", entry.signature.scalars.size(), request.scalars.size(),
              "Pass them in declared order.");
  for (size_t i = 0; i < request.dims.size(); i++) {
    if (request.dims[i] < 0 || request.dims[i] > MOST_ELEMENTS) {
      throw std::invalid_argument(id + ": dim " + entry.signature.axes[i] + " is " +
                                  std::to_string(request.dims[i]) + ". Pass a length.");
    }
  }
  request.pointers.resize(rules.size());
  for (size_t i = 0; i < rules.size(); i++) {
    checkOperand(id, rules[i], request.operands[i], request);
    request.pointers[i] = request.operands[i].present ? request.operands[i].data : nullptr;
  }
  checkOverlap(id, rules, request.operands);
}

void run(Runtime& runtime, const LaunchRequest& request) {
  char error[SACCADE_ERROR_CHARS] = "";
  const SaccadeLaunch arguments{request.pointers.data(), request.dims.data(),
                                request.scalars.data(), runtime.forKernels(), error};
  const SaccadeKernel& kernel = *runtime.kernels()[static_cast<size_t>(request.kernel)];
  const SaccadeRun run = (request.backward ? kernel.backward : kernel.forward)[request.storage];
  int refused = 0;
  try {
    runtime.scratch().reset();
    refused = run(&arguments);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(std::string(request.id) +
                             ": out of memory for the kernel's workspace. Use smaller batches.");
  }
  if (refused != 0) throw std::runtime_error(std::string(request.id) + ": " + error);
}

}  // namespace saccade
