#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

int Axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("axis = {} not in [{}, {})", axis, -rank, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int64_t Product(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int d = begin; d < end; ++d) product *= shape[d];
  return product;
}

class PackKernel : public Kernel {
 public:
  explicit PackKernel(KernelInit& init) : axis_(init.attr<int64_t>("axis")) {}

  void Compute(KernelContext& ctx) override {
    const Shape& first = ctx.input(0).shape();
    const int axis = Axis(axis_, first.rank() + 1);
    const int count = ctx.num_inputs();
    for (int i = 1; i < count; ++i) {
      if (!(ctx.input(i).shape() == first)) {
        throw InvalidArgument(
            "Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}",
            first.ToString(), i, ctx.input(i).shape().ToString());
      }
    }
    Shape shape = first;
    shape.Insert(axis, count);
    Tensor& out = ctx.AllocateOutput(0, shape);
    const int64_t outer = Product(first, 0, axis), inner = Product(first, axis, first.rank());
    StridedCopy copy;
    copy.Add(outer, inner * count, inner);
    copy.Add(inner, 1, 1);
    for (int i = 0; i < count; ++i) copy.Run(ctx, out, i * inner, ctx.input(i), 0);
  }

 private:
  const int64_t axis_;
};

class UnpackKernel : public Kernel {
 public:
  explicit UnpackKernel(KernelInit& init) : axis_(init.attr<int64_t>("axis")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int axis = Axis(axis_, input.rank());
    const int count = ctx.num_outputs();
    if (input.dim(axis) != count) {
      throw InvalidArgument("Input shape axis {} must equal {}, got shape {}", axis, count,
                            input.shape().ToString());
    }
    const int64_t outer = Product(input.shape(), 0, axis);
    const int64_t inner = Product(input.shape(), axis + 1, input.rank());
    Shape shape = input.shape();
    shape.Erase(axis);
    StridedCopy copy;
    copy.Add(outer, inner, inner * count);
    copy.Add(inner, 1, 1);
    for (int i = 0; i < count; ++i)
      copy.Run(ctx, ctx.AllocateOutput(i, shape), 0, input, i * inner);
  }

 private:
  const int64_t axis_;
};

}  // namespace

void RegisterPackCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Pack").Make<PackKernel>());
  registry.Add(KernelDef("Unpack").Make<UnpackKernel>());
}

}  // namespace sextant
