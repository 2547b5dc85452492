#include "sextant/base/input_limits.h"

#include <algorithm>

namespace sextant {
namespace {

thread_local constinit InputLimits current;

}  // namespace

InputLimits InputLimits::Of(int64_t memory_limit) {
  InputLimits limits;
  if (memory_limit <= 0) return limits;
  const auto most = static_cast<uint64_t>(memory_limit);
  limits.file = limits.record = limits.batch = limits.shuffle = most;
  limits.stream = std::min(most, std::max(limits.stream, most / 8));
  limits.line = std::min(most, std::max(limits.line, most / 32));
  return limits;
}

const InputLimits& InputLimits::Current() { return current; }

InputLimitsScope::InputLimitsScope(const InputLimits& limits) : outer_(current) {
  current = limits;
}
InputLimitsScope::InputLimitsScope(int64_t memory_limit) : outer_(current) {
  if (memory_limit > 0) current = InputLimits::Of(memory_limit);
}
InputLimitsScope::~InputLimitsScope() { current = outer_; }

}  // namespace sextant
