#include <limits>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

// 16-bit floats are compared as floats.
template <typename T>
auto Comparable(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <typename T, bool max>
class ArgKernel : public Kernel {
 public:
  explicit ArgKernel(KernelInit& init) : output_type_(init.output_type(0)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int64_t given = IndexScalar(ctx.input(1), "dimension");
    const int rank = input.rank();
    if (given < -rank || given >= rank) {
      throw InvalidArgument("Expected dimension in the range [{}, {}), but got {}", -rank, rank,
                            given);
    }
    const int axis = static_cast<int>(given < 0 ? given + rank : given);
    const int64_t count = input.dim(axis);
    if (count == 0) {
      throw InvalidArgument("Reduction axis {} is empty in shape {}", given,
                            input.shape().ToString());
    }
    Shape shape = input.shape();
    shape.Erase(axis);
    int64_t inner = 1;
    for (int i = axis + 1; i < rank; ++i) inner *= input.dim(i);
    const int64_t outer = inner == 0 ? 0 : shape.num_elements() / inner;
    Tensor& output = ctx.AllocateOutput(0, shape);
    const T* in = input.data<T>();
    ctx.ParallelFor(outer, static_cast<double>(count * inner), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        switch (output_type_) {
          case DType::kInt32:
            Row(in + o * count * inner, count, inner, output.data<int32_t>() + o * inner);
            break;
          case DType::kInt64:
            Row(in + o * count * inner, count, inner, output.data<int64_t>() + o * inner);
            break;
          default:  // int16 and uint16: the same bits
            Row(in + o * count * inner, count, inner,
                static_cast<uint16_t*>(output.raw_data()) + o * inner);
        }
      }
    });
  }

 private:
  template <typename V>
  static V Worst() {
    using Limits = std::numeric_limits<V>;
    if constexpr (Limits::has_infinity) return max ? -Limits::infinity() : Limits::infinity();
    return max ? Limits::lowest() : Limits::max();
  }
  template <typename Index>
  static void Row(const T* in, int64_t count, int64_t inner, Index* out) {
    for (int64_t j = 0; j < inner; ++j) {
      // A NaN is never chosen: it compares with nothing.
      int64_t best = 0;
      auto value = Worst<decltype(Comparable(*in))>();
      for (int64_t i = 0; i < count; ++i) {
        const auto next = Comparable(in[i * inner + j]);
        if (max ? next > value : next < value) {
          best = i;
          value = next;
        }
      }
      out[j] = static_cast<Index>(best);
    }
  }

  const DType output_type_;
};

}  // namespace

void RegisterArgReduceCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, bool>([&]<typename T>() {
    registry.Add(KernelDef("ArgMax").Type<T>("T").template Make<ArgKernel<T, true>>());
    registry.Add(KernelDef("ArgMin").Type<T>("T").template Make<ArgKernel<T, false>>());
  });
}

}  // namespace sextant
