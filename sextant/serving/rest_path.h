// The paths of TensorFlow Serving's REST interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::serving {

struct RestPath {
  enum class Call { kStatus, kMetadata, kPredict, kClassify, kRegress };
  Call call = Call::kStatus;
  std::string model;
  std::optional<int64_t> version;
  std::string label;
  std::string query;  // behind the '?'
};

// "GET /v1/models/NAME[/versions/N|/labels/L][/metadata]", "POST ...:predict|classify|regress";
// letters in any case, NAME and L percent-encoded. Throws NOT_FOUND for a path outside of /v1/,
// INVALID_ARGUMENT for any other.
RestPath ParseRestPath(std::string_view method, std::string_view target);

// The value of a key in "a=1&b=2", percent-decoded; "" when it is not there.
std::string QueryValue(std::string_view query, std::string_view key);

}  // namespace sextant::serving
