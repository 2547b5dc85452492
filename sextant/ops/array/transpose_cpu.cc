#include <complex>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

class TransposeKernel : public Kernel {
 public:
  explicit TransposeKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override { Transpose(ctx); }

 protected:
  Tensor& Transpose(KernelContext& ctx) {
    const Tensor& input = ctx.input(0);
    ReadPermutation(ctx.input(1), input);
    const int rank = input.rank();
    Shape shape = input.shape();
    for (int d = 0; d < rank; ++d) shape.set_dim(d, input.dim(static_cast<int>(perm_[d])));
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (out.num_elements() == 0) return out;
    src_strides_.resize(rank);
    for (int64_t d = rank - 1, stride = 1; d >= 0; stride *= input.dim(static_cast<int>(d--))) {
      src_strides_[d] = stride;
    }
    StridedCopy copy;
    int64_t dst_stride = out.num_elements();
    for (int d = 0; d < rank; ++d) {
      dst_stride /= shape[d];
      copy.Add(shape[d], dst_stride, src_strides_[perm_[d]]);
    }
    copy.Run(ctx, out, 0, input, 0);
    return out;
  }

 private:
  void ReadPermutation(const Tensor& perm, const Tensor& input) {
    const int rank = input.rank();
    CheckVector(perm, "perm", rank);
    ReadIndices(perm, &perm_);
    seen_.assign(rank, 0);
    for (int64_t& axis : perm_) {
      if (axis < -rank || axis >= rank) {
        throw InvalidArgument("{} is out of range [0 .. {})", axis, rank);
      }
      if (axis < 0) axis += rank;
      seen_[axis] = 1;
    }
    for (int d = 0; d < rank; ++d) {
      if (!seen_[d]) throw InvalidArgument("{} is missing from perm {}", d, perm.ToString());
    }
  }

  std::vector<int64_t> perm_, src_strides_;
  std::vector<uint8_t> seen_;
};

template <typename T>
class ConjugateTransposeKernel : public TransposeKernel {
 public:
  using TransposeKernel::TransposeKernel;
  void Compute(KernelContext& ctx) override {
    for (std::complex<T>& z : Transpose(ctx).template flat<std::complex<T>>()) z = std::conj(z);
  }
};

template <typename T>
void InvertPermutation(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  CheckVector(input, "x");
  const auto x = input.flat<T>();
  const auto y = ctx.AllocateOutput(0, input.shape()).template flat<T>();
  std::fill(y.begin(), y.end(), T{-1});
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0 || static_cast<size_t>(x[i]) >= x.size()) {
      throw InvalidArgument("{} is not between 0 and {}", x[i], x.size());
    }
    if (y[x[i]] != -1) throw InvalidArgument("{} is duplicated in the input.", x[i]);
    y[x[i]] = static_cast<T>(i);
  }
}

}  // namespace

void RegisterTransposeCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Transpose").Make<TransposeKernel>());
  ForTypes<float, double>([&]<typename T>() {
    registry.Add(KernelDef("ConjugateTranspose")
                     .Type<std::complex<T>>("T")
                     .template Make<ConjugateTransposeKernel<T>>());
  });
  registry.Add(KernelDef("ConjugateTranspose").Make<TransposeKernel>());
  ForTypes<int32_t, int64_t>([&]<typename T>() {
    registry.Add(KernelDef("InvertPermutation").Type<T>("T").Function(InvertPermutation<T>));
  });
}

}  // namespace sextant
