#include <mutex>

#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"

namespace sextant {

namespace {

class TensorStack : public Resource {
 public:
  static constexpr const char* kTypeName = "Stack";
  TensorStack(std::string name, DType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}

  void Push(const Tensor& value) {
    const std::lock_guard lock(mutex_);
    CheckOpen();
    CheckType(value.dtype());
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      throw InvalidArgument("Stack[{}] overflowed its max_size ({})", name_, max_size_);
    }
    values_.push_back(value.Persistent());
  }

  Tensor Pop(DType wanted) {
    const std::lock_guard lock(mutex_);
    CheckOpen();
    CheckType(wanted);
    if (values_.empty()) throw InvalidArgument("Stack[{}] is empty when calling Pop().", name_);
    Tensor value = std::move(values_.back());
    values_.pop_back();
    return value;
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    values_.clear();
    closed_ = true;
  }

 private:
  void CheckOpen() const {
    if (closed_) throw InvalidArgument("Stack[{}] has already been closed.", name_);
  }
  void CheckType(DType dtype) const {
    if (dtype == dtype_) return;
    throw InvalidArgument("Must have type {} but got {}: Stack[{}]", DTypeName(dtype_),
                          DTypeName(dtype), name_);
  }

  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;
  std::mutex mutex_;
  std::vector<Tensor> values_;
  bool closed_ = false;
};

TensorStack& StackOf(const Tensor& handle) {
  // The handle tensor keeps the stack alive.
  return *ResourceOf<TensorStack>(handle.scalar<ResourceHandle>());
}

class StackKernel : public Kernel {
 public:
  explicit StackKernel(KernelInit& init)
      : dtype_(init.attr<DType>("elem_type")), name_(init.node().name()) {}
  void Compute(KernelContext& ctx) override {
    const int64_t max_size = ctx.input(0).AsInt64();
    ResourceHandle handle{"", "", name_, TensorStack::kTypeName,
                          std::make_shared<TensorStack>(name_, dtype_, max_size)};
    ctx.SetOutput(0, Tensor::Scalar(std::move(handle)));
  }

 private:
  const DType dtype_;
  const std::string name_;
};

void Push(KernelContext& ctx) {
  StackOf(ctx.input(0)).Push(ctx.input(1));
  ctx.ForwardInput(1, 0);
}

void Pop(KernelContext& ctx) { ctx.SetOutput(0, StackOf(ctx.input(0)).Pop(ctx.output_type(0))); }

void CloseStack(KernelContext& ctx) { StackOf(ctx.input(0)).Close(); }

}  // namespace

void RegisterStackCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StackV2").OwnOutputs().Make<StackKernel>());
  registry.Add(KernelDef("StackPushV2").Alias(0, 1).Function(Push));
  registry.Add(KernelDef("StackPopV2").OwnOutputs().Function(Pop));
  registry.Add(KernelDef("StackCloseV2").Function(CloseStack));
}

}  // namespace sextant
