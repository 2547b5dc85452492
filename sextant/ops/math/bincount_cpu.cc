#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

template <typename T>
class BincountKernel : public Kernel {
 public:
  explicit BincountKernel(KernelInit& init)
      : dense_(init.node().type() == "DenseBincount"),
        binary_(dense_ && init.attr<bool>("binary_output")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &weights = ctx.input(2);
    if (ctx.input(1).rank() != 0) {
      throw InvalidArgument("Shape must be rank 0 but is rank {}", ctx.input(1).rank());
    }
    const int64_t size = IndexAt(ctx.input(1), 0);
    if (size < 0) throw InvalidArgument("size ({}) must be non-negative", size);
    if (dense_ && input.rank() > 2) {
      throw InvalidArgument("Shape must be at most rank 2 but is rank {}", input.rank());
    }
    if (weights.num_elements() != 0 && weights.num_elements() != input.num_elements()) {
      throw InvalidArgument("Input indices and weights must have the same size: {} and {}",
                            input.shape().ToString(), weights.shape().ToString());
    }
    ReadIndices(input, &values_);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] < 0) {
        throw InvalidArgument("Input arr must be non-negative! arr{} = {}",
                              CoordinatesText(input.shape(), static_cast<int64_t>(i)), values_[i]);
      }
    }
    const bool rows = dense_ && input.rank() == 2;
    Shape shape = rows ? Shape{input.dim(0), size} : Shape{size};
    if (dense_ && input.rank() == 0) shape = Shape{0};
    Tensor& output = ctx.AllocateOutput(0, shape);
    if (output.num_elements() == 0) return;
    T* out = output.data<T>();
    std::fill(out, out + output.num_elements(), T(0));
    const T* weight = weights.num_elements() == 0 || binary_ ? nullptr : weights.data<T>();
    const int64_t row_size = rows ? input.dim(1) : input.num_elements();
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] >= size) continue;
      T& bin = out[static_cast<int64_t>(i) / row_size * size + values_[i]];
      bin = binary_ ? T(1) : Wrapping::Add(bin, weight ? weight[i] : T(1));
    }
  }

 private:
  const bool dense_, binary_;
  std::vector<int64_t> values_;
};

template <typename T>
class HistogramKernel : public Kernel {
 public:
  explicit HistogramKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &values = ctx.input(0), &range = ctx.input(1);
    if (range.rank() != 1 || range.num_elements() != 2) {
      throw InvalidArgument("value_range should be a vector of 2 elements, not {}",
                            range.shape().ToString());
    }
    const int64_t bins = IndexScalar(ctx.input(2), "nbins");
    if (bins <= 0) throw InvalidArgument("nbins should be a positive number, but got '{}'", bins);
    const T low = range.data<T>()[0], high = range.data<T>()[1];
    if (!(low < high)) {
      throw InvalidArgument(
          "value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'", low,
          high);
    }
    counts_.assign(bins, 0);
    // As TensorFlow computes it, so that values at an edge go where it puts them, and a range of
    // all floats does not overflow.
    const auto first = static_cast<double>(low), count = static_cast<double>(bins);
    const double step = static_cast<double>(high) / count - first / count;
    for (const T value : values.flat<T>()) {
      if (value != value) throw InvalidArgument("Histogram values must not contain NaN");
      const double place = value > low ? (static_cast<double>(value) - first) / step : 0.0;
      ++counts_[static_cast<int64_t>(std::min(place, static_cast<double>(bins - 1)))];
    }
    Tensor& output = ctx.AllocateOutput(0, {bins});
    if (output.dtype() == DType::kInt64) {
      std::copy(counts_.begin(), counts_.end(), output.data<int64_t>());
    } else {
      std::copy(counts_.begin(), counts_.end(), output.data<int32_t>());
    }
  }

 private:
  std::vector<int64_t> counts_;
};

}  // namespace

void RegisterBincountCpu(KernelRegistry& registry) {
  ForTypes<int32_t, int64_t, float, double>([&]<typename T>() {
    registry.Add(KernelDef("Bincount").Type<T>("T").template Make<BincountKernel<T>>());
    registry.Add(KernelDef("DenseBincount").Type<T>("T").template Make<BincountKernel<T>>());
    registry.Add(KernelDef("HistogramFixedWidth").Type<T>("T").template Make<HistogramKernel<T>>());
  });
}

}  // namespace sextant
