#include "readback-queue.h"

#include <utility>

namespace saccade {

uint32_t faultNumber(int32_t kernel, bool backward) {
  return 1 + 2 * static_cast<uint32_t>(kernel) + (backward ? 1 : 0);
}

// The sentence is that of checkIndices in kernels/cpu/parts/kernel-entry.h.
std::string faultInWords(const DeviceLibrary& library, const SaccadeFault& fault) {
  const size_t kernel = (fault.launch - 1) / 2;
  const bool isBackward = (fault.launch - 1) % 2 == 1;
  if (kernel >= library.forms().size()) return "A kernel found an index out of range.";
  const KernelForm& form = library.forms()[kernel];
  const auto& rules = isBackward ? form.signature.backward : form.signature.forward;
  const size_t operand = static_cast<size_t>(fault.operand);
  const std::string name = operand < rules.size() ? rules[operand].name : "an operand";
  return std::string(form.id) + ": " + name + "[" + std::to_string(fault.index) + "] is " +
         std::to_string(fault.value) + "; expected at least " + std::to_string(fault.lowest) +
         " and below " + std::to_string(fault.bound) + ". Check the indices.";
}

ReadbackQueue::ReadbackQueue(const DeviceLibrary& library, SaccadeDeviceQueue* device,
                             void (*onPassed)(void* context), void* context)
    : library_(library), device_(device), onPassed_(onPassed), context_(context) {}

MarkedQueue::Ticket ReadbackQueue::read(uint8_t* to, const uint8_t* from, size_t bytes,
                                        void* mark) {
  SaccadeReadback* readback = nullptr;
  expectDone([&](SaccadeFailure* failure) {
    return library_.functions().read(device_, from, static_cast<int64_t>(bytes), &readback,
                                     failure);
  });
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  const Ticket ticket = ++queued_;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waits_.push_back({readback, to, mark, ticket, cleared_});
  }
  wake_.notify_one();
  return ticket;
}

bool ReadbackQueue::isIdle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return passedTicket_ == queued_;
}

void ReadbackQueue::takePassed(std::vector<Passed>& into) {
  into.clear();
  std::lock_guard<std::mutex> lock(mutex_);
  std::swap(into, passed_);
}

void ReadbackQueue::resume(const Failure& reported) {
  // A driver's error is no fault of a kernel.
  if (reported == lastReported_ || !reported->driver.empty()) return;
  lastReported_ = reported;
  cleared_++;
  SaccadeFailure failure{};
  // A device that is lost says so at the next call.
  library_.functions().clearFault(device_, &failure);
}

void ReadbackQueue::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isStopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  for (const Wait& wait : waits_) {
    library_.functions().drop(device_, wait.readback);
    passed_.push_back({wait.mark, true, nullptr});
  }
  waits_.clear();
  passedTicket_ = queued_;
}

void ReadbackQueue::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return isStopping_ || !waits_.empty(); });
    if (isStopping_) return;
    const Wait wait = waits_.front();
    waits_.pop_front();
    lock.unlock();
    Failure failure = finish(wait);
    lock.lock();
    const bool isFirst = passed_.empty();
    // Whoever stopped the queue in the meantime has given the wait up, though its bytes are here.
    passed_.push_back({wait.mark, isStopping_, std::move(failure)});
    passedTicket_ = wait.ticket;
    if (!isFirst) continue;
    lock.unlock();
    onPassed_(context_);
    lock.lock();
  }
}

MarkedQueue::Failure ReadbackQueue::finish(const Wait& wait) {
  SaccadeFault found{};
  try {
    expectDone([&](SaccadeFailure* failure) {
      return library_.functions().finish(device_, wait.readback, wait.to, &found, failure);
    });
  } catch (const DeviceError& error) {
    return std::make_shared<const Fault>(error.fault);
  }
  if (found.launch == 0) return nullptr;
  // Until it is cleared on the stream, all waits find the same one.
  if (!fault_ || faultCleared_ != wait.cleared) {
    fault_ = std::make_shared<const Fault>(Fault{faultInWords(library_, found), "", false});
    faultCleared_ = wait.cleared;
  }
  return fault_;
}

}  // namespace saccade
