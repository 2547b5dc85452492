// The definitions of the ops that take one optimizer step: on resource variables and on the
// references of old graphs, for a whole variable and for some of its rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/op_registry.h"
#include "sextant/graph/output.h"

namespace sextant {

struct UpdateOp {
  std::string name;                // "Adam": ApplyAdam, ResourceApplyAdam, SparseApplyAdam, ...
  std::vector<std::string> slots;  // the variables after the first, "var"
  std::string inputs;  // the others; the gradient is "grad:T", or "delta:T" in the dense form
  std::string doc;
  std::string flag = {};   // a further attribute, such as "use_nesterov:bool=False"
  bool references = true;  // has forms on references
  bool sparse = true;      // has forms for some rows
};

void AddUpdateOps(OpRegistry& registry, const UpdateOp& op);

// Adds the node of such an op on handles. "flag" is the name of its further attribute, or empty.
Operation BuildUpdate(std::string_view op, const std::vector<Output>& inputs,
                      std::string_view flag = {}, bool flag_value = false);

}  // namespace sextant
