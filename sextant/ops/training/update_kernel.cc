#include "sextant/ops/training/update_kernel.h"

#include <memory>
#include <string>

#include "sextant/base/error.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/state/variable_access.h"
#include "sextant/ops/training/locked_variables.h"

namespace sextant {
namespace {

// Which input of the op is what: variables come first, the rest is told by names.
struct UpdateInputs {
  explicit UpdateInputs(const OpDef& op) {
    for (int i = 0; i < static_cast<int>(op.inputs().size()); ++i) {
      const ArgDef& arg = op.inputs()[i];
      if (arg.type == DType::kResource) {
        ++num_variables;
      } else if (arg.name == "grad" || arg.name == "delta") {
        grad = i;
      } else if (arg.name == "indices") {
        indices = i;
      } else {
        scalars.emplace_back(i, arg.name);
      }
    }
  }
  int num_variables = 0, grad = 0, indices = -1;
  std::vector<std::pair<int, std::string>> scalars;
};

class UpdateKernel : public Kernel {
 public:
  UpdateKernel(KernelInit& init, const UpdateRule& rule)
      : rule_(rule),
        dtype_(init.attr<DType>("T")),
        loop_(rule.loop(dtype_)),
        inputs_(init.node().op()) {
    task_.flag = !rule.flag.empty() && init.attr<bool>(rule.flag);
  }

  void Compute(KernelContext& ctx) override {
    for (size_t i = 0; i < inputs_.scalars.size(); ++i) {
      const auto& [index, name] = inputs_.scalars[i];
      SetScalar(ctx, index, name, static_cast<int>(i), &task_);
    }
    CheckScalars(rule_, dtype_, static_cast<int>(inputs_.scalars.size()), inputs_.indices >= 0,
                 task_);
    task_.grad = ctx.input(inputs_.grad).raw_data();
    const LockedVariables lock(ctx, inputs_.num_variables, dtype_, &locked_);
    Update(ctx);
  }

 protected:
  virtual void Update(KernelContext& ctx) {
    const Tensor& grad = ctx.input(inputs_.grad);
    CheckGradient(ctx, 0, grad);
    SetVariables(ctx, 0, inputs_.num_variables, &task_);
    ctx.ParallelFor(grad.num_elements(), rule_.cost, [&](int64_t begin, int64_t end) {
      loop_(PartOf(task_, begin, end - begin, dtype_));
    });
  }

  const UpdateRule& rule_;
  const DType dtype_;
  const UpdateLoop loop_;
  const UpdateInputs inputs_;
  UpdateTask task_;
  std::vector<VariableResource*> locked_;
};

class SparseUpdateKernel final : public UpdateKernel {
 public:
  using UpdateKernel::UpdateKernel;

 protected:
  void Update(KernelContext& ctx) override {
    const Tensor &grad = ctx.input(inputs_.grad), &indices = ctx.input(inputs_.indices);
    CheckVector(indices, "indices");
    const VariableResource& variable = VariableAt(ctx, 0);
    const Shape& shape = variable.value().shape();
    if (shape.rank() == 0) {
      throw InvalidArgument("variable '{}' is a scalar and has no rows", variable.name());
    }
    Shape wanted = shape;
    wanted.set_dim(0, indices.num_elements());
    if (!(grad.shape() == wanted)) {
      throw InvalidArgument("the gradient has shape {}, {} indices into variable '{}' ask for {}",
                            grad.shape().ToString(), indices.num_elements(), variable.name(),
                            wanted.ToString());
    }
    const int64_t rows = shape[0];
    ReadIndices(indices, &indices_);
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (indices_[i] < 0 || indices_[i] >= rows) {
        throw InvalidArgument("indices[{}] = {} is not in [0, {})", i, indices_[i], rows);
      }
    }
    if (grad.num_elements() == 0) return;
    SetVariables(ctx, 0, inputs_.num_variables, &task_);
    task_.count = grad.num_elements() / indices.num_elements();
    task_.indices = indices_.data();
    task_.num_indices = indices.num_elements();
    // Each thread takes a range of rows, so that an index that repeats stays with one of them.
    const double cost = static_cast<double>(grad.num_elements()) / static_cast<double>(rows);
    ctx.ParallelFor(rows, cost * rule_.cost, [&](int64_t begin, int64_t end) {
      UpdateTask part = task_;
      part.first_row = begin;
      part.last_row = end;
      loop_(part);
    });
  }

