// VersionSource: which versions of a model a policy asks for, as they come and go on disk.
//
// A version counts when none of its files has changed since the last look, or for a while: what
// another program is still copying does not. Names only come from the directory that was
// configured, never from requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/formats/saved_model_versions.h"
#include "sextant/serving/model_config.h"

namespace sextant::serving {

// Used by one thread at a time.
class VersionSource {
 public:
  // Versions unchanged for "settle" count at the first look.
  explicit VersionSource(std::string base_path,
                         std::chrono::milliseconds settle = std::chrono::seconds(2))
      : base_path_(std::move(base_path)), settle_(settle) {}

  // The versions of the policy that are there now, sorted. Versions that are known not to load, by
  // the fingerprints of their files, are not counted among the latest: those before them are given
  // too. Throws NOT_FOUND and the like when the directory cannot be read.
  std::vector<SavedModelVersion> Poll(const VersionPolicy& policy,
                                      const std::map<int64_t, uint64_t>& failing = {});
  // Whether the last look passed over a version that may still be changing.
  bool unsettled() const { return unsettled_; }

 private:
  const std::string base_path_;
  const std::chrono::milliseconds settle_;
  std::map<int64_t, uint64_t> seen_;  // fingerprints of the last look
  bool unsettled_ = false;
};

}  // namespace sextant::serving
