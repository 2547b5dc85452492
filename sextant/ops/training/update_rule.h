// UpdateRule: the arithmetic of one optimizer. It is written once, in the apply_*_cpu.cc of its
// family (on the frame of update_loop-inl.h), and shared by the kernels that update a whole
// variable, some rows of one, and many variables in one sweep.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/tensor/dtype.h"

namespace sextant {

inline constexpr int kMaxUpdateVariables = 4;  // the variable itself and its slots
inline constexpr int kMaxUpdateScalars = 8;

// What a loop works on: the step's scalars, and memory in which variable, slots and gradient have
// one element type (only a global step is int64). Nothing overlaps.
struct UpdateTask {
  const void* scalars[kMaxUpdateScalars] = {};  // in the order of the op's inputs
  bool flag = false;                            // the op's one switch, such as use_nesterov
  // Of float variables, or null: the gradient is grad + decay * variable.
  const void* decay = nullptr;
  void* variables[kMaxUpdateVariables] = {};
  const void* grad = nullptr;
  int64_t count = 0;  // elements; of a row when there are indices
  // Row i of the gradient is for row indices[i] of the variables, one after another; rows outside
  // [first_row, last_row) are left alone.
  const int64_t* indices = nullptr;
  int64_t num_indices = 0, first_row = 0, last_row = 0;
};

using UpdateLoop = void (*)(const UpdateTask& task);

struct UpdateRule {
  std::string_view name;       // "Adam": of ResourceApplyAdam and ResourceSparseApplyAdam
  std::string_view flag = {};  // the attribute behind UpdateTask::flag, if any
  double cost = 1;             // nanoseconds per element, about
  bool sparse = true;          // has a form for some rows
  // Throws INVALID_ARGUMENT on scalars that make no sense; null where any do. "sparse": the op is
  // the one for some rows.
  void (*check)(std::span<const double> scalars, bool flag, bool sparse) = nullptr;
  std::vector<std::pair<DType, UpdateLoop>> loops = {};

  // Null when the type has none.
  UpdateLoop loop(DType dtype) const;
};

// The rules of each family.
const std::vector<UpdateRule>& SgdRules();
const std::vector<UpdateRule>& ProximalRules();
const std::vector<UpdateRule>& AdagradRules();
const std::vector<UpdateRule>& AdadeltaRules();
const std::vector<UpdateRule>& AdamRules();
const std::vector<UpdateRule>& RmsPropRules();
const std::vector<UpdateRule>& FtrlRules();
const std::vector<UpdateRule>& SignRules();

// The rules of a family, with the float loops that "float_loop" gives by their index.
std::vector<UpdateRule> WithFloatLoops(UpdateLoop (*float_loop)(int index),
                                       std::vector<UpdateRule> rules);

// The rule of this name, or null.
const UpdateRule* FindUpdateRule(std::string_view name);

}  // namespace sextant
