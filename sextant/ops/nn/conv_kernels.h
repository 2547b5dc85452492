// Kernels of convolutions with "dims" spatial axes, for _cpu files to register.
#pragma once

#include "sextant/base/error.h"
#include "sextant/device/kernel.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/nn/conv_geometry.h"
#include "sextant/ops/nn/conv_operand.h"
#include "sextant/ops/nn/conv_products.h"

namespace sextant {

template <typename T, int dims>
class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(KernelInit& init) : attrs_(init.node(), dims) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    const ConvGeometry g = attrs_.Convolution(input.shape(), filter.shape());
    Tensor& output = ctx.AllocateOutput(0, attrs_.OutputShape(g));
    if (output.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    ConvForward(ctx, g, operands.input.Read(input), operands.filter.Read(filter),
                operands.output.Write(output));
    operands.output.Finish();
  }

 private:
  const ConvAttrs attrs_;
};

template <typename T, int dims>
class ConvBackpropInputKernel final : public Kernel {
 public:
  explicit ConvBackpropInputKernel(KernelInit& init) : attrs_(init.node(), dims) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &filter = ctx.input(1), &out_backprop = ctx.input(2);
    const Shape shape = InputShape(ctx.input(0), filter.shape(), out_backprop.shape());
    const ConvGeometry g = attrs_.Backprop(shape, filter.shape(), out_backprop.shape());
    Tensor& grad = ctx.AllocateOutput(0, shape);
    if (grad.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    ConvBackpropInput(ctx, g, operands.filter.Read(filter), operands.output.Read(out_backprop),
                      operands.input.Write(grad));
    operands.input.Finish();
  }

 private:
  Shape InputShape(const Tensor& sizes, const Shape& filter, const Shape& out_backprop) const {
    if (dims == 2 && sizes.rank() == 1 && sizes.dim(0) == 2 && filter.rank() == 4 &&
        out_backprop.rank() == 4) {  // height and width
      Shape shape = out_backprop;
      shape.set_dim(attrs_.channel_index(), filter[2]);
      for (int i = 0; i < dims; ++i) {
        const int64_t size = IndexAt(sizes, i);
        if (size < 0) throw InvalidArgument("input_sizes must be >= 0, got {}", size);
        shape.set_dim(attrs_.spatial_index(i), size);
      }
      return shape;
    }
    CheckVector(sizes, "input_sizes", dims + 2);
    return ShapeFromTensor(sizes, "input_sizes");
  }

  const ConvAttrs attrs_;
};

template <typename T, int dims>
class ConvBackpropFilterKernel final : public Kernel {
 public:
  explicit ConvBackpropFilterKernel(KernelInit& init) : attrs_(init.node(), dims) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &out_backprop = ctx.input(2);
    CheckVector(ctx.input(1), "filter_sizes", dims + 2);
    const Shape shape = ShapeFromTensor(ctx.input(1), "filter_sizes");
    const ConvGeometry g = attrs_.Backprop(input.shape(), shape, out_backprop.shape());
    Tensor& grad = ctx.AllocateOutput(0, shape);
    if (grad.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    ConvBackpropFilter(ctx, g, operands.input.Read(input), operands.output.Read(out_backprop),
                       operands.filter.Write(grad));
    operands.filter.Finish();
  }

 private:
  const ConvAttrs attrs_;
};

}  // namespace sextant
