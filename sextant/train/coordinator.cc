#include "sextant/train/coordinator.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace sextant::train {

Coordinator::~Coordinator() {
  RequestStop();
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void Coordinator::RequestStop(const Status& failure) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_clean = std::find(clean_.begin(), clean_.end(), failure.code()) != clean_.end();
    if (!stop_.cancelled() && !failure.ok() && !is_clean && failure_.ok()) failure_ = failure;
  }
  stop_.Cancel(Status(Code::kCancelled, "the coordinator asked to stop"));
  { const std::lock_guard lock(mutex_); }  // nobody is between a test of stop_ and its wait
  changed_.notify_all();
}

bool Coordinator::WaitForStop(std::optional<std::chrono::milliseconds> timeout) {
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stop_.cancelled(); };
  if (timeout) return changed_.wait_for(lock, *timeout, stopped);
  changed_.wait(lock, stopped);
  return true;
}

void Coordinator::Start(std::string name, std::function<void()> body) {
  const std::lock_guard lock(mutex_);
  Worker& worker = workers_.emplace_back();
  worker.name = std::move(name);
  worker.thread = std::thread([this, &worker, body = std::move(body)] {
    try {
      body();
    } catch (...) {
      RequestStop(CurrentStatus());
    }
    const std::lock_guard ended(mutex_);
    worker.ended = true;
    changed_.notify_all();
  });
}

bool Coordinator::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.ended; });
}

void Coordinator::Join(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return AllEnded() || stop_.cancelled(); });
  changed_.wait_for(lock, grace, [this] { return AllEnded(); });
  std::vector<std::string> running;
  for (const Worker& worker : workers_) {
    if (!worker.ended) running.push_back(worker.name);
  }
  failure_.ThrowIfError();
  if (!running.empty()) {
    throw Error(
        Code::kDeadlineExceeded,
        fmt::format("threads still run {:.3g} s after they were asked to stop: {}",
                    std::chrono::duration<double>(grace).count(), fmt::join(running, ", ")));
  }
}

}  // namespace sextant::train
