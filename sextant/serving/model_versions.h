// ModelVersions: the versions of one model and what becomes of them. Inside of ModelManager, which
// guards it by its mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/version_source.h"

namespace sextant::serving {

struct VersionEntry {
  VersionStatus status;
  std::string path;
  uint64_t fingerprint = 0;
  bool wanted = true;
  int attempts = 0;
  std::chrono::steady_clock::time_point next_attempt = {};
  std::shared_ptr<const Servable> servable;
  std::shared_ptr<CancellationToken> cancellation;  // of the load

  bool loading() const {
    return status.state == VersionState::kStart || status.state == VersionState::kLoading;
  }
  bool available() const { return status.state == VersionState::kAvailable; }
};

struct ModelVersions {
  ModelVersions(ModelConfig model, std::chrono::milliseconds settle)
      : config(std::move(model)), source(config.base_path, settle) {}

  // What was found on disk is wanted, other versions are not.
  void Take(const std::vector<SavedModelVersion>& found);
  // Those that are not wanted, once one that is wanted is available and none is being loaded: they
  // begin to unload.
  std::vector<int64_t> DropOld();
  // One to be loaded now, whose state becomes LOADING.
  std::optional<int64_t> NextLoad();
  void CancelLoads();
  // Versions whose last attempt failed, with the fingerprints of their files.
  std::map<int64_t, uint64_t> Failing() const;
  // Nothing is being loaded, or waits for its first attempt.
  bool idle() const;
  // "" when a version is available, else why none is.
  std::string NotReady() const;
  // The version of the label where the choice has one, else its version. Throws NOT_FOUND for an
  // unknown label.
  std::optional<int64_t> VersionOf(const VersionChoice& choice) const;
  // Why no version answers: UNAVAILABLE or NOT_FOUND.
  [[noreturn]] void ThrowNotAvailable(const VersionChoice& choice) const;
  std::vector<VersionStatus> Statuses(const VersionChoice& choice) const;  // the newest first
  // Throws FAILED_PRECONDITION for a label of a version that is not available.
  void CheckLabels(const ModelConfig& next) const;

  ModelConfig config;
  VersionSource source;  // used by the thread that polls, without the mutex
  std::map<int64_t, VersionEntry> versions;
  std::string poll_error;
  bool polled = false, unsettled = false, removed = false;
};

}  // namespace sextant::serving
