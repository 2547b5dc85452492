#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/state/row_update.h"
#include "sextant/ops/state/variable_access.h"

namespace sextant {
namespace {

// The variable stays in the ResourceManager for the life of the session (destroying it takes its
// value away), so the handle is made once.
class VarHandleKernel : public Kernel {
 public:
  explicit VarHandleKernel(KernelInit& init)
      : container_(init.attr<std::string>("container")),
        name_(init.attr<std::string>("shared_name")),
        dtype_(init.attr<DType>("dtype")),
        shape_(init.attr<PartialShape>("shape")) {
    if (name_.empty()) name_ = init.node().name();
    if (container_.empty()) container_ = "localhost";
  }

  void Compute(KernelContext& ctx) override {
    if (!handle_.valid()) handle_ = MakeHandle(ctx.resources().shared());
    ctx.SetOutput(0, handle_);
  }

 private:
  Tensor MakeHandle(ResourceManager& resources) const {
    const auto variable = resources.LookupOrCreate<VariableResource>(container_, name_, [this] {
      return std::make_shared<VariableResource>(name_, dtype_, shape_);
    });
    if (variable->dtype() != dtype_) {
      throw InvalidArgument("variable '{}' holds {}, not {}", name_, DTypeName(variable->dtype()),
                            DTypeName(dtype_));
    }
    return Tensor::Scalar(ResourceHandle{.container = container_,
                                         .name = name_,
                                         .type_name = VariableResource::kTypeName,
                                         .resource = variable});
  }

  std::string container_, name_;
  DType dtype_;
  PartialShape shape_;
  Tensor handle_;
};

// The shape that the graph gives a variable: other nodes are planned for it.
class DeclaredShape {
 public:
  explicit DeclaredShape(PartialShape shape) : shape_(std::move(shape)) {
    if (shape_.fully_known()) exact_ = shape_.AsShape();
  }
  // Throws INVALID_ARGUMENT when a value of the variable cannot have this shape.
  void Check(const VariableResource& variable, const Shape& value) const {
    if (exact_ ? *exact_ == value : shape_.CompatibleWith(value)) [[likely]]
      return;
    throw InvalidArgument(
        "variable '{}' is declared with shape {}, its value has shape {}: declare it with an "
        "unknown shape, or give it values of its shape",
        variable.name(), shape_.ToString(), value.ToString());
  }

 private:
  PartialShape shape_;
  std::optional<Shape> exact_;
};

PartialShape ShapeOfHandle(const Output& handle) {
  const HandleShape* info = handle.node()->output_handle(handle.index());
  return info != nullptr ? info->shape : PartialShape();
}

class ReadVariableKernel : public Kernel {
 public:
  explicit ReadVariableKernel(KernelInit& init) : declared_(init.node().output_shape(0)) {}

  void Compute(KernelContext& ctx) override {
    VariableResource& variable = VariableAt(ctx, 0, ctx.output_type(0));
    Tensor value = variable.Read();
    declared_.Check(variable, value.shape());
    ctx.SetOutput(0, std::move(value));
  }

 private:
  const DeclaredShape declared_;
};

void VariableOfValueKernel(KernelContext& ctx) {
  const Tensor value = ctx.input(0).Persistent();
  auto variable = std::make_shared<VariableResource>("", value.dtype(), value.shape());
  variable->set_value(value);
  ctx.SetOutput(0, Tensor::Scalar(ResourceHandle{.type_name = VariableResource::kTypeName,
                                                 .resource = std::move(variable)}));
}

class AssignKernel : public Kernel {
 public:
  explicit AssignKernel(KernelInit& init)
      : validate_shape_(init.attr<bool>("validate_shape")),
        declared_(ShapeOfHandle(init.node().input(0))) {}

  void Compute(KernelContext& ctx) override {
    VariableResource& variable = VariableAt(ctx, 0, ctx.input(1).dtype());
    if (validate_shape_ && !variable.shape().CompatibleWith(ctx.input(1).shape())) {
      throw InvalidArgument("variable '{}' has shape {}, the value assigned to it {}",
                            variable.name(), variable.shape().ToString(),
                            ctx.input(1).shape().ToString());
    }
    declared_.Check(variable, ctx.input(1).shape());
    Tensor value = ctx.TakeInput(1);
    std::lock_guard lock(variable.mutex());
    // A value that somebody else holds too, e.g. the caller who fed it, is not taken over.
    if (value.unique() && !value.buffer()->transient()) return variable.set_value(std::move(value));
    if (variable.initialized() && variable.value().unique() && IsPlain(value.dtype()) &&
        variable.value().bytes() == value.bytes()) {
      Tensor& home = variable.mutable_value();
      if (value.bytes() > 0) std::memmove(home.raw_data(), value.raw_data(), value.bytes());
      if (!(home.shape() == value.shape())) home = home.Reshaped(value.shape());
      return;
    }
    variable.set_value(value.Clone(ctx.allocator()));
  }

