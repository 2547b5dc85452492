#include <cmath>
#include <complex>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/arithmetic_type.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

struct RunningSum {
  template <typename W>
  static W Init() {
    return W(0);
  }
  template <typename W>
  static W Combine(W a, W b) {
    return Wrapping::Add(a, b);
  }
};
struct RunningProduct {
  template <typename W>
  static W Init() {
    return W(1);
  }
  template <typename W>
  static W Combine(W a, W b) {
    return Wrapping::Mul(a, b);
  }
};
struct RunningLogsumexp {
  template <typename W>
  static W Init() {
    return -std::numeric_limits<W>::infinity();
  }
  template <typename W>
  static W Combine(W a, W b) {
    // As in TensorFlow, both are the sum so far where the next element is NaN, and the sum of two
    // positive infinities is NaN.
    const W low = b < a ? b : a, high = a < b ? b : a;
    if (low == -std::numeric_limits<W>::infinity()) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

template <typename T, typename Op>
class ScanKernel : public Kernel {
 public:
  explicit ScanKernel(KernelInit& init)
      : exclusive_(init.attr<bool>("exclusive")), reverse_(init.attr<bool>("reverse")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &axes = ctx.input(1);
    if (axes.rank() != 0) {
      throw InvalidArgument("ScanOp: axis must be a scalar, not {}", axes.shape().ToString());
    }
    const int64_t given = IndexAt(axes, 0);
    const int rank = input.rank();
    if (given < -rank || given >= rank) {
      throw InvalidArgument("ScanOp: Expected scan axis in the range [{}, {}), but got {}", -rank,
                            rank, given);
    }
    const int axis = static_cast<int>(given < 0 ? given + rank : given);
    const int64_t count = input.dim(axis);
    int64_t inner = 1;
    for (int i = axis + 1; i < rank; ++i) inner *= input.dim(i);
    const T* in = static_cast<const T*>(input.raw_data());
    Tensor& output = ctx.AllocateOutput(0, input.shape());
    if (input.num_elements() == 0) return;
    T* out = static_cast<T*>(output.raw_data());
    const int64_t step = reverse_ ? -inner : inner, first = reverse_ ? (count - 1) * inner : 0;
    ctx.ParallelFor(input.num_elements() / count, 2.0 * static_cast<double>(count),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t line = begin; line < end; ++line) {
                        const int64_t start = line / inner * count * inner + line % inner + first;
                        auto total = Op::template Init<Arithmetic<T>>();
                        for (int64_t i = 0, at = start; i < count; ++i, at += step) {
                          const auto next = Op::template Combine<Arithmetic<T>>(
                              total, static_cast<Arithmetic<T>>(in[at]));
                          out[at] = static_cast<T>(exclusive_ ? total : next);
                          total = next;
                        }
                      }
                    });
  }

 private:
  const bool exclusive_, reverse_;
};

// Signed integers are computed as unsigned ones, whose overflow wraps.
template <typename Op>
void RegisterNumberScan(KernelRegistry& registry, const char* op) {
  const auto add = [&]<typename T>(std::vector<DType> types) {
    registry.Add(KernelDef(op)
                     .Types("T", std::move(types))
                     .InPlace(0, 0)
                     .template Make<ScanKernel<T, Op>>());
  };
  add.template operator()<uint8_t>({DType::kInt8, DType::kUInt8});
  add.template operator()<uint16_t>({DType::kInt16, DType::kUInt16});
  add.template operator()<uint32_t>({DType::kInt32, DType::kUInt32});
  add.template operator()<uint64_t>({DType::kInt64, DType::kUInt64});
  add.template operator()<std::complex<float>>({DType::kComplex64});
  add.template operator()<std::complex<double>>({DType::kComplex128});
}

template <typename Op>
void RegisterFloatingScan(KernelRegistry& registry, const char* op) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef(op).Type<T>("T").InPlace(0, 0).template Make<ScanKernel<T, Op>>());
  });
}

}  // namespace

void RegisterCumulativeCpu(KernelRegistry& registry) {
  RegisterFloatingScan<RunningSum>(registry, "Cumsum");
  RegisterFloatingScan<RunningProduct>(registry, "Cumprod");
  RegisterFloatingScan<RunningLogsumexp>(registry, "CumulativeLogsumexp");
  RegisterNumberScan<RunningSum>(registry, "Cumsum");
  RegisterNumberScan<RunningProduct>(registry, "Cumprod");
}

}  // namespace sextant
