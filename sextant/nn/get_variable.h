// GetVariable with what models need beside an initial value: initializers by shape, regularizers,
// partitioners.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/initializers.h"
#include "sextant/ops/state/variable.h"

#pragma GCC visibility push(default)

namespace sextant {

inline constexpr const char* kRegularizationLosses = "regularization_losses";
inline constexpr const char* kUpdateOps = "update_ops";
inline constexpr const char* kLosses = "losses";
inline constexpr const char* kModelVariables = "model_variables";

// A scalar penalty of a variable's value, e.g. L2Regularizer(1e-4f); none: null.
using Regularizer = std::function<Output(Output value)>;
Regularizer L1Regularizer(float scale);  // scale * sum |w|
Regularizer L2Regularizer(float scale);  // scale * sum w² / 2
Regularizer L1L2Regularizer(float l1, float l2);

// Into how many parts each dimension is cut; one dimension at most has more than one.
using Partitioner = std::function<std::vector<int64_t>(const Shape& shape, DType dtype)>;
Partitioner FixedSizePartitioner(int64_t parts, int axis = 0);
// As many parts as keep each above "min_bytes", at most "max_parts".
Partitioner MinMaxPartitioner(int64_t max_parts, int64_t min_bytes = 256 << 10, int axis = 0);

struct SEXTANT_API VariableSpec {
  Shape shape;  // of the whole variable
  DType dtype = DType::kFloat;
  Initializer initializer = {};  // default: Glorot uniform for floats, zeros for others
  Regularizer regularizer = {};  // its value goes to kRegularizationLosses
  bool trainable = true;
  std::vector<std::string> collections = {kGlobalVariables};
};

// The variable "name" of the current VariableScope, made or reused as GetVariable of
// ops/state/variable.h says.
Variable GetVariable(std::string_view name, const VariableSpec& spec);

// A variable cut into "name/part_0", "name/part_1", … along one dimension. In checkpoints it is one
// tensor "name".
class SEXTANT_API PartitionedVariable {
 public:
  PartitionedVariable() = default;
  PartitionedVariable(std::string name, Shape shape, int axis, std::vector<Variable> parts)
      : name_(std::move(name)), shape_(std::move(shape)), axis_(axis), parts_(std::move(parts)) {}
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  int axis() const { return axis_; }
  const std::vector<Variable>& parts() const { return parts_; }
  // The parts joined.
  Output value() const;
  operator Output() const { return value(); }  // NOLINT: used as a tensor

 private:
  std::string name_;
  Shape shape_;
  int axis_ = 0;
  std::vector<Variable> parts_;
};
PartitionedVariable GetPartitionedVariable(std::string_view name, const VariableSpec& spec,
                                           const Partitioner& partitioner);

// Where a part belongs: what a Saver needs to write slices. Null for variables that are no parts.
struct SEXTANT_API VariableSlice {
  std::string full_name;        // of the partitioned variable
  Shape full_shape;             // of the partitioned variable
  std::vector<int64_t> offset;  // of the part in it
};
const VariableSlice* SliceOf(const Variable& variable);
void SetSlice(const Variable& variable, VariableSlice slice);

}  // namespace sextant

#pragma GCC visibility pop
