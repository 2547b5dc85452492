#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/sparse/sparse_input.h"

namespace sextant {
namespace {

class SparseToDenseKernel : public Kernel {
 public:
  explicit SparseToDenseKernel(KernelInit& init) : validate_(init.attr<bool>("validate_indices")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& indices = ctx.input(0);
    const Tensor& values = ctx.input(2);
    if (indices.rank() > 2) {
      throw InvalidArgument("sparse_indices must be a scalar, vector or matrix, got shape {}",
                            indices.shape().ToString());
    }
    const int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
    const int64_t depth = indices.rank() > 1 ? indices.dim(1) : 1;
    CheckVector(ctx.input(1), "output_shape", depth);
    if (values.rank() != 0 && values.shape() != Shape{count}) {
      throw InvalidArgument("sparse_values has shape {}, should be [] or [{}]",
                            values.shape().ToString(), count);
    }
    if (ctx.input(3).rank() != 0) {
      throw InvalidArgument("default_value must be a scalar, got shape {}",
                            ctx.input(3).shape().ToString());
    }
    const Shape shape = ShapeFromTensor(ctx.input(1));
    ReadIndices(indices, &indices_);
    FindPositions(count, shape);
    Tensor& out = ctx.AllocateOutput(0, shape);
    WithElement(out.dtype(), [&]<typename T>() {
      T* const dst = static_cast<T*>(out.raw_data());
      const T* const src = static_cast<const T*>(values.raw_data());
      std::fill_n(dst, out.num_elements(), *static_cast<const T*>(ctx.input(3).raw_data()));
      const int64_t step = values.rank() == 0 ? 0 : 1;
      for (int64_t i = 0; i < count; ++i) dst[positions_[i]] = src[i * step];
    });
  }

 private:
  void FindPositions(int64_t count, const Shape& shape) {
    positions_.resize(static_cast<size_t>(count));
    const int rank = shape.rank();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* const index = indices_.data() + i * rank;
      int64_t position = 0;
      for (int d = 0; d < rank; ++d) {
        if (index[d] < 0 || index[d] >= shape[d]) {
          throw InvalidArgument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                                IndexText({index, static_cast<size_t>(rank)}), shape.ToString());
        }
        position = position * shape[d] + index[d];
      }
      // Within bounds, the order of positions is that of the indices.
      if (validate_ && i > 0 && position <= positions_[i - 1]) {
        throw InvalidArgument(
            "indices[{}] = {} is {}", i, IndexText({index, static_cast<size_t>(rank)}),
            position == positions_[i - 1] ? "repeated" : "out of order; use SparseReorder");
      }
      positions_[i] = position;
    }
  }

  const bool validate_;
  std::vector<int64_t> indices_, positions_;
};

}  // namespace

void RegisterSparseToDenseCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SparseToDense").Make<SparseToDenseKernel>());
}

}  // namespace sextant
