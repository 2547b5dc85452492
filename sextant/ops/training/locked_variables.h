// LockedVariables: the variables that an update changes, locked together.
#pragma once

#include <vector>

#include "sextant/device/kernel.h"
#include "sextant/device/variable.h"

namespace sextant {

class LockedVariables {
 public:
  // Locks those whose handles are the first inputs of the step, "count" of them, in an order that
  // is the same for all kernels. "scratch" must outlive this; it keeps its memory from call to
  // call. Throws INVALID_ARGUMENT, naming the variable, when one is given twice or holds another
  // type.
  LockedVariables(KernelContext& ctx, int count, DType dtype,
                  std::vector<VariableResource*>* scratch);
  ~LockedVariables();
  LockedVariables(const LockedVariables&) = delete;
  LockedVariables& operator=(const LockedVariables&) = delete;

 private:
  std::vector<VariableResource*>& locked_;
};

}  // namespace sextant
