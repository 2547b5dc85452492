#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"
#include "sextant/ops/sparse/sum_type.h"

namespace sextant {
namespace {

template <typename T>
class SparseAddKernel : public Kernel {
 public:
  explicit SparseAddKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    a_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "a_");
    b_.Set(ctx.input(3), ctx.input(4), ctx.input(5), "b_");
    if (!std::ranges::equal(a_.shape(), b_.shape())) {
      throw InvalidArgument("the operands have different shapes: {} and {}", IndexText(a_.shape()),
                            IndexText(b_.shape()));
    }
    const Tensor& threshold = ctx.input(6);
    if (threshold.rank() != 0) {
      throw InvalidArgument("thresh must be a scalar, got shape {}", threshold.shape().ToString());
    }
    Merge(ctx.input(1).data<T>(), ctx.input(4).data<T>(), *threshold.data<T>());
    const int rank = a_.rank();
    const auto count = static_cast<int64_t>(rows_.size());
    int64_t* const indices = ctx.AllocateOutput(0, {count, rank}).data<int64_t>();
    for (int64_t k = 0; k < count; ++k) std::copy_n(rows_[k], rank, indices + k * rank);
    std::copy(sums_.begin(), sums_.end(), ctx.AllocateOutput(1, {count}).data<T>());
    std::copy_n(a_.shape().data(), rank, ctx.AllocateOutput(2, {rank}).data<int64_t>());
  }

 private:
  void Merge(const T* a, const T* b, T threshold) {
    rows_.clear();
    sums_.clear();
    int64_t i = 0, j = 0;
    while (i < a_.count() || j < b_.count()) {
      const int compared = i == a_.count() ? 1
                           : j == b_.count()
                               ? -1
                               : CompareRows(a_.row(i).data(), b_.row(j).data(), a_.rank());
      if (compared < 0) {
        Keep(a_.row(i).data(), a[i]);
      } else if (compared > 0) {
        Keep(b_.row(j).data(), b[j]);
      } else {
        const T sum = Wrapping::Add(a[i], b[j]);
        const T magnitude = sum < T(0) ? Wrapping::Sub(T(0), sum) : sum;
        if (threshold <= magnitude) Keep(a_.row(i).data(), sum);
      }
      i += compared <= 0;
      j += compared >= 0;
    }
  }
  void Keep(const int64_t* row, T value) {
    rows_.push_back(row);
    sums_.push_back(value);
  }

  SparseInput a_, b_;
  std::vector<const int64_t*> rows_;
  std::vector<T> sums_;
};

class SparseAddGradKernel : public Kernel {
 public:
  explicit SparseAddGradKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& grad = ctx.input(0);
    const Tensor& sum = ctx.input(3);
    for (int i = 1; i < 4; ++i) {
      if (ctx.input(i).rank() != 2 || ctx.input(i).dim(1) != ctx.input(1).shape()[1]) {
        throw InvalidArgument(
            "a_indices {}, b_indices {} and sum_indices {} must be matrices of "
            "one width",
            ctx.input(1).shape().ToString(), ctx.input(2).shape().ToString(),
            sum.shape().ToString());
      }
    }
    CheckVector(grad, "backprop_val_grad", sum.dim(0));
    for (int operand = 0; operand < 2; ++operand) {
      const Tensor& indices = ctx.input(1 + operand);
      Tensor& out = ctx.AllocateOutput(operand, {indices.dim(0)});
      WithElement(out.dtype(), [&]<typename T>() {
        Pick(indices, sum, static_cast<const T*>(grad.raw_data()), static_cast<T*>(out.raw_data()));
      });
    }
  }

 private:
  // Both lists are in order.
  template <typename T>
  static void Pick(const Tensor& indices, const Tensor& sum, const T* grad, T* out) {
    const auto rank = static_cast<int>(indices.dim(1));
    const int64_t* const rows = indices.data<int64_t>();
    const int64_t* const sum_rows = sum.data<int64_t>();
    int64_t k = 0;
    for (int64_t i = 0; i < indices.dim(0); ++i) {
      int compared = -1;
      while (k < sum.dim(0) &&
             (compared = CompareRows(rows + i * rank, sum_rows + k * rank, rank)) > 0) {
        ++k;
      }
      out[i] = k < sum.dim(0) && compared == 0 ? grad[k++] : T{};
    }
  }
};

template <typename T>
class SparseTensorDenseAddKernel : public Kernel {
 public:
  explicit SparseTensorDenseAddKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    a_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "a_");
    const Tensor& b = ctx.input(3);
    if (!std::ranges::equal(a_.shape(), b.shape().dims())) {
      throw InvalidArgument("a has shape {}, b {}: they must be the same", IndexText(a_.shape()),
                            b.shape().ToString());
    }
    a_.CheckBounds();
    const T* const src = b.data<T>();
    Tensor& out = ctx.AllocateOutput(0, b.shape());
    T* const dst = out.data<T>();
    if (dst != src) std::copy_n(src, out.num_elements(), dst);
    const T* const values = ctx.input(1).data<T>();
    for (int64_t i = 0; i < a_.count(); ++i) {
      T& element = dst[a_.Position(i)];
      element = static_cast<T>(
          Wrapping::Add(static_cast<SumType<T>>(element), static_cast<SumType<T>>(values[i])));
    }
  }

 private:
  SparseInput a_;
};

}  // namespace

void RegisterSparseAddCpu(KernelRegistry& registry) {
  ForTypes<float, double, int8_t, int16_t, int32_t, int64_t>([&]<typename T>() {
    registry.Add(KernelDef("SparseAdd")
                     .Type<T>("T")
                     .template Type<T>("Treal")
                     .template Make<SparseAddKernel<T>>());
  });
  registry.Add(KernelDef("SparseAddGrad").Make<SparseAddGradKernel>());
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("SparseTensorDenseAdd")
                     .Type<T>("T")
                     .InPlace(0, 3)
                     .template Make<SparseTensorDenseAddKernel<T>>());
  });
}

}  // namespace sextant
