#include "sextant/serving/model_versions.h"

#include <algorithm>

#include "sextant/base/printable.h"

namespace sextant::serving {
namespace {

constexpr size_t kMaxEnded = 16;  // versions that are remembered after their end

}  // namespace

const char* VersionStateName(VersionState state) {
  switch (state) {
    case VersionState::kStart:
      return "START";
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kAvailable:
      return "AVAILABLE";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kEnd:
      return "END";
  }
  return "UNKNOWN";
}

void ModelVersions::Take(const std::vector<SavedModelVersion>& found) {
  for (auto& [version, entry] : versions) entry.wanted = false;
  for (const SavedModelVersion& directory : found) {
    VersionEntry& entry = versions[directory.version];
    const bool ended = entry.status.state == VersionState::kEnd;
    const bool failed = !entry.status.status.ok() && entry.status.state != VersionState::kLoading;
    const bool changed = entry.fingerprint != directory.fingerprint;
    // One that failed is tried again at once when its files have changed, one that was dropped in
    // any case.
    if (entry.path.empty() || (ended && !failed) || (failed && changed)) {
      entry = VersionEntry();
      entry.status.version = directory.version;
    }
    entry.path = directory.path;
    entry.fingerprint = directory.fingerprint;
    entry.wanted = true;
  }
}

std::vector<int64_t> ModelVersions::DropOld() {
  bool one_loading = false, one_available = false;
  for (const auto& [version, entry] : versions) {
    if (!entry.wanted) continue;
    one_loading = one_loading || entry.loading();
    one_available = one_available || entry.available();
  }
  std::vector<int64_t> dropped;
  size_t ended = 0;
  for (auto& [version, entry] : versions) {
    if (entry.wanted) continue;
    if (entry.status.state == VersionState::kStart) entry.status.state = VersionState::kEnd;
    ended += entry.status.state == VersionState::kEnd ? 1 : 0;
    if (one_loading || !one_available || !entry.available()) continue;
    entry.status.state = VersionState::kUnloading;
    dropped.push_back(version);
  }
  for (auto entry = versions.begin(); entry != versions.end() && ended > kMaxEnded;) {
    const bool forget = !entry->second.wanted && entry->second.status.state == VersionState::kEnd;
    entry = forget ? versions.erase(entry) : std::next(entry);
    ended -= forget ? 1 : 0;
  }
  return dropped;
}

std::optional<int64_t> ModelVersions::NextLoad() {
  const auto now = std::chrono::steady_clock::now();
  for (auto& [version, entry] : versions) {
    const bool waits = entry.wanted && entry.status.state == VersionState::kStart;
    if (!waits || entry.next_attempt > now) continue;
    entry.status.state = VersionState::kLoading;
    entry.cancellation = std::make_shared<CancellationToken>();
    return version;
  }
  return std::nullopt;
}

void ModelVersions::CancelLoads() {
  for (auto& [version, entry] : versions) {
    if (entry.cancellation) entry.cancellation->Cancel();
  }
}

std::map<int64_t, uint64_t> ModelVersions::Failing() const {
  std::map<int64_t, uint64_t> failing;
  for (const auto& [version, entry] : versions) {
    if (!entry.status.status.ok()) failing[version] = entry.fingerprint;
  }
  return failing;
}

bool ModelVersions::idle() const {
  return std::ranges::none_of(versions, [](const auto& version) {
    const VersionEntry& entry = version.second;
    return entry.status.state == VersionState::kLoading ||
           (entry.status.state == VersionState::kStart && entry.attempts == 0);
  });
}

std::string ModelVersions::NotReady() const {
  if (std::ranges::any_of(versions, [](const auto& v) { return v.second.available(); })) return "";
  std::string text = fmt::format("model '{}' has no version to answer with", config.name);
  if (!poll_error.empty()) text += ": " + poll_error;
  for (const auto& [version, entry] : versions) {
    if (entry.status.status.ok()) continue;
    text += fmt::format("; version {}: {}", version, entry.status.status.message());
  }
  return text;
}

std::optional<int64_t> ModelVersions::VersionOf(const VersionChoice& choice) const {
  if (choice.version || choice.label.empty()) return choice.version;
  const auto label = config.labels.find(std::string(choice.label));
  if (label != config.labels.end()) return label->second;
  throw NotFound("model '{}' has no label '{}'", config.name, ShownName(choice.label));
}

void ModelVersions::ThrowNotAvailable(const VersionChoice& choice) const {
  const std::optional<int64_t> version = VersionOf(choice);
  for (const auto& [number, entry] : versions) {
    if ((version && number != *version) || !entry.loading()) continue;
    throw MakeError<Code::kUnavailable>("model '{}', version {}, is being loaded", config.name,
                                        number);
  }
  if (!polled) throw MakeError<Code::kUnavailable>("model '{}' is being loaded", config.name);
  if (version) throw NotFound("model '{}' has no version {} to answer with", config.name, *version);
  throw NotFound("model '{}' has no version to answer with", config.name);
}

std::vector<VersionStatus> ModelVersions::Statuses(const VersionChoice& choice) const {
  const std::optional<int64_t> version = VersionOf(choice);
  std::vector<VersionStatus> statuses;
  for (auto entry = versions.rbegin(); entry != versions.rend(); ++entry) {
    if (!version || entry->first == *version) statuses.push_back(entry->second.status);
  }
  if (version && statuses.empty()) {
    throw NotFound("model '{}' has no version {}", config.name, *version);
  }
  return statuses;
}

void ModelVersions::CheckLabels(const ModelConfig& next) const {
  for (const auto& [label, version] : next.labels) {
    const auto entry = versions.find(version);
    if (entry == versions.end() || !entry->second.available()) {
      throw FailedPrecondition("model '{}': label '{}' is for version {}, which is not available",
                               config.name, label, version);
    }
  }
}

}  // namespace sextant::serving
