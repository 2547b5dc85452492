// ModelManager::State: the tables of a ModelManager and its three threads. Inside of it.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sextant/serving/model_manager.h"
#include "sextant/serving/model_versions.h"
#include "sextant/serving/servable_table.h"

namespace sextant::serving {

// Three threads: one looks at directories and decides, one loads, one frees. All share mutex_;
// files are read and models loaded and freed without it.
class ModelManager::State {
 public:
  State(const ModelManagerOptions& options, std::function<void()> changed)
      : options_(options),
        changed_(std::move(changed)),
        table_(std::make_shared<const ServableTable>()) {
    poller_ = std::thread([this] { PollLoop(); });
    loader_ = std::thread([this] { LoadLoop(); });
    freer_ = std::thread([this] { FreeLoop(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (auto& [name, model] : models_) model->CancelLoads();
    }
    wake_.notify_all();
    poller_.join();
    loader_.join();
    freer_.join();
  }

  void SetModels(const std::vector<ModelConfig>& configs);
  std::vector<ModelConfig> models() const;
  std::shared_ptr<const ServableTable> table() const {
    const std::lock_guard lock(table_mutex_);
    return table_;
  }
  std::shared_ptr<const Servable> Find(std::string_view name, const VersionChoice& choice) const;
  std::vector<VersionStatus> StatusOf(std::string_view name, const VersionChoice& choice) const;
  std::string NotReady() const {
    const std::lock_guard lock(mutex_);
    return NotReadyLocked();
  }
  bool WaitUntilReady(std::chrono::milliseconds limit) const;
  void PollNow();
  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Job {
    std::shared_ptr<ModelVersions> model;
    int64_t version = 0;
    std::string path;
    std::shared_ptr<CancellationToken> cancellation;
  };

  void PollLoop();
  void LoadLoop();
  void FreeLoop();
  void PollAll(Lock& lock);
  // Drops versions that are not wanted and may go.
  void DropOldLocked(const std::shared_ptr<ModelVersions>& model);
  std::optional<Job> NextLoadLocked();
  void Load(const Job& job, Lock& lock);
  void PublishLocked();
  std::string NotReadyLocked() const;
  bool IdleLocked() const;
  const ModelVersions& FindModelLocked(std::string_view name) const;

  const ModelManagerOptions options_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  std::map<std::string, std::shared_ptr<ModelVersions>, std::less<>> models_;
  std::vector<std::pair<std::shared_ptr<ModelVersions>, int64_t>> unloading_;
  bool stopping_ = false;
  int64_t polls_asked_ = 0, polls_done_ = 0;
  Counts counts_;
  mutable std::mutex table_mutex_;
  std::shared_ptr<const ServableTable> table_;
  std::thread poller_, loader_, freer_;
};

}  // namespace sextant::serving
