#include <algorithm>
#include <limits>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/nn/conv_geometry.h"
#include "sextant/tensor/float16.h"

namespace sextant {
namespace {

constexpr float kLowestHalf = -65504.0f, kLowestBFloat16 = -0x1.fep127f;

// Sums in T, 16-bit floats rounded to their type and held as floats.
template <typename T>
struct Number {
  using Value = T;
  static constexpr Value kLowest = std::numeric_limits<T>::lowest();
  static Value Add(T a, T b) { return Wrapping::Add(a, b); }
};
template <typename T>
struct Float16Number {
  using Value = float;
  static constexpr Value kLowest = std::is_same_v<T, Half> ? kLowestHalf : kLowestBFloat16;
  static Value Add(T a, T b) {
    return static_cast<float>(T(static_cast<float>(a) + static_cast<float>(b)));
  }
};
template <>
struct Number<Half> : Float16Number<Half> {};
template <>
struct Number<BFloat16> : Float16Number<BFloat16> {};

// The largest sum at a position and where it comes from: elements of filter and input.
template <typename T>
struct Largest {
  typename Number<T>::Value value = Number<T>::kLowest;
  int64_t in_filter, in_input;

  Largest(const ConvGeometry& g, const T* input, const T* filter, int64_t position, int64_t c) {
    const int64_t ow = position % g.width.out, oh = position / g.width.out % g.height.out;
    const int64_t n = position / g.out_pixels();
    const auto place = [&](int64_t ih, int64_t iw) {
      return ((n * g.height.in + ih) * g.width.in + iw) * g.in_c + c;
    };
    in_filter = c;
    in_input = place(std::clamp<int64_t>(g.height.InputIndex(oh, 0), 0, g.height.in - 1),
                     std::clamp<int64_t>(g.width.InputIndex(ow, 0), 0, g.width.in - 1));
    for (int64_t fh = 0; fh < g.height.filter; ++fh) {
      const int64_t ih = g.height.InputIndex(oh, fh);
      if (ih < 0 || ih >= g.height.in) continue;
      for (int64_t fw = 0; fw < g.width.filter; ++fw) {
        const int64_t iw = g.width.InputIndex(ow, fw);
        if (iw < 0 || iw >= g.width.in) continue;
        const int64_t tap = (fh * g.width.filter + fw) * g.in_c + c, at = place(ih, iw);
        const auto sum = Number<T>::Add(input[at], filter[tap]);
        if (sum > value) {
          value = sum;
          in_filter = tap;
          in_input = at;
        }
      }
    }
  }
};

class DilationAttrs {
 public:
  explicit DilationAttrs(const KernelInit& init) : attrs_(init.node(), 2, "rates") {}

  ConvGeometry Geometry(const Shape& input, const Shape& filter) const {
    if (filter.rank() != 3) {
      throw InvalidArgument("filter must be 3-dimensional: {}", filter.ToString());
    }
    if (filter.num_elements() == 0) {
      throw InvalidArgument("filter must not be empty: {}", filter.ToString());
    }
    return attrs_.Depthwise(input, Shape{filter[0], filter[1], filter[2], 1});
  }
  Shape OutputShape(const ConvGeometry& g) const { return attrs_.OutputShape(g); }
  // For what one element costs in nanoseconds.
  static double Cost(const ConvGeometry& g) {
    return 5.0 + 2.0 * static_cast<double>(g.filter_pixels());
  }

 private:
  const ConvAttrs attrs_;
};

template <typename T>
class DilationKernel final : public Kernel {
 public:
  explicit DilationKernel(KernelInit& init) : attrs_(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    const ConvGeometry g = attrs_.Geometry(input.shape(), filter.shape());
    T* const out = ctx.AllocateOutput(0, attrs_.OutputShape(g)).template data<T>();
    const int64_t total = g.batch * g.out_pixels() * g.out_c;
    ctx.ParallelFor(total, DilationAttrs::Cost(g), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] =
            T(Largest<T>(g, input.data<T>(), filter.data<T>(), i / g.out_c, i % g.out_c).value);
      }
    });
  }

 private:
  const DilationAttrs attrs_;
};

template <typename T, bool of_filter>
class DilationBackpropKernel final : public Kernel {
 public:
  explicit DilationBackpropKernel(KernelInit& init) : attrs_(init) {}

  // Channels are independent of each other; the gradients of one are added in order.
  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1), &out_backprop = ctx.input(2);
    const ConvGeometry g = attrs_.Geometry(input.shape(), filter.shape());
    if (!(out_backprop.shape() == attrs_.OutputShape(g))) {
      throw InvalidArgument("out_backprop must have the shape of the output: {}, got {}",
                            attrs_.OutputShape(g).ToString(), out_backprop.shape().ToString());
    }
    Tensor& grad = ctx.AllocateOutput(0, of_filter ? filter.shape() : input.shape());
    T* const to = grad.data<T>();
    std::fill_n(to, grad.num_elements(), T(0));
    const T* const from = out_backprop.data<T>();
    const int64_t positions = g.batch * g.out_pixels();
    const double cost = DilationAttrs::Cost(g) * static_cast<double>(positions);
    ctx.ParallelFor(g.in_c, cost, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t position = 0; position < positions; ++position) {
          const Largest<T> largest(g, input.data<T>(), filter.data<T>(), position, c);
          T& sum = to[of_filter ? largest.in_filter : largest.in_input];
          sum = T(Number<T>::Add(sum, from[position * g.in_c + c]));
        }
      }
    });
  }

 private:
  const DilationAttrs attrs_;
};

}  // namespace

void RegisterDilation2DCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("Dilation2D").Type<T>("T").template Make<DilationKernel<T>>());
    registry.Add(KernelDef("Dilation2DBackpropInput")
                     .Type<T>("T")
                     .template Make<DilationBackpropKernel<T, false>>());
    registry.Add(KernelDef("Dilation2DBackpropFilter")
                     .Type<T>("T")
                     .template Make<DilationBackpropKernel<T, true>>());
  });
}

}  // namespace sextant
