#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/nn/conv_geometry.h"
#include "sextant/ops/nn/conv_operand.h"

namespace sextant {
namespace {

// Channels are last in all that these loops see; an element of the output belongs to one thread,
// which adds its terms in the order of the taps.

// y[c * m + q] += x[c] * f[c * m + q]
template <typename T>
void AddProducts(int64_t channels, int64_t m, const T* x, const T* f, T* y) {
  if (m == 1) {
    for (int64_t c = 0; c < channels; ++c) y[c] += x[c] * f[c];
    return;
  }
  for (int64_t c = 0; c < channels; ++c, f += m, y += m) {
    for (int64_t q = 0; q < m; ++q) y[q] += x[c] * f[q];
  }
}

// x[c] += sum over q of y[c * m + q] * f[c * m + q]
template <typename T>
void AddDots(int64_t channels, int64_t m, const T* y, const T* f, T* x) {
  if (m == 1) return AddProducts<T>(channels, 1, y, f, x);
  for (int64_t c = 0; c < channels; ++c, f += m, y += m) {
    T sum(0);
    for (int64_t q = 0; q < m; ++q) sum += y[q] * f[q];
    x[c] += sum;
  }
}

template <typename T>
void Forward(KernelContext& ctx, const ConvGeometry& g, const T* input, const T* filter,
             T* output) {
  const int64_t m = g.out_c / g.in_c;
  const double cost = 0.3 * static_cast<double>(g.width.out * g.out_c * (1 + g.filter_pixels()));
  ctx.ParallelFor(g.batch * g.height.out, cost, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t n = line / g.height.out, oh = line % g.height.out;
      T* y = output + line * g.width.out * g.out_c;
      for (int64_t ow = 0; ow < g.width.out; ++ow, y += g.out_c) {
        std::fill_n(y, g.out_c, T(0));
        const T* f = filter;
        for (int64_t fh = 0; fh < g.height.filter; ++fh) {
          const int64_t ih = g.height.InputIndex(oh, fh);
          for (int64_t fw = 0; fw < g.width.filter; ++fw, f += g.out_c) {
            const int64_t iw = g.width.InputIndex(ow, fw);
            if (ih < 0 || ih >= g.height.in || iw < 0 || iw >= g.width.in) continue;
            const int64_t at = (n * g.height.in + ih) * g.width.in + iw;
            AddProducts(g.in_c, m, input + at * g.in_c, f, y);
          }
        }
      }
    }
  });
}

template <typename T>
void BackpropInput(KernelContext& ctx, const ConvGeometry& g, const T* filter,
                   const T* out_backprop, T* grad_input) {
  const int64_t m = g.out_c / g.in_c;
  const double cost = 0.3 * static_cast<double>(g.width.in * g.out_c * (1 + g.filter_pixels()));
  ctx.ParallelFor(g.batch * g.height.in, cost, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t n = line / g.height.in, ih = line % g.height.in;
      T* x = grad_input + line * g.width.in * g.in_c;
      for (int64_t iw = 0; iw < g.width.in; ++iw, x += g.in_c) {
        std::fill_n(x, g.in_c, T(0));
        const T* f = filter;
        for (int64_t fh = 0; fh < g.height.filter; ++fh) {
          const int64_t oh = g.height.OutputIndex(ih, fh);
          for (int64_t fw = 0; fw < g.width.filter; ++fw, f += g.out_c) {
            const int64_t ow = g.width.OutputIndex(iw, fw);
            if (oh < 0 || ow < 0) continue;
            const int64_t at = (n * g.height.out + oh) * g.width.out + ow;
            AddDots(g.in_c, m, out_backprop + at * g.out_c, f, x);
          }
        }
      }
    }
  });
}

// Adds the products of one output line and the input lines it sees, tap by tap.
template <typename T>
void AddLineGradient(const ConvGeometry& g, const T* input, const T* out_backprop, int64_t line,
                     T* grad) {
  const int64_t m = g.out_c / g.in_c, n = line / g.height.out, oh = line % g.height.out;
  for (int64_t fh = 0; fh < g.height.filter; ++fh) {
    const int64_t ih = g.height.InputIndex(oh, fh);
    if (ih < 0 || ih >= g.height.in) continue;
    const T* x = input + (n * g.height.in + ih) * g.width.in * g.in_c;
    for (int64_t fw = 0; fw < g.width.filter; ++fw) {
      const T* y = out_backprop + line * g.width.out * g.out_c;
      T* const sum = grad + (fh * g.width.filter + fw) * g.out_c;
      for (int64_t ow = 0; ow < g.width.out; ++ow, y += g.out_c) {
        const int64_t iw = g.width.InputIndex(ow, fw);
        if (iw >= 0 && iw < g.width.in) AddProducts(g.in_c, m, x + iw * g.in_c, y, sum);
      }
    }
  }
}

