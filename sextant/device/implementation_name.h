// ImplementationName: what a kernel that chooses among implementations says of its choice, for
// traces.
#pragma once

#include <string_view>

namespace sextant {

// A second base class of such kernels.
class ImplementationName {
 public:
  // Of the last Compute; empty before the first.
  virtual std::string_view implementation() const = 0;

 protected:
  ~ImplementationName() = default;
};

}  // namespace sextant
