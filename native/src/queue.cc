// See queue.h. A batch of tasks changes hands under one lock, so queueing costs the owner a fraction
// of a microsecond, and task objects go round, so it allocates nothing once a step has been seen.
#include "queue.h"

#include <cstring>
#include <new>
#include <utility>

#include "allocate.h"
#include "spin.h"

namespace saccade {
namespace {

// The owner prepares a launch in 5 to 10 µs; waking a sleeping thread costs it about as much again.
constexpr auto SPIN = std::chrono::microseconds(30);
// A task keeps room for writes of this size; a rare giant gives its memory back.
constexpr size_t MOST_STAGED = 1 << 16;

}  // namespace

Queue::Queue(Runtime& runtime, void (*onPassed)(void*), void* context)
    : runtime_(runtime), onPassed_(onPassed), context_(context) {}

Queue::Ticket Queue::launch(LaunchRequest& request) {
  std::unique_ptr<Task> task = spare(Task::Kind::launch);
  std::swap(task->request, request);
  return push(std::move(task));
}

Queue::Ticket Queue::write(uint8_t* to, const uint8_t* from, size_t bytes) {
  std::unique_ptr<Task> task = spare(Task::Kind::copy);
  task->staged.assign(from, from + bytes);
  task->to = to;
  task->from = task->staged.data();
  task->bytes = bytes;
  return push(std::move(task));
}

Queue::Ticket Queue::read(uint8_t* to, const uint8_t* from, size_t bytes, void* mark) {
  std::unique_ptr<Task> task = spare(Task::Kind::copy);
  task->to = to;
  task->from = from;
  task->bytes = bytes;
  task->mark = mark;
  return push(std::move(task));
}

void Queue::release(uint8_t* memory) {
  std::unique_ptr<Task> task = spare(Task::Kind::release);
  task->to = memory;
  push(std::move(task));
}

void Queue::resume(const Failure& reported) {
  if (reported == lastReported_ || isStopping_.load()) return;
  lastReported_ = reported;
  // Launches queued before anyone knew of the failure are skipped; the place of this task ends that.
  push(spare(Task::Kind::resume));
}

std::unique_ptr<Queue::Task> Queue::spare(Task::Kind kind) {
  if (spares_.empty()) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(spares_, done_);
  }
  std::unique_ptr<Task> task;
  if (spares_.empty()) {
    task = std::make_unique<Task>();
  } else {
    task = std::move(spares_.back());
    spares_.pop_back();
  }
  task->kind = kind;
  task->mark = nullptr;
  return task;
}

Queue::Ticket Queue::push(std::unique_ptr<Task> task) {
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  const Ticket ticket = queued_.load(std::memory_order_relaxed) + 1;
  bool wasSleeping = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    incoming_.push_back(std::move(task));
    queued_.store(ticket, std::memory_order_release);
    wasSleeping = std::exchange(isSleeping_, false);
  }
  if (wasSleeping) wake_.notify_one();
  return ticket;
}

void Queue::takePassed(std::vector<Passed>& into) {
  into.clear();
  std::lock_guard<std::mutex> lock(mutex_);
  std::swap(into, announced_);
}

void Queue::settle() {
  std::unique_lock<std::mutex> lock(mutex_);
  settled_.wait(lock, [this] { return isIdle(); });
}

void Queue::stop() {
  if (!thread_.joinable()) return;
  isStopping_.store(true);
  {
    // Taking the lock orders this with the thread between its last look and its sleep.
    std::lock_guard<std::mutex> lock(mutex_);
  }
  wake_.notify_one();
  thread_.join();
  for (Tasks* tasks : {&batch_, &incoming_}) {
    for (size_t i = tasks == &batch_ ? next_ : 0; i < tasks->size(); i++) {
      Task& task = *(*tasks)[i];
      if (task.kind == Task::Kind::release) deallocate(task.to);
      if (task.mark) announced_.push_back({task.mark, true, nullptr});
    }
    tasks->clear();
  }
  next_ = 0;
  passed_.store(queued_.load());
}

void Queue::work() {
  while (takeBatch()) {
    for (; next_ < batch_.size(); next_++) {
      if (isStopping_.load()) return;
      Task& task = *batch_[next_];
      perform(task);
      if (!task.mark) {
        passed_.fetch_add(1, std::memory_order_release);
        continue;
      }
      // Once the count is up the queue may be idle, and then the failure is the owner's.
      Passed passed{task.mark, false, failure_};
      passed_.fetch_add(1, std::memory_order_release);
      announce(std::move(passed));
    }
  }
}

// Gives the finished tasks back and waits for new ones; false when stopping.
bool Queue::takeBatch() {
  const auto hasWork = [this] {
    return isStopping_.load() ||
           queued_.load(std::memory_order_acquire) != passed_.load(std::memory_order_relaxed);
  };
  const bool isEarly = spinUntil(hasWork, SPIN);
  std::unique_lock<std::mutex> lock(mutex_);
  if (!isEarly && !hasWork()) {
    settled_.notify_all();
    isSleeping_ = true;
    wake_.wait(lock, hasWork);
    isSleeping_ = false;
  }
  if (done_.empty()) {
    std::swap(done_, batch_);
  } else {
    for (std::unique_ptr<Task>& task : batch_) done_.push_back(std::move(task));
    batch_.clear();
  }
  next_ = 0;
  std::swap(batch_, incoming_);
  return !isStopping_.load();
}

void Queue::perform(Task& task) {
  switch (task.kind) {
    case Task::Kind::launch:
      if (failure_) return;
      try {
        run(runtime_, task.request);
      } catch (const std::exception& error) {
        failure_ = std::make_shared<const Fault>(Fault{error.what(), "", false});
      }
      return;
    case Task::Kind::copy:
      if (task.bytes > 0) std::memcpy(task.to, task.from, task.bytes);
      if (task.staged.capacity() > MOST_STAGED) std::vector<uint8_t>().swap(task.staged);
      return;
    case Task::Kind::release:
      deallocate(task.to);
      return;
    case Task::Kind::resume:
      failure_ = nullptr;
      return;
  }
}

// One call of onPassed for all marks that nobody has taken yet.
void Queue::announce(Passed passed) {
  bool isFirst = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isFirst = announced_.empty();
    announced_.push_back(std::move(passed));
  }
  if (isFirst) onPassed_(context_);
}

}  // namespace saccade
