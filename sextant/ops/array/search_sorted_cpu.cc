#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

template <typename T>
bool Less(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return float(a) < float(b);
  } else {
    return a < b;
  }
}

template <typename T, bool upper>
void Bound(KernelContext& ctx) {
  const Tensor& rows = ctx.input(0);
  const Tensor& values = ctx.input(1);
  if (rows.rank() != 2 || values.rank() != 2 || rows.dim(0) != values.dim(0)) {
    throw InvalidArgument("sorted_inputs {} and values {} must be matrices of as many rows",
                          rows.shape().ToString(), values.shape().ToString());
  }
  Tensor& out = ctx.AllocateOutput(0, values.shape());
  const int64_t length = rows.dim(1), columns = values.dim(1);
  const auto v = values.flat<T>();
  const auto search = [&](auto* result) {
    ctx.ParallelFor(values.num_elements(), 20, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* const row = rows.data<T>() + i / columns * length;
        const T* const found = upper ? std::upper_bound(row, row + length, v[i], Less<T>)
                                     : std::lower_bound(row, row + length, v[i], Less<T>);
        result[i] = static_cast<std::remove_pointer_t<decltype(result)>>(found - row);
      }
    });
  };
  if (out.dtype() == DType::kInt64) {
    search(out.data<int64_t>());
  } else {
    search(out.data<int32_t>());
  }
}

template <typename T>
class BucketizeKernel : public Kernel {
 public:
  explicit BucketizeKernel(KernelInit& init)
      : boundaries_(init.attr<std::vector<float>>("boundaries")) {
    if (!std::is_sorted(boundaries_.begin(), boundaries_.end())) {
      throw InvalidArgument("Expected sorted boundaries");
    }
  }

  void Compute(KernelContext& ctx) override {
    const auto x = ctx.input(0).flat<T>();
    const auto out = ctx.AllocateOutput(0, ctx.input(0).shape()).template flat<int32_t>();
    ctx.ParallelFor(static_cast<int64_t>(x.size()), 20, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto found = std::upper_bound(boundaries_.begin(), boundaries_.end(), x[i]);
        out[i] = static_cast<int32_t>(found - boundaries_.begin());
      }
    });
  }

 private:
  const std::vector<float> boundaries_;
};

}  // namespace

void RegisterSearchSortedCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("LowerBound").Type<T>("T").Function(Bound<T, false>));
    registry.Add(KernelDef("UpperBound").Type<T>("T").Function(Bound<T, true>));
  });
  ForTypes<int32_t, int64_t, float, double>([&]<typename T>() {
    registry.Add(KernelDef("Bucketize").Type<T>("T").template Make<BucketizeKernel<T>>());
  });
}

}  // namespace sextant
