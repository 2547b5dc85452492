#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

template <typename T>
auto Comparable(const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return float(x);
  } else {
    return x;
  }
}

// Orders positions of a row: larger values first, then lower positions; NaN after all numbers.
template <typename T>
struct Before {
  const T* row;
  bool operator()(int32_t a, int32_t b) const {
    const auto x = Comparable(row[a]), y = Comparable(row[b]);
    if (x > y) return true;
    if (y > x) return false;
    const bool x_number = x == x, y_number = y == y;
    if (x_number != y_number) return x_number;
    return a < b;
  }
};

template <typename T>
class TopKKernel : public Kernel {
 public:
  explicit TopKKernel(KernelInit& init)
      : k_(init.num_inputs() == 1 ? init.attr<int64_t>("k") : -1),
        sorted_(init.attr<bool>("sorted")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int64_t k = k_ >= 0 ? k_ : IndexScalar(ctx.input(1), "k");
    if (k < 0) throw InvalidArgument("Need k >= 0, got {}", k);
    if (input.rank() < 1) throw InvalidArgument("input must be >= 1-D, got a scalar");
    const int64_t columns = input.dim(input.rank() - 1);
    if (columns < k) {
      throw InvalidArgument("input must have at least k columns. Had {}, needed {}", columns, k);
    }
    if (columns > std::numeric_limits<int32_t>::max()) {
      throw InvalidArgument("rows of {} columns are too long", columns);
    }
    Shape shape = input.shape();
    shape.set_dim(input.rank() - 1, k);
    Tensor& values = ctx.AllocateOutput(0, shape);
    Tensor& indices = ctx.AllocateOutput(1, shape);
    if (values.num_elements() == 0) return;
    const T* row = input.data<T>();
    T* value = values.data<T>();
    for (int64_t r = 0; r < input.num_elements() / columns; ++r, row += columns) {
      Select(row, static_cast<int32_t>(columns), static_cast<int32_t>(k));
      for (int64_t i = 0; i < k; ++i) {
        *value++ = row[best_[i]];
        SetIndex(indices, r * k + i, best_[i]);
      }
    }
  }

 private:
  // best_[0, k) := the positions chosen. The worst of them is at the top of a heap while the row is
  // read; unsorted, they stay in the order TensorFlow leaves them in.
  void Select(const T* row, int32_t columns, int32_t k) {
    const Before<T> before{row};
    best_.resize(k + 1);
    if (k == 1) {
      best_[0] = 0;
      for (int32_t i = 1; i < columns; ++i) {
        if (before(i, best_[0])) best_[0] = i;
      }
      return;
    }
    std::iota(best_.begin(), best_.end() - 1, 0);
    if (k < columns) {
      best_[k] = k;
      std::make_heap(best_.begin(), best_.end(), before);
      std::pop_heap(best_.begin(), best_.end(), before);
      for (int32_t i = k + 1; i < columns; ++i) {
        if (!before(i, best_[0])) continue;
        std::pop_heap(best_.begin(), best_.end() - 1, before);
        best_[k - 1] = i;
        std::push_heap(best_.begin(), best_.end() - 1, before);
      }
    }
    if (sorted_ || k == columns) std::sort(best_.begin(), best_.end() - 1, before);
  }

  static void SetIndex(Tensor& out, int64_t i, int32_t index) {
    switch (out.dtype()) {
      case DType::kInt64:
        out.data<int64_t>()[i] = index;
        break;
      case DType::kInt16:
        out.data<int16_t>()[i] = static_cast<int16_t>(index);
        break;
      default:
        out.data<int32_t>()[i] = index;
    }
  }

  const int64_t k_;
  const bool sorted_;
  std::vector<int32_t> best_;
};

}  // namespace

void RegisterTopKCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("TopK").Type<T>("T").template Make<TopKKernel<T>>());
    registry.Add(KernelDef("TopKV2").Type<T>("T").template Make<TopKKernel<T>>());
  });
}

}  // namespace sextant
