#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

void Forward(KernelContext& ctx) { ctx.ForwardInput(0, 0); }

void ForwardAll(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) ctx.ForwardInput(i, i);
}

void Copy(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  Tensor& out = ctx.AllocateOutput(0, input.shape());
  StridedCopy copy;
  copy.Add(input.num_elements(), 1, 1);
  copy.Run(ctx, out, 0, input, 0);
}

class EnsureShapeKernel : public Kernel {
 public:
  explicit EnsureShapeKernel(KernelInit& init) : shape_(init.attr<PartialShape>("shape")) {}
  void Compute(KernelContext& ctx) override {
    const Shape& shape = ctx.input(0).shape();
    if (!shape_.CompatibleWith(shape)) {
      throw InvalidArgument("Shape of tensor input {} is not compatible with expected shape {}.",
                            shape.ToString(), shape_.ToString());
    }
    ctx.ForwardInput(0, 0);
  }

 private:
  const PartialShape shape_;
};

}  // namespace

void RegisterIdentityCpu(KernelRegistry& registry) {
  for (const char* op :
       {"Identity", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst"}) {
    registry.Add(KernelDef(op).Alias(0, 0).Function(Forward));
  }
  // Pairs beyond the node's outputs do no harm; outputs beyond these pairs are copied.
  KernelDef identity_n("IdentityN");
  for (int i = 0; i < 64; ++i) identity_n.Alias(i, i);
  registry.Add(identity_n.Function(ForwardAll));
  registry.Add(KernelDef("DeepCopy").Function(Copy));
  registry.Add(KernelDef("EnsureShape").Alias(0, 0).Make<EnsureShapeKernel>());
}

}  // namespace sextant
