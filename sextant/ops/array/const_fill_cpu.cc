#include <cstring>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"
#include "sextant/ops/control_flow/tensor_list_value.h"

namespace sextant {
namespace {

class ConstKernel : public Kernel {
 public:
  explicit ConstKernel(KernelInit& init) : value_(init.attr<Tensor>("value")) {}
  void Compute(KernelContext& ctx) override { ctx.SetOutput(0, value_); }

 private:
  const Tensor value_;
};

// Fed placeholders never run.
class PlaceholderKernel : public Kernel {
 public:
  explicit PlaceholderKernel(KernelInit& init)
      : dtype_(init.output_type(0)), shape_(init.attr<PartialShape>("shape")) {}
  void Compute(KernelContext& ctx) override {
    throw InvalidArgument("You must feed a value for placeholder '{}' with dtype {} and shape {}",
                          ctx.node_name(), DTypeName(dtype_), shape_.ToString());
  }

 private:
  const DType dtype_;
  const PartialShape shape_;
};

void ForwardValue(KernelContext& ctx) { ctx.ForwardInput(0, 0); }

void Fill(KernelContext& ctx) {
  const Tensor& value = ctx.input(1);
  if (value.num_elements() != 1 || value.rank() > 1) {
    throw InvalidArgument("value must be a scalar, got shape {}", value.shape().ToString());
  }
  FillElements(ctx, ctx.AllocateOutput(0, ShapeFromLegacyTensor(ctx.input(0), "dims")), value);
}

void ZerosLikeVariants(KernelContext& ctx) { ctx.SetOutput(0, ZerosLikeVariant(ctx.input(0))); }

void ZerosLike(KernelContext& ctx) {
  ZeroElements(ctx, ctx.AllocateOutput(0, ctx.input(0).shape()));
}

class OnesLikeKernel : public Kernel {
 public:
  explicit OnesLikeKernel(KernelInit& init) : one_(Tensor::Zeros(init.output_type(0), Shape())) {
    // Of all types but the floating ones, a 1 in the lowest byte is one.
    switch (one_.dtype()) {
      case DType::kFloat:
      case DType::kComplex64:
        Set(1.0f);
        break;
      case DType::kDouble:
      case DType::kComplex128:
        Set(1.0);
        break;
      case DType::kHalf:
        Set(Half(1.0f));
        break;
      case DType::kBFloat16:
        Set(BFloat16(1.0f));
        break;
      default:
        Set(uint8_t{1});
    }
  }
  void Compute(KernelContext& ctx) override {
    FillElements(ctx, ctx.AllocateOutput(0, ctx.input(0).shape()), one_);
  }

 private:
  template <typename T>
  void Set(T one) {
    std::memcpy(one_.raw_data(), &one, sizeof(T));
  }
  Tensor one_;
};

class EmptyKernel : public Kernel {
 public:
  explicit EmptyKernel(KernelInit& init) : init_(init.attr<bool>("init")) {}
  void Compute(KernelContext& ctx) override {
    Tensor& out = ctx.AllocateOutput(0, ShapeFromTensor(ctx.input(0), "shape"));
    if (init_ || !IsPlain(out.dtype())) ZeroElements(ctx, out);
  }

 private:
  const bool init_;
};

}  // namespace

void RegisterConstFillCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Const").OwnOutputs().Make<ConstKernel>());
  registry.Add(KernelDef("Placeholder").OwnOutputs().Make<PlaceholderKernel>());
  registry.Add(KernelDef("PlaceholderV2").OwnOutputs().Make<PlaceholderKernel>());
  registry.Add(KernelDef("PlaceholderWithDefault").Alias(0, 0).Function(ForwardValue));
  registry.Add(KernelDef("Fill").Function(Fill));
  registry.Add(KernelDef("ZerosLike").Type<Variant>("T").OwnOutputs().Function(ZerosLikeVariants));
  registry.Add(KernelDef("ZerosLike").InPlace(0, 0).Function(ZerosLike));
  registry.Add(KernelDef("OnesLike").InPlace(0, 0).Make<OnesLikeKernel>());
  registry.Add(KernelDef("Empty").Make<EmptyKernel>());
}

}  // namespace sextant
