#include "sextant/device/kernel_registry.h"
#include "sextant/ops/control_flow/optional_value.h"

namespace sextant {

namespace {

const OptionalValue& OptionalOf(const Tensor& tensor) {
  if (tensor.num_elements() != 1) {
    throw InvalidArgument("An optional must be a scalar, got {}", tensor.Describe());
  }
  const OptionalValue* optional = tensor.data<Variant>()->Get<OptionalValue>();
  if (!optional) throw InvalidArgument("Input is not an optional.");
  return *optional;
}

void FromValue(KernelContext& ctx) {
  OptionalValue optional;
  for (int i = 0; i < ctx.num_inputs(); ++i)
    optional.components.push_back(ctx.input(i).Persistent());
  ctx.SetOutput(0, Tensor::Scalar(Variant::Of(std::move(optional))));
}

void None(KernelContext& ctx) { ctx.SetOutput(0, Tensor::Scalar(Variant::Of(OptionalValue()))); }

void HasValue(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<bool>() = !OptionalOf(ctx.input(0)).components.empty();
}

class GetValueKernel : public Kernel {
 public:
  explicit GetValueKernel(KernelInit& init)
      : shapes_(init.attr<std::vector<PartialShape>>("output_shapes")) {}

  void Compute(KernelContext& ctx) override {
    const OptionalValue& optional = OptionalOf(ctx.input(0));
    if (optional.components.empty()) {
      throw InvalidArgument("The given optional does not have a value.");
    }
    if (optional.components.size() != static_cast<size_t>(ctx.num_outputs())) {
      throw InvalidArgument("The given optional has {} components, expected {}.",
                            optional.components.size(), ctx.num_outputs());
    }
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      const Tensor& value = optional.components[i];
      if (value.dtype() != ctx.output_type(i) || !shapes_[i].CompatibleWith(value.shape())) {
        throw InvalidArgument("Component {} of the optional is {}, expected {} {}", i,
                              value.Describe(), DTypeName(ctx.output_type(i)),
                              shapes_[i].ToString());
      }
      ctx.SetOutput(i, value);
    }
  }

 private:
  const std::vector<PartialShape> shapes_;
};

}  // namespace

void RegisterOptionalCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("OptionalFromValue").OwnOutputs().Function(FromValue));
  registry.Add(KernelDef("OptionalNone").OwnOutputs().Function(None));
  registry.Add(KernelDef("OptionalHasValue").Function(HasValue));
  registry.Add(KernelDef("OptionalGetValue").OwnOutputs().Make<GetValueKernel>());
}

}  // namespace sextant
