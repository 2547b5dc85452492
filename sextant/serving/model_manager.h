// ModelManager: loads the versions of models that there are on disk, and unloads those that are not
// wanted any more, while requests use them.
//
// A version goes START → LOADING → AVAILABLE → UNLOADING → END; one that fails ends with the error
// in its status, after some attempts. A new version is loaded before an old one is dropped, and
// what serves is not dropped for one that does not load. Loading and unloading have threads of
// their own, at a low priority; a version is freed by none that serves requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/serving/model_config.h"
#include "sextant/serving/servable.h"

namespace sextant::serving {

enum class VersionState { kStart = 10, kLoading = 20, kAvailable = 30, kUnloading = 40, kEnd = 50 };
// "AVAILABLE"
const char* VersionStateName(VersionState state);

struct VersionStatus {
  int64_t version = 0;
  VersionState state = VersionState::kStart;
  Status status;        // why it ended
  std::string warm_up;  // what was done before it was used
};

// Which version is asked for. Neither: by the traffic split or, without one, the newest.
struct VersionChoice {
  std::optional<int64_t> version = {};
  std::string_view label = {};
  std::string_view sticky_key = {};  // the same key goes to the same version of a split
};

struct ModelManagerOptions {
  ServableOptions servable = {};
  // How often the directories are looked at; 0: once, less than 0: only by PollNow.
  std::chrono::milliseconds poll{1000};
  std::chrono::milliseconds settle{2000};  // see VersionSource
  int max_load_retries = 5;
  std::chrono::milliseconds retry_interval{60000};
  bool labels_for_unavailable = false;  // labels may name versions that are not loaded yet
};

class ModelManager {
 public:
  // "changed" is called after every change of what is available, on a thread of the manager.
  explicit ModelManager(const ModelManagerOptions& options, std::function<void()> changed = {});
  // Cancels loads. Handles may outlive it.
  ~ModelManager();
  ModelManager(const ModelManager&) = delete;
  ModelManager& operator=(const ModelManager&) = delete;

  // Serves these models from now on, and no others. All or nothing: throws INVALID_ARGUMENT, and
  // changes nothing, for configurations that contradict themselves, NOT_FOUND for a base path that
  // is not there, FAILED_PRECONDITION for labels of versions that are not available (those of new
  // models excepted).
  void SetModels(const std::vector<ModelConfig>& models);
  std::vector<ModelConfig> models() const;

  // Throws NOT_FOUND when there is no such model or version, UNAVAILABLE while it is loading.
  std::shared_ptr<const Servable> Find(std::string_view model, const VersionChoice& choice) const;
  // All versions, the newest first, or the one chosen. Throws NOT_FOUND.
  std::vector<VersionStatus> StatusOf(std::string_view model, const VersionChoice& choice) const;

  // "" when every model has a version to answer with, else what is missing.
  std::string NotReady() const;
  // Waits until NotReady() is "" or a load has failed for good. False after "limit".
  bool WaitUntilReady(std::chrono::milliseconds limit) const;
  // Looks at the directories now, and waits until what was found is loaded or failed.
  void PollNow();

  struct Counts {
    int64_t loads = 0, failed_loads = 0, unloads = 0;  // since the start
  };
  Counts counts() const;
  // What is loaded, for metrics.
  std::vector<std::shared_ptr<const Servable>> loaded() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