// Blocks of lines are summed apart and then together: as many whatever the number of threads.
template <typename T>
void BackpropFilter(KernelContext& ctx, const ConvGeometry& g, const T* input,
                    const T* out_backprop, T* grad_filter) {
  constexpr int64_t kMostBlocks = 32;
  const int64_t lines = g.batch * g.height.out, size = g.filter_pixels() * g.out_c;
  const int64_t blocks = std::clamp<int64_t>(lines, 1, kMostBlocks);
  Tensor partial = ctx.AllocateTemp(DTypeOf<T>, Shape{blocks, size});
  T* const sums = partial.template data<T>();
  const double cost = 0.3 * static_cast<double>(lines * g.width.out * size) / blocks;
  ctx.ParallelFor(blocks, cost + 1.0, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      T* const sum = sums + block * size;
      std::fill_n(sum, size, T(0));
      for (int64_t line = lines * block / blocks; line < lines * (block + 1) / blocks; ++line) {
        AddLineGradient(g, input, out_backprop, line, sum);
      }
    }
  });
  std::copy_n(sums, size, grad_filter);
  for (int64_t block = 1; block < blocks; ++block) {
    for (int64_t i = 0; i < size; ++i) grad_filter[i] += sums[block * size + i];
  }
}

template <typename T>
class DepthwiseKernel final : public Kernel {
 public:
  explicit DepthwiseKernel(KernelInit& init) : attrs_(init.node(), 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    const ConvGeometry g = attrs_.Depthwise(input.shape(), filter.shape());
    Tensor& output = ctx.AllocateOutput(0, attrs_.OutputShape(g));
    if (output.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    Forward(ctx, g, operands.input.Read(input), operands.filter.Read(filter),
            operands.output.Write(output));
    operands.output.Finish();
  }

 private:
  const ConvAttrs attrs_;
};

template <typename T>
class DepthwiseBackpropInputKernel final : public Kernel {
 public:
  explicit DepthwiseBackpropInputKernel(KernelInit& init) : attrs_(init.node(), 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &filter = ctx.input(1), &out_backprop = ctx.input(2);
    CheckVector(ctx.input(0), "input_sizes", 4);
    const Shape shape = ShapeFromTensor(ctx.input(0), "input_sizes");
    const ConvGeometry g = attrs_.DepthwiseBackprop(shape, filter.shape(), out_backprop.shape());
    Tensor& grad = ctx.AllocateOutput(0, shape);
    if (grad.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    BackpropInput(ctx, g, operands.filter.Read(filter), operands.output.Read(out_backprop),
                  operands.input.Write(grad));
    operands.input.Finish();
  }

 private:
  const ConvAttrs attrs_;
};

template <typename T>
class DepthwiseBackpropFilterKernel final : public Kernel {
 public:
  explicit DepthwiseBackpropFilterKernel(KernelInit& init) : attrs_(init.node(), 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &out_backprop = ctx.input(2);
    CheckVector(ctx.input(1), "filter_sizes", 4);
    const Shape shape = ShapeFromTensor(ctx.input(1), "filter_sizes");
    const ConvGeometry g = attrs_.DepthwiseBackprop(input.shape(), shape, out_backprop.shape());
    Tensor& grad = ctx.AllocateOutput(0, shape);
    if (grad.num_elements() == 0) return;
    ConvOperands<T> operands(ctx, g);
    BackpropFilter(ctx, g, operands.input.Read(input), operands.output.Read(out_backprop),
                   operands.filter.Write(grad));
    operands.filter.Finish();
  }

 private:
  const ConvAttrs attrs_;
};

}  // namespace

void RegisterDepthwiseConvCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(
        KernelDef("DepthwiseConv2dNative").Type<T>("T").template Make<DepthwiseKernel<T>>());
    registry.Add(KernelDef("DepthwiseConv2dNativeBackpropInput")
                     .Type<T>("T")
                     .template Make<DepthwiseBackpropInputKernel<T>>());
    registry.Add(KernelDef("DepthwiseConv2dNativeBackpropFilter")
                     .Type<T>("T")
                     .template Make<DepthwiseBackpropFilterKernel<T>>());
  });
}

}  // namespace sextant