 private:
  std::vector<int64_t> indices_;
};

}  // namespace

void SetScalar(KernelContext& ctx, int index, std::string_view name, int position,
               UpdateTask* task) {
  const Tensor& value = ctx.input(index);
  if (value.rank() != 0)
    throw InvalidArgument("{} must be a scalar, got {}", name, value.Describe());
  task->scalars[position] = value.raw_data();
}

void CheckScalars(const UpdateRule& rule, DType dtype, int count, bool sparse,
                  const UpdateTask& task) {
  if (rule.check == nullptr) return;
  double values[kMaxUpdateScalars];
  for (int i = 0; i < count; ++i) {
    const void* from = task.scalars[i];
    values[i] = dtype == DType::kFloat    ? *static_cast<const float*>(from)
                : dtype == DType::kDouble ? *static_cast<const double*>(from)
                : dtype == DType::kHalf   ? static_cast<float>(*static_cast<const Half*>(from))
                                          : static_cast<float>(*static_cast<const BFloat16*>(from));
  }
  rule.check({values, static_cast<size_t>(count)}, task.flag, sparse);
}

UpdateTask PartOf(const UpdateTask& task, int64_t offset, int64_t count, DType dtype) {
  UpdateTask part = task;
  const auto bytes = offset * static_cast<int64_t>(DTypeSize(dtype));
  for (void*& variable : part.variables) {
    if (variable != nullptr) variable = static_cast<char*>(variable) + bytes;
  }
  part.grad = static_cast<const char*>(part.grad) + bytes;
  part.count = count;
  return part;
}

void SetVariables(KernelContext& ctx, int first, int count, UpdateTask* task) {
  const VariableResource& variable = VariableAt(ctx, first);
  const Shape& shape = variable.value().shape();
  for (int i = 1; i < count; ++i) {
    const VariableResource& slot = VariableAt(ctx, first + i);
    if (slot.value().shape() == shape) continue;
    throw InvalidArgument("variable '{}' has shape {}, its slot '{}' has {}", variable.name(),
                          shape.ToString(), slot.name(), slot.value().shape().ToString());
  }
  for (int i = 0; i < count; ++i) {
    task->variables[i] = VariableAt(ctx, first + i).mutable_value(ctx.allocator()).raw_data();
  }
}

void CheckGradient(KernelContext& ctx, int variable, const Tensor& grad) {
  const VariableResource& resource = VariableAt(ctx, variable);
  if (resource.value().shape() == grad.shape()) return;
  throw InvalidArgument("variable '{}' has shape {}, its gradient has {}", resource.name(),
                        resource.value().shape().ToString(), grad.shape().ToString());
}

void AddUpdateKernels(KernelRegistry& registry, const std::vector<UpdateRule>& rules) {
  for (const UpdateRule& rule : rules) {
    std::vector<DType> types;
    for (const auto& [type, loop] : rule.loops) types.push_back(type);
    const std::string name(rule.name);
    registry.Add(
        KernelDef("ResourceApply" + name).Types("T", types).Make([&rule](KernelInit& init) {
          return std::make_unique<UpdateKernel>(init, rule);
        }));
    if (!rule.sparse) continue;
    registry.Add(
        KernelDef("ResourceSparseApply" + name).Types("T", types).Make([&rule](KernelInit& init) {
          return std::make_unique<SparseUpdateKernel>(init, rule);
        }));
  }
}

}  // namespace sextant
