#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/cpu/gemm_local.h"
#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

class ProductSumKernel final : public Kernel {
 public:
  explicit ProductSumKernel(KernelInit& init)
      : turn_a_(init.attr<bool>("transpose_a")), factors_(init.num_inputs() / 2) {}

  void Compute(KernelContext& ctx) override {
    const size_t count = factors_.size();
    const Tensor &a = ctx.input(0), &b = ctx.input(static_cast<int>(count));
    for (size_t i = 0; i < count; ++i) {
      const Tensor &left = ctx.input(static_cast<int>(i)),
                   &right = ctx.input(static_cast<int>(count + i));
      if (left.rank() != 2 || !(left.shape() == a.shape()) || !(right.shape() == b.shape())) {
        throw InvalidArgument("product {} is of shapes {} and {}, the first of {} and {}", i,
                              left.shape().ToString(), right.shape().ToString(),
                              a.shape().ToString(), b.shape().ToString());
      }
      const int64_t row_stride = turn_a_ ? 1 : left.dim(1), col_stride = turn_a_ ? left.dim(1) : 1;
      factors_[i].a = {left.data<float>(), row_stride, col_stride};
    }
    if (b.rank() != 2 || a.dim(!turn_a_) != b.dim(0)) {
      throw InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape().ToString(),
                            b.shape().ToString());
    }
    const int64_t rows = a.dim(turn_a_), depth = b.dim(0), cols = b.dim(1);
    for (size_t i = 0; i < count; ++i) {
      factors_[i].b = {ctx.input(static_cast<int>(count + i)).data<float>(), cols, 1};
    }
    float* c = ctx.AllocateOutput(0, {rows, cols}).data<float>();
    if (gemm::WorksInPlace(rows, cols, depth, factors_[0].b)) {
      gemm::MultiplySum<float>(ctx, rows, cols, depth, factors_, c, cols);
    } else {
      AddOneByOne(ctx, rows, cols, depth, c);
    }
  }

 private:
  void AddOneByOne(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, float* c) const {
    Gemm<float>(ctx, rows, cols, depth, factors_[0].a, factors_[0].b, c, cols);
    Tensor product = ctx.AllocateTemp(DType::kFloat, {rows, cols});
    float* next = product.data<float>();
    for (size_t i = 1; i < factors_.size(); ++i) {
      Gemm<float>(ctx, rows, cols, depth, factors_[i].a, factors_[i].b, next, cols);
      for (int64_t j = 0; j < rows * cols; ++j) c[j] += next[j];
    }
  }

  const bool turn_a_;
  std::vector<gemm::Factors<float>> factors_;
};

}  // namespace

void RegisterProductSumCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("_ProductSum").Type<float>("T").Make<ProductSumKernel>());
}

}  // namespace sextant
