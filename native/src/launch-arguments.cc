#include "launch-arguments.h"

#include <cmath>
#include <string>

namespace saccade {
namespace {

constexpr int64_t MOST_ARGUMENTS = 256;

// An address for operands of zero bytes: present, never read.
alignas(64) uint8_t nothing[64];

int64_t countAt(const Napi::CallbackInfo& info, size_t i) {
  const double value = numberAt(info, i);
  return value >= 0 && value <= MOST_ARGUMENTS ? static_cast<int64_t>(value) : -1;
}

Napi::Array storagesOf(Napi::Env env, const std::array<bool, SACCADE_STORAGES>& has) {
  Napi::Array names = Napi::Array::New(env);
  for (size_t storage = 0; storage < SACCADE_STORAGES; storage++) {
    if (has[storage]) names.Set(names.Length(), STORAGE_NAMES[storage]);
  }
  return names;
}

}  // namespace

double numberAt(const Napi::CallbackInfo& info, size_t i) {
  return info.Length() > i && info[i].IsNumber() ? info[i].As<Napi::Number>().DoubleValue() : NAN;
}

Napi::Value LaunchArguments::array(Napi::Env env) {
  if (array_.IsEmpty()) {
    const Napi::Float64Array array = Napi::Float64Array::New(env, MOST_ARGUMENTS);
    array_ = Napi::Persistent(array);
    data_ = array_.Value().Data();
  }
  return array_.Value();
}

LaunchRequest& LaunchArguments::read(const Napi::CallbackInfo& info, MemoryTable& memories) {
  const Napi::Env env = info.Env();
  const int64_t storage = countAt(info, 2), operands = countAt(info, 3), dims = countAt(info, 4),
                scalars = countAt(info, 5);
  if (info.Length() != 6 || !info[0].IsNumber() || !info[1].IsBoolean() || storage < 0 ||
      operands < 0 || dims < 0 || scalars < 0) {
    throw Napi::TypeError::New(env, "launch takes a kernel index, a boolean, a storage type and "
                                    "three counts.");
  }
  if (!data_ || 3 * operands + dims + scalars > MOST_ARGUMENTS) {
    throw Napi::RangeError::New(env, "launch takes at most " + std::to_string(MOST_ARGUMENTS) +
                                         " numbers, written to arguments() first.");
  }
  request_.kernel = info[0].As<Napi::Number>().Int32Value();
  request_.backward = info[1].As<Napi::Boolean>();
  request_.storage = static_cast<int32_t>(storage);
  operands_ = operands;
  const double* next = data_;
  request_.operands.clear();
  for (int64_t i = 0; i < operands; i++, next += 3) {
    request_.operands.push_back(memoryOf(env, memories, next, i));
  }
  request_.dims.clear();
  for (int64_t i = 0; i < dims; i++, next++) {
    if (!(*next >= 0 && *next < 1e15) || *next != std::floor(*next)) {
      throw Napi::RangeError::New(env, "dims must be non-negative integers.");
    }
    request_.dims.push_back(static_cast<int64_t>(*next));
  }
  request_.scalars.assign(next, next + scalars);
  return request_;
}

void LaunchArguments::noteUse(MemoryTable& memories, uint64_t ticket) const {
  for (const double* id = data_; id < data_ + 3 * operands_; id += 3) {
    if (Memory* memory = memories.find(*id)) memory->lastUse = ticket;
  }
}

OperandMemory LaunchArguments::memoryOf(Napi::Env env, MemoryTable& memories,
                                        const double* numbers, int64_t i) {
  const double id = numbers[0], offset = numbers[1], length = numbers[2];
  if (id == -1) return {};
  const auto name = [i] { return "operand " + std::to_string(i); };
  const Memory* memory = memories.find(id);
  if (!memory) {
    throw Napi::RangeError::New(env,
                                name() + " is in no memory of this Runtime. Allocate it here.");
  }
  const double available = static_cast<double>(memory->bytes);
  if (!(offset >= 0 && length >= 0 && offset + length <= available) ||
      offset != std::floor(offset) || length != std::floor(length)) {
    throw Napi::RangeError::New(env, name() + " reaches beyond its memory of " +
                                         std::to_string(memory->bytes) + " bytes.");
  }
  OperandMemory operand;
  operand.present = true;
  operand.bytes = static_cast<int64_t>(length);
  operand.data = operand.bytes == 0 ? nothing : memory->data + static_cast<size_t>(offset);
  return operand;
}

Memory& rangeAt(const Napi::CallbackInfo& info, MemoryTable& memories, double length) {
  Memory* memory = memories.find(numberAt(info, 0));
  const double offset = numberAt(info, 1);
  if (!memory || !(offset >= 0 && length >= 0) || offset != std::floor(offset) ||
      length != std::floor(length) || offset + length > static_cast<double>(memory->bytes)) {
    throw Napi::RangeError::New(info.Env(),
                                "read and write take the id of memory not yet released, and "
                                "bytes that lie inside it.");
  }
  return *memory;
}

Napi::Value kernelList(Napi::Env env, const std::vector<KernelForm>& kernels) {
  Napi::Array list = Napi::Array::New(env, kernels.size());
  for (size_t i = 0; i < kernels.size(); i++) {
    Napi::Object kernel = Napi::Object::New(env);
    kernel.Set("id", kernels[i].id);
    kernel.Set("signature", kernels[i].text);
    kernel.Set("forward", storagesOf(env, kernels[i].forward));
    kernel.Set("backward", storagesOf(env, kernels[i].backward));
    list.Set(static_cast<uint32_t>(i), kernel);
  }
  return list;
}

Napi::Value listOf(Napi::Env env, const std::vector<std::string>& names) {
  Napi::Array list = Napi::Array::New(env, names.size());
  for (size_t i = 0; i < names.size(); i++) list.Set(static_cast<uint32_t>(i), names[i]);
  return list;
}

}  // namespace saccade
