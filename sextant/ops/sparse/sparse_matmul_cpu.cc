#include <algorithm>
#include <type_traits>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"
#include "sextant/ops/sparse/sum_type.h"

namespace sextant {
namespace {

template <typename T>
class SparseMatMulKernel : public Kernel {
 public:
  explicit SparseMatMulKernel(KernelInit& init)
      : adjoint_a_(init.attr<bool>("adjoint_a")), adjoint_b_(init.attr<bool>("adjoint_b")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& b = ctx.input(3);
    if (ctx.input(2).num_elements() != 2 || b.rank() != 2) {
      throw InvalidArgument("a_shape must have 2 elements and b be a matrix, got shapes {} and {}",
                            ctx.input(2).shape().ToString(), b.shape().ToString());
    }
    a_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "a_");
    a_.CheckBounds();
    const int64_t rows = a_.shape()[adjoint_a_ ? 1 : 0], inner = a_.shape()[adjoint_a_ ? 0 : 1];
    const int64_t b_inner = b.dim(adjoint_b_ ? 1 : 0), columns = b.dim(adjoint_b_ ? 0 : 1);
    if (inner != b_inner) {
      throw InvalidArgument("cannot multiply a ({}) and b ({}): inner sizes {} and {} differ",
                            IndexText(a_.shape()), b.shape().ToString(), inner, b_inner);
    }
    Tensor& out = ctx.AllocateOutput(0, {rows, columns});
    if constexpr (std::is_same_v<T, SumType<T>>) {
      Multiply(ctx, b, columns, out.data<T>(), out.num_elements());
    } else {
      sums_.resize(static_cast<size_t>(out.num_elements()));
      Multiply(ctx, b, columns, sums_.data(), out.num_elements());
      std::transform(sums_.begin(), sums_.end(), out.data<T>(), [](float x) { return T(x); });
    }
  }

 private:
  using Sum = SumType<T>;

  // The columns are shared out, so that the sums of each element keep their order.
  void Multiply(KernelContext& ctx, const Tensor& b, int64_t columns, Sum* out, int64_t size) {
    std::fill_n(out, size, Sum{});
    const T* const values = ctx.input(1).data<T>();
    const T* const factors = b.data<T>();
    // b[k, j] is at k * row_step + j * column_step.
    const int64_t row_step = adjoint_b_ ? 1 : columns;
    const int64_t column_step = adjoint_b_ ? b.dim(1) : 1;
    const int64_t* const indices = a_.indices();
    const double cost = static_cast<double>(a_.count());
    ctx.ParallelFor(columns, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < a_.count(); ++i) {
        const int64_t row = indices[2 * i + (adjoint_a_ ? 1 : 0)];
        const T* const b_row = factors + indices[2 * i + (adjoint_a_ ? 0 : 1)] * row_step;
        Sum* const to = out + row * columns;
        const Sum value = static_cast<Sum>(values[i]);
        if (column_step == 1) {
          for (int64_t j = begin; j < end; ++j) AddProduct(value, b_row[j], &to[j]);
        } else {
          for (int64_t j = begin; j < end; ++j) AddProduct(value, b_row[j * column_step], &to[j]);
        }
      }
    });
  }
  static void AddProduct(Sum a, T b, Sum* sum) {
    *sum = Wrapping::Add(*sum, Wrapping::Mul(a, static_cast<Sum>(b)));
  }

  const bool adjoint_a_, adjoint_b_;
  SparseInput a_;
  std::vector<float> sums_;
};

}  // namespace

void RegisterSparseMatmulCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int32_t>([&]<typename T>() {
    registry.Add(
        KernelDef("SparseTensorDenseMatMul").Type<T>("T").template Make<SparseMatMulKernel<T>>());
  });
}

}  // namespace sextant
