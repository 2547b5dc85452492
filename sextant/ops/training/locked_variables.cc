#include "sextant/ops/training/locked_variables.h"

#include <algorithm>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/ops/state/variable_access.h"

namespace sextant {

LockedVariables::LockedVariables(KernelContext& ctx, int count, DType dtype,
                                 std::vector<VariableResource*>* scratch)
    : locked_(*scratch) {
  locked_.clear();
  for (int i = 0; i < count; ++i) locked_.push_back(&VariableAt(ctx, i, dtype));
  std::sort(locked_.begin(), locked_.end(), std::less<>());
  const auto twice = std::adjacent_find(locked_.begin(), locked_.end());
  if (twice != locked_.end()) {
    throw InvalidArgument("variable '{}' is given twice", (*twice)->name());
  }
  for (VariableResource* variable : locked_) variable->mutex().lock();
}

LockedVariables::~LockedVariables() {
  for (VariableResource* variable : locked_) variable->mutex().unlock();
}

}  // namespace sextant
