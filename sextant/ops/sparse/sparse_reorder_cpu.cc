#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"

namespace sextant {
namespace {

class ReorderKernel : public Kernel {
 public:
  explicit ReorderKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "input_");
    const int rank = input_.rank();
    if (SortRows(input_.indices(), input_.count(), rank, &order_)) {
      ctx.ForwardInput(0, 0);
      ctx.ForwardInput(1, 1);
      return;
    }
    int64_t* const indices = ctx.AllocateOutput(0, {input_.count(), rank}).data<int64_t>();
    Tensor& values = ctx.AllocateOutput(1, {input_.count()});
    for (int64_t i = 0; i < input_.count(); ++i) {
      std::copy_n(input_.indices() + order_[i] * rank, rank, indices + i * rank);
    }
    WithElement(values.dtype(), [&]<typename T>() {
      T* const dst = static_cast<T*>(values.raw_data());
      const T* const src = static_cast<const T*>(ctx.input(1).raw_data());
      for (int64_t i = 0; i < input_.count(); ++i) dst[i] = src[order_[i]];
    });
  }

 private:
  SparseInput input_;
  std::vector<int64_t> order_;
};

class ReshapeKernel : public Kernel {
 public:
  explicit ReshapeKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& indices = ctx.input(0);
    if (indices.rank() != 2) {
      throw InvalidArgument("input_indices must be a matrix, got shape {}",
                            indices.shape().ToString());
    }
    CheckVector(ctx.input(1), "input_shape", indices.dim(1));
    CheckVector(ctx.input(2), "new_shape");
    const Shape from = ShapeFromTensor(ctx.input(1));
    const Shape to = Resolve(from, ctx.input(2));
    Tensor& out_shape = ctx.AllocateOutput(1, {to.rank()});
    std::copy_n(to.dims().data(), to.rank(), out_shape.data<int64_t>());
    if (indices.dim(0) > 0 && to.num_elements() == 0) {
      throw InvalidArgument("input_indices has {} rows, but the shape {} holds no element",
                            indices.dim(0), from.ToString());
    }
    Tensor& out = ctx.AllocateOutput(0, {indices.dim(0), to.rank()});
    const int64_t* src = indices.data<int64_t>();
    int64_t* dst = out.data<int64_t>();
    if (from == to) {
      std::copy_n(src, indices.num_elements(), dst);
      return;
    }
    // Indices outside input_shape are not refused: the first dimension takes what is left over.
    for (int64_t i = 0; i < indices.dim(0); ++i, src += from.rank(), dst += to.rank()) {
      int64_t position = 0;
      for (int d = 0; d < from.rank(); ++d) {
        position = Wrapping::Add(Wrapping::Mul(position, from[d]), src[d]);
      }
      int64_t stride = to.num_elements();
      for (int d = 0; d < to.rank(); ++d) {
        stride /= to[d];
        dst[d] = position / stride;
        position %= stride;
      }
    }
  }

 private:
  static Shape Resolve(const Shape& from, const Tensor& wanted) {
    std::vector<int64_t> sizes = wanted.AsInt64s();
    int unknown = -1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == -1) {
        if (unknown >= 0) {
          throw InvalidArgument("only one size may be -1, not both {} and {}", unknown, d);
        }
        unknown = static_cast<int>(d);
        sizes[d] = 1;
      }
    }
    Shape shape(sizes);
    if (unknown >= 0) {
      const int64_t known = shape.num_elements();
      if (known == 0) {
        throw InvalidArgument("the size of dimension {} cannot be told when another is 0", unknown);
      }
      shape.set_dim(unknown, from.num_elements() / known);
    }
    if (shape.num_elements() != from.num_elements()) {
      throw InvalidArgument("cannot reshape {} ({} elements) to {}", from.ToString(),
                            from.num_elements(), IndexText(wanted.flat<int64_t>()));
    }
    return shape;
  }
};

}  // namespace

void RegisterSparseReorderCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SparseReorder").Make<ReorderKernel>());
  registry.Add(KernelDef("SparseReshape").Make<ReshapeKernel>());
}

}  // namespace sextant