 private:
  const bool validate_shape_;
  const DeclaredShape declared_;
};

template <UpdateKind kind>
class AssignUpdateKernel : public Kernel {
 public:
  explicit AssignUpdateKernel(KernelInit& init)
      : dtype_(init.attr<DType>("dtype")), update_(FindRowUpdate(kind, dtype_)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& value = ctx.input(1);
    VariableResource& variable = VariableAt(ctx, 0, dtype_);
    std::lock_guard lock(variable.mutex());
    if (!(variable.value().shape() == value.shape())) {
      throw InvalidArgument(
          "variable '{}' has shape {} and cannot be updated by a value of shape {}",
          variable.name(), variable.value().shape().ToString(), value.shape().ToString());
    }
    auto* dst = static_cast<char*>(variable.mutable_value(ctx.allocator()).raw_data());
    const auto* src = static_cast<const char*>(value.raw_data());
    const auto size = static_cast<int64_t>(DTypeSize(dtype_));
    ctx.ParallelFor(value.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      update_(dst + begin * size, src + begin * size, end - begin, false);
    });
  }

 private:
  const DType dtype_;
  const RowUpdate update_;
};

void DisableCopyOnReadKernel(KernelContext& ctx) { VariableAt(ctx, 0); }

void VarIsInitializedKernel(KernelContext& ctx) {
  VariableResource& variable = VariableAt(ctx, 0);
  std::lock_guard lock(variable.mutex());
  *ctx.AllocateOutput(0, Shape()).data<bool>() = variable.initialized();
}

class DestroyResourceKernel : public Kernel {
 public:
  explicit DestroyResourceKernel(KernelInit& init)
      : ignore_missing_(init.attr<bool>("ignore_lookup_error")) {}

  void Compute(KernelContext& ctx) override {
    const auto handle = ctx.input(0).scalar<ResourceHandle>();
    bool existed;
    if (auto* variable = dynamic_cast<VariableResource*>(handle.resource.get())) {
      std::lock_guard lock(variable->mutex());
      existed = variable->initialized();
      variable->reset();
    } else {
      existed = ctx.resources().Delete(handle.container, handle.name);
    }
    if (!existed && !ignore_missing_) throw NotFound("resource '{}' does not exist", handle.name);
  }

 private:
  const bool ignore_missing_;
};

void VariableShapeKernel(KernelContext& ctx) {
  VariableResource& variable = VariableAt(ctx, 0);
  Shape shape;
  {
    std::lock_guard lock(variable.mutex());
    // To TensorFlow a variable does not exist before its first value.
    if (!variable.initialized()) throw NotFound("variable '{}' has no value", variable.name());
    shape = variable.value().shape();
  }
  Tensor& out = ctx.AllocateOutput(0, {shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (out.dtype() == DType::kInt32) {
      out.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
    } else {
      out.data<int64_t>()[i] = shape[i];
    }
  }
}

template <typename T>
class CountUpToKernel : public Kernel {
 public:
  explicit CountUpToKernel(KernelInit& init) : limit_(init.attr<int64_t>("limit")) {}

  void Compute(KernelContext& ctx) override {
    VariableResource& variable = VariableAt(ctx, 0, DTypeOf<T>);
    std::lock_guard lock(variable.mutex());
    const Tensor& value = variable.value();
    if (value.rank() != 0) {
      throw InvalidArgument("variable '{}' is not a scalar, but of shape {}", variable.name(),
                            value.shape().ToString());
    }
    const T before = value.scalar<T>();
    if (before >= limit_) throw OutOfRange("Reached limit of {}", limit_);
    *ctx.AllocateOutput(0, Shape()).data<T>() = before;
    *variable.mutable_value(ctx.allocator()).data<T>() = before + 1;
  }

 private:
  const int64_t limit_;
};

}  // namespace

void RegisterVariableCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("VarHandleOp").OwnOutputs().Make<VarHandleKernel>());
  registry.Add(KernelDef("ReadVariableOp").OwnOutputs().Make<ReadVariableKernel>());
  registry.Add(KernelDef("_VariableOfValue").OwnOutputs().Function(VariableOfValueKernel));
  registry.Add(KernelDef("AssignVariableOp").Make<AssignKernel>());
  registry.Add(KernelDef("AssignAddVariableOp")
                   .Types("dtype", RowUpdateTypes(UpdateKind::kAdd))
                   .Make<AssignUpdateKernel<UpdateKind::kAdd>>());
  registry.Add(KernelDef("AssignSubVariableOp")
                   .Types("dtype", RowUpdateTypes(UpdateKind::kSub))
                   .Make<AssignUpdateKernel<UpdateKind::kSub>>());
  registry.Add(KernelDef("DisableCopyOnRead").Function(DisableCopyOnReadKernel));
  registry.Add(KernelDef("VarIsInitializedOp").Function(VarIsInitializedKernel));
  registry.Add(KernelDef("DestroyResourceOp").Make<DestroyResourceKernel>());
  registry.Add(KernelDef("VariableShape").Function(VariableShapeKernel));
  registry.Add(KernelDef("ResourceCountUpTo").Type<int32_t>("T").Make<CountUpToKernel<int32_t>>());
  registry.Add(KernelDef("ResourceCountUpTo").Type<int64_t>("T").Make<CountUpToKernel<int64_t>>());
}

}  // namespace sextant
