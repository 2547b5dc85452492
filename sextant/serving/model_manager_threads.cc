#include <algorithm>
#include <utility>

#include "sextant/base/logging.h"
#include "sextant/base/thread_scheduling.h"
#include "sextant/serving/heap_trimmer.h"
#include "sextant/serving/model_manager_state.h"

namespace sextant::serving {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

// ---- the thread that looks and decides

void ModelManager::State::PollLoop() {
  bool first = true;
  Lock lock(mutex_);
  while (!stopping_) {
    const int64_t asked = polls_asked_;
    PollAll(lock);
    if (std::exchange(first, false)) YieldToOthers();
    polls_done_ = std::max(polls_done_, asked);
    wake_.notify_all();
    const auto again = [&] { return stopping_ || polls_asked_ > polls_done_; };
    // What may still be changing is looked at again, whatever the interval.
    bool unsettled = false;
    for (const auto& [name, model] : models_) unsettled = unsettled || model->unsettled;
    if (options_.poll.count() > 0) {
      wake_.wait_for(lock, options_.poll, again);
    } else if (unsettled) {
      wake_.wait_for(lock, options_.settle, again);
    } else {
      wake_.wait(lock, again);
    }
  }
}

void ModelManager::State::PollAll(Lock& lock) {
  const auto models = models_;
  for (const auto& [name, model] : models) {
    const VersionPolicy policy = model->config.policy;
    const auto failing = model->Failing();
    std::vector<SavedModelVersion> found;
    std::string error;
    lock.unlock();
    try {
      found = model->source.Poll(policy, failing);
    } catch (const Error& e) {
      error = e.message();
    }
    lock.lock();
    if (stopping_) return;
    if (!error.empty() && error != model->poll_error) LogWarning("model '{}': {}", name, error);
    model->poll_error = error;
    // What cannot be seen for a moment is not taken away.
    if (!model->removed && !found.empty()) model->Take(found);
    model->unsettled = model->source.unsettled();
    model->polled = model->polled || !model->unsettled;
    DropOldLocked(model);
  }
}

void ModelManager::State::DropOldLocked(const std::shared_ptr<ModelVersions>& model) {
  if (model->removed) return;
  const std::vector<int64_t> dropped = model->DropOld();
  if (dropped.empty()) return;
  for (const int64_t version : dropped) unloading_.emplace_back(model, version);
  PublishLocked();
  wake_.notify_all();
}

// ---- the thread that loads

std::optional<ModelManager::State::Job> ModelManager::State::NextLoadLocked() {
  for (const auto& [name, model] : models_) {
    const std::optional<int64_t> version = model->NextLoad();
    if (!version) continue;
    const VersionEntry& entry = model->versions[*version];
    return Job{model, *version, entry.path, entry.cancellation};
  }
  return std::nullopt;
}

void ModelManager::State::LoadLoop() {
  // Before anything is served there is nobody to yield to. That load also starts the team of
  // threads, which would inherit a low priority and keep it for all requests.
  bool yields = false;
  Lock lock(mutex_);
  while (!stopping_) {
    if (const auto job = NextLoadLocked()) {
      if (!yields && counts_.loads > 0) {
        YieldToOthers();
        yields = true;
      }
      Load(*job, lock);
      continue;
    }
    wake_.wait_for(lock, std::chrono::milliseconds(200));
  }
}

void ModelManager::State::Load(const Job& job, Lock& lock) {
  const std::string name = job.model->config.name;
  std::shared_ptr<const Servable> servable;
  Status status;
  lock.unlock();
  const auto begun = SteadyClock::now();
  try {
    servable =
        Servable::Load(name, job.version, job.path, options_.servable, job.cancellation.get());
  } catch (...) {
    status = CurrentStatus();
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begun).count();
  lock.lock();
  VersionEntry& entry = job.model->versions[job.version];
  entry.cancellation.reset();
  if (stopping_ || job.model->removed) {
    entry.status.state = VersionState::kEnd;
    return;
  }
  if (servable != nullptr) {
    LogInfo("model '{}', version {}: loaded in {:.2f} s; {}", name, job.version, seconds,
            servable->warm_up());
    entry.status.warm_up = servable->warm_up();
    entry.servable = std::move(servable);
    entry.status.state = VersionState::kAvailable;
    entry.status.status = Status();
    ++counts_.loads;
    PublishLocked();
    DropOldLocked(job.model);
  } else {
    ++counts_.failed_loads;
    entry.status.status = status;
    const bool again = entry.attempts++ < options_.max_load_retries;
    entry.status.state = again ? VersionState::kStart : VersionState::kEnd;
    entry.next_attempt = SteadyClock::now() + options_.retry_interval;
    ++polls_asked_;  // an older version may have to take its place
    LogWarning("model '{}', version {}, does not load: {}{}", name, job.version, status.message(),
               again ? "; it is tried again" : "");
    DropOldLocked(job.model);
  }
  wake_.notify_all();
  if (changed_) {
    lock.unlock();
    changed_();
    lock.lock();
  }
}

// ---- the thread that frees

void ModelManager::State::FreeLoop() {
  YieldToOthers();
  HeapTrimmer heap;
  Lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    heap.TrimIfGrown();
    lock.lock();
    bool freed = false;
    for (auto item = unloading_.begin(); item != unloading_.end();) {
      VersionEntry& entry = item->first->versions[item->second];
      if (entry.servable.use_count() > 1) {  // a request, or an old table, holds it
        ++item;
        continue;
      }
      auto servable = std::move(entry.servable);
      const auto model = item->first;
      const int64_t version = item->second;
      item = unloading_.erase(item);
      lock.unlock();
      // Large blocks go back at once, and small ones serve the next load. Trimming them for every
      // version would hold up requests: they wait for the heaps while it goes on.
      servable.reset();
      LogInfo("model '{}', version {}: unloaded", model->config.name, version);
      lock.lock();
      model->versions[version].status.state = VersionState::kEnd;
      ++counts_.unloads;
      freed = true;
      break;  // the list may have changed
    }
    if (freed) {
      wake_.notify_all();
      continue;
    }
    if (stopping_) break;
    wake_.wait_for(lock,
                   unloading_.empty() ? HeapTrimmer::kInterval : std::chrono::milliseconds(10));
  }
}

}  // namespace sextant::serving
