#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/integer_division.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"
#include "sextant/ops/sparse/sum_type.h"

namespace sextant {
namespace {

enum class CwiseOp { kAdd, kMul, kDiv };

template <typename T>
T Apply(CwiseOp op, T a, T b) {
  if (op == CwiseOp::kAdd) return Wrapping::Add(a, b);
  if (op == CwiseOp::kMul) return Wrapping::Mul(a, b);
  if (b == T(0)) throw InvalidArgument("the dense tensor has a zero divisor");
  if constexpr (std::is_integral_v<T>) {
    return IntegerDivision::Truncate(a, b);
  } else {
    return a / b;
  }
}

template <typename T>
class CwiseKernel : public Kernel {
 public:
  explicit CwiseKernel(KernelInit& init) {
    const std::string_view op = init.node().type();
    op_ = op.ends_with("Add") ? CwiseOp::kAdd : op.ends_with("Mul") ? CwiseOp::kMul : CwiseOp::kDiv;
  }

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "sp_");
    input_.CheckSize();
    const Tensor& dense = ctx.input(3);
    FindStrides(dense.shape());
    input_.CheckBounds();
    const T* const values = ctx.input(1).data<T>();
    const T* const others = dense.data<T>();
    T* const out = ctx.AllocateOutput(0, {input_.count()}).template data<T>();
    for (int64_t i = 0; i < input_.count(); ++i) {
      int64_t position = 0;
      for (int d = 0; d < input_.rank(); ++d) {
        position += strides_[d] * input_.indices()[i * input_.rank() + d];
      }
      using Number = SumType<T>;
      out[i] = static_cast<T>(Apply<Number>(op_, static_cast<Number>(values[i]),
                                            static_cast<Number>(others[position])));
    }
  }

 private:
  // Per dimension of the sparse tensor: how far apart neighbours are in the dense one.
  void FindStrides(const Shape& dense) {
    const int added = input_.rank() - dense.rank();
    bool fits = added >= 0;
    strides_.assign(static_cast<size_t>(input_.rank()), 0);
    int64_t stride = 1;
    for (int d = dense.rank() - 1; fits && d >= 0; --d) {
      fits = dense[d] == 1 || dense[d] == input_.shape()[d + added];
      if (fits && dense[d] != 1) strides_[d + added] = stride;
      stride *= dense[d];
    }
    if (!fits) {
      throw InvalidArgument("the dense shape {} does not broadcast to the sparse one {}",
                            dense.ToString(), IndexText(input_.shape()));
    }
  }

  CwiseOp op_;
  SparseInput input_;
  std::vector<int64_t> strides_;
};

template <typename T>
class SparseSoftmaxKernel : public Kernel {
 public:
  explicit SparseSoftmaxKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "sp_");
    input_.CheckSize();
    if (input_.rank() < 2) {
      throw InvalidArgument("the rank must be at least 2, got shape {}", IndexText(input_.shape()));
    }
    SortRows(input_.indices(), input_.count(), input_.rank(), &order_);
    const T* const x = ctx.input(1).data<T>();
    T* const out = ctx.AllocateOutput(0, {input_.count()}).template data<T>();
    for (int64_t begin = 0, end = 0; begin < input_.count(); begin = end) {
      Number largest = static_cast<Number>(x[order_[begin]]);
      for (end = begin + 1; end < input_.count() && SameRow(order_[begin], order_[end]); ++end) {
        largest = std::max(largest, static_cast<Number>(x[order_[end]]));
      }
      exps_.clear();
      Number sum = 0;
      for (int64_t k = begin; k < end; ++k) {
        exps_.push_back(std::exp(static_cast<Number>(x[order_[k]]) - largest));
        sum += exps_.back();
      }
      // In the order of the indices, whatever order they came in.
      for (int64_t k = begin; k < end; ++k) out[k] = T(exps_[k - begin] / sum);
    }
  }

 private:
  using Number = SumType<T>;
  bool SameRow(int64_t i, int64_t j) const {
    return CompareRows(input_.row(i).data(), input_.row(j).data(), input_.rank() - 1) == 0;
  }

  SparseInput input_;
  std::vector<int64_t> order_;
  std::vector<Number> exps_;
};

}  // namespace

void RegisterSparseCwiseCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    for (const char* op : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) {
      registry.Add(KernelDef(op).Type<T>("T").template Make<CwiseKernel<T>>());
    }
  });
  ForTypes<float, double, Half>([&]<typename T>() {
    registry.Add(KernelDef("SparseSoftmax").Type<T>("T").template Make<SparseSoftmaxKernel<T>>());
  });
}

}  // namespace sextant
