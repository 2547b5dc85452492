#include "sextant/serving/version_source.h"

#include <algorithm>

namespace sextant::serving {

std::vector<SavedModelVersion> VersionSource::Poll(const VersionPolicy& policy,
                                                   const std::map<int64_t, uint64_t>& failing) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const auto now = duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  const int64_t settled_ns = (now - duration_cast<nanoseconds>(settle_)).count();
  std::vector<SavedModelVersion> versions;
  std::map<int64_t, uint64_t> seen;
  unsettled_ = false;
  for (SavedModelVersion& found : ListSavedModelVersions(base_path_)) {
    seen[found.version] = found.fingerprint;
    const auto before = seen_.find(found.version);
    const bool unchanged = before != seen_.end() && before->second == found.fingerprint;
    if (unchanged || found.newest_ns < settled_ns) {
      versions.push_back(std::move(found));
    } else {
      unsettled_ = true;
    }
  }
  seen_ = std::move(seen);
  if (policy.kind == VersionPolicy::Kind::kSpecific) {
    std::erase_if(versions, [&](const SavedModelVersion& found) {
      return std::ranges::find(policy.versions, found.version) == policy.versions.end();
    });
  } else if (policy.kind == VersionPolicy::Kind::kLatest) {
    int64_t missing = std::max<int64_t>(1, policy.latest);
    auto first = versions.end();
    while (first != versions.begin() && missing > 0) {
      --first;
      const auto known = failing.find(first->version);
      if (known == failing.end() || known->second != first->fingerprint) --missing;
    }
    versions.erase(versions.begin(), first);
  }
  return versions;
}

}  // namespace sextant::serving
