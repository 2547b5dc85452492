// Device names: "/job:worker/replica:0/task:1/device:GPU:0", each part optional.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant {

struct DeviceName {
  std::string job;  // empty = any
  std::optional<int> replica, task;
  std::string type;  // "CPU", "GPU"; empty = any
  std::optional<int> index;

  // Accepts the canonical form, the legacy "/cpu:0" and "/gpu:0", and "CPU:0"; "*" means any.
  // Throws INVALID_ARGUMENT.
  static DeviceName Parse(std::string_view text);
  // Canonical form of the parts that are set; "" when none is.
  std::string ToString() const;
  // This with the parts that "inner" sets put over it.
  DeviceName Override(const DeviceName& inner) const;
  // Whether every part that "pattern" sets is equal here.
  bool Matches(const DeviceName& pattern) const;
  bool operator==(const DeviceName&) const = default;
};

}  // namespace sextant
