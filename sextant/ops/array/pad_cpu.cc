#include <complex>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

struct Border {
  int64_t before, after;
};

Border BorderOf(const Tensor& paddings, int d) {
  const Border border{IndexAt(paddings, 2 * d), IndexAt(paddings, 2 * d + 1)};
  if (border.before < 0 || border.after < 0) {
    throw InvalidArgument("Paddings must be non-negative: {} {}", border.before, border.after);
  }
  return border;
}

void CheckPaddings(const Tensor& paddings, int rank) {
  if (paddings.rank() != 2 || paddings.dim(0) != rank || paddings.dim(1) != 2) {
    throw InvalidArgument("paddings must be of shape [{}, 2], got {}", rank,
                          paddings.shape().ToString());
  }
}

int64_t PaddedSize(int64_t size, const Border& border) {
  if (__builtin_add_overflow(size, border.before, &size) ||
      __builtin_add_overflow(size, border.after, &size)) {
    throw InvalidArgument("paddings {} and {} are too large", border.before, border.after);
  }
  return size;
}

void Pad(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const Tensor& paddings = ctx.input(1);
  const int rank = input.rank();
  CheckPaddings(paddings, rank);
  Shape shape;
  for (int d = 0; d < rank; ++d) shape.Append(PaddedSize(input.dim(d), BorderOf(paddings, d)));
  if (ctx.num_inputs() == 3 && ctx.input(2).rank() != 0) {
    throw InvalidArgument("constant_values must be a scalar. Found: {}",
                          ctx.input(2).shape().ToString());
  }
  Tensor& out = ctx.AllocateOutput(0, shape);
  if (out.num_elements() != input.num_elements()) {
    if (ctx.num_inputs() == 3) {
      FillElements(ctx, out, ctx.input(2));
    } else {
      ZeroElements(ctx, out);
    }
  }
  if (input.num_elements() == 0) return;
  StridedCopy copy;
  int64_t dst_stride = out.num_elements(), src_stride = input.num_elements(), offset = 0;
  for (int d = 0; d < rank; ++d) {
    dst_stride /= shape[d];
    src_stride /= input.dim(d);
    offset += IndexAt(paddings, 2 * d) * dst_stride;
    copy.Add(input.dim(d), dst_stride, src_stride);
  }
  copy.Run(ctx, out, offset, input, 0);
}

// Per dimension and position in the padded tensor: where in the inner one its element comes from.
class MirrorKernel : public Kernel {
 public:
  explicit MirrorKernel(KernelInit& init)
      : edge_(init.attr<std::string>("mode") == "REFLECT" ? 1 : 0) {}

 protected:
  void SetSources(const Shape& inner, const Tensor& paddings) {
    const int rank = inner.rank();
    sources_.resize(rank);
    int64_t stride = inner.num_elements();
    for (int d = 0; d < rank; ++d) {
      const int64_t size = inner[d];
      const Border border = BorderOf(paddings, d);
      if (border.before > size - edge_ || border.after > size - edge_) {
        throw InvalidArgument("paddings must be {} the dimension size: {}, {} for size {}",
                              edge_ ? "less than" : "no greater than", border.before, border.after,
                              size);
      }
      if (inner.num_elements() == 0) continue;
      stride /= size;
      sources_[d].resize(PaddedSize(size, border));
      for (int64_t i = 0; i < static_cast<int64_t>(sources_[d].size()); ++i) {
        int64_t from = i - border.before;
        if (from < 0) from = -from - 1 + edge_;
        if (from >= size) from = 2 * size - 1 - edge_ - from;
        sources_[d][i] = from * stride;
      }
    }
  }

  // Calls row(position in the padded tensor, offset in the inner one) for each row of the last
  // dimension of the padded tensor.
  template <typename F>
  void ForRows(const Shape& padded, F&& row) {
    if (padded.num_elements() == 0) return;
    const int outer = padded.rank() - 1;
    const int64_t length = padded[outer];
    index_.assign(outer, 0);
    for (int64_t position = 0; position < padded.num_elements(); position += length) {
      int64_t offset = 0;
      for (int d = 0; d < outer; ++d) offset += sources_[d][index_[d]];
      row(position, offset);
      for (int d = outer - 1; d >= 0 && ++index_[d] == padded[d]; --d) index_[d] = 0;
    }
  }

  const std::vector<int64_t>& columns() const { return sources_.back(); }

 private:
  const int64_t edge_;
  std::vector<std::vector<int64_t>> sources_;
  std::vector<int64_t> index_;
};

class MirrorPadKernel : public MirrorKernel {
 public:
  using MirrorKernel::MirrorKernel;

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    CheckPaddings(ctx.input(1), input.rank());
    if (input.rank() == 0) return ctx.SetOutput(0, input);
    SetSources(input.shape(), ctx.input(1));
    Shape shape;
    for (int d = 0; d < input.rank(); ++d) {
      shape.Append(PaddedSize(input.dim(d), BorderOf(ctx.input(1), d)));
    }
    Tensor& out = ctx.AllocateOutput(0, shape);
    WithElement(out.dtype(), [&]<typename T>() {
      const T* const src = static_cast<const T*>(input.raw_data());
      T* const dst = static_cast<T*>(out.raw_data());
      ForRows(shape, [&](int64_t position, int64_t offset) {
        T* to = dst + position;
        for (int64_t column : columns()) *to++ = src[offset + column];
      });
    });
  }
};

template <typename T>
class MirrorPadGradKernel : public MirrorKernel {
 public:
  using MirrorKernel::MirrorKernel;

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    CheckPaddings(ctx.input(1), input.rank());
    if (input.rank() == 0) return ctx.SetOutput(0, input);
    Shape shape;
    for (int d = 0; d < input.rank(); ++d) {
      const Border border = BorderOf(ctx.input(1), d);
      const int64_t size = input.dim(d) - PaddedSize(0, border);
      if (size < 0) {
        throw InvalidArgument("paddings {} and {} are larger than dimension {} of size {}",
                              border.before, border.after, d, input.dim(d));
      }
      shape.Append(size);
    }
    SetSources(shape, ctx.input(1));
    Tensor& out = ctx.AllocateOutput(0, shape);
    ZeroElements(ctx, out);
    if (out.num_elements() == 0) return;
    const T* const src = input.data<T>();
    T* const dst = out.data<T>();
    ForRows(input.shape(), [&](int64_t position, int64_t offset) {
      const T* from = src + position;
      for (int64_t column : columns()) Accumulate(dst[offset + column], *from++);
    });
  }

 private:
  static void Accumulate(T& sum, const T& value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      sum = T(float(sum) + float(value));
    } else {
      sum = static_cast<T>(sum + value);
    }
  }
};

}  // namespace

void RegisterPadCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Pad").Function(Pad));
  registry.Add(KernelDef("PadV2").Function(Pad));
  registry.Add(KernelDef("MirrorPad").Make<MirrorPadKernel>());
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, std::complex<float>, std::complex<double>>([&]<typename T>() {
    registry.Add(KernelDef("MirrorPadGrad").Type<T>("T").template Make<MirrorPadGradKernel<T>>());
  });
}

}  // namespace sextant
