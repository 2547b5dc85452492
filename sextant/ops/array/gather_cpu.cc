#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/nd_index.h"
#include "sextant/ops/array/row_copy.h"

namespace sextant {
namespace {

// out[group, k] = params[group, rows of the group's batch [k]] for slices of "slice" elements.
// "rows" holds "count" indices per batch; "groups_per_batch" groups share those of one batch.
struct RowGather {
  int64_t groups = 1, groups_per_batch = 1, count = 0, rows_per_group = 1, slice = 1;

  void Run(KernelContext& ctx, const Tensor& params, const int64_t* rows, Tensor& out) const {
    if (IsPlain(out.dtype())) {
      const size_t bytes = static_cast<size_t>(slice) * DTypeSize(out.dtype());
      WithRowCopy(bytes, [&](auto copy) {
        CopySlices<char>(ctx, params, static_cast<int64_t>(bytes), rows, out, copy);
      });
    } else {
      WithElement(out.dtype(), [&]<typename T>() {
        CopySlices<T>(ctx, params, slice, rows, out,
                      [this](T* dst, const T* src) { std::copy_n(src, slice, dst); });
      });
    }
  }

  // Slices are "size" Ts long; copy(to, from) copies one.
  template <typename T, typename Copy>
  void CopySlices(KernelContext& ctx, const Tensor& params, int64_t size, const int64_t* rows,
                  Tensor& out, Copy copy) const {
    const T* const src = static_cast<const T*>(params.raw_data());
    T* const dst = static_cast<T*>(out.raw_data());
    const double cost = 2 + 0.1 * static_cast<double>(size * static_cast<int64_t>(sizeof(T)));
    ctx.ParallelFor(groups * count, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t group = i / count, group_end = std::min(end, (group + 1) * count);
        const int64_t* row = rows + group / groups_per_batch * count + i % count;
        const T* const from = src + group * rows_per_group * size;
        for (; i < group_end; ++i) copy(dst + i * size, from + *row++ * size);
      }
    });
  }
};

class GatherKernel : public Kernel {
 public:
  explicit GatherKernel(KernelInit& init)
      : has_axis_(init.num_inputs() == 3),
        batch_dims_(has_axis_ ? init.attr<int64_t>("batch_dims") : 0) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& params = ctx.input(0);
    const Tensor& indices = ctx.input(1);
    if (params.rank() < 1) throw InvalidArgument("params must be at least a vector");
    const int axis = has_axis_ ? AxisOf(ctx.input(2), params.rank()) : 0;
    const int batch_dims = BatchDims(params, indices, axis);
    RowGather gather;
    Shape shape;
    for (int d = 0; d < axis; ++d) {
      shape.Append(params.dim(d));
      gather.groups *= params.dim(d);
      if (d >= batch_dims) gather.groups_per_batch *= params.dim(d);
    }
    int64_t count = 1;
    for (int d = batch_dims; d < indices.rank(); ++d) {
      shape.Append(indices.dim(d));
      count *= indices.dim(d);
    }
    for (int d = axis + 1; d < params.rank(); ++d) {
      shape.Append(params.dim(d));
      gather.slice *= params.dim(d);
    }
    gather.count = count;
    gather.rows_per_group = params.dim(axis);
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (out.num_elements() == 0) return;  // as TensorFlow, whatever the indices are
    ReadIndices(indices, &rows_);
    CheckInRange("indices", indices.shape(), rows_, gather.rows_per_group);
    gather.Run(ctx, params, rows_.data(), out);
  }

 private:
  int BatchDims(const Tensor& params, const Tensor& indices, int axis) const {
    const int64_t batch_dims = batch_dims_ < 0 ? batch_dims_ + indices.rank() : batch_dims_;
    if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims > axis) {
      throw InvalidArgument("batch_dims {} does not fit indices of rank {} and axis {}",
                            batch_dims_, indices.rank(), axis);
    }
    for (int d = 0; d < batch_dims; ++d) {
      if (params.dim(d) != indices.dim(d)) {
        throw InvalidArgument("params {} and indices {} differ in batch dimension {}",
                              params.shape().ToString(), indices.shape().ToString(), d);
      }
    }
    return static_cast<int>(batch_dims);
  }

  const bool has_axis_;
  const int64_t batch_dims_;
  std::vector<int64_t> rows_;
};

class GatherNdKernel : public Kernel {
 public:
  explicit GatherNdKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& params = ctx.input(0);
    const Tensor& indices = ctx.input(1);
    if (indices.rank() < 1) throw InvalidArgument("indices must be at least a vector");
    Shape shape = indices.shape();
    shape.Erase(shape.rank() - 1);
    if (params.num_elements() == 0 && shape.num_elements() > 0) {
      throw InvalidArgument("Requested more than 0 entries, but params is empty.  Params shape: {}",
                            params.shape().ToString());
    }
    index_.Set(indices, params.shape(), "param shape");
    for (int d = static_cast<int>(index_.depth); d < params.rank(); ++d)
      shape.Append(params.dim(d));
    RowGather gather;
    gather.count = static_cast<int64_t>(index_.rows.size());
    gather.slice = index_.slice;
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (out.num_elements() > 0) gather.Run(ctx, params, index_.rows.data(), out);
  }

 private:
  NdIndex index_;
};

}  // namespace

void RegisterGatherCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Gather").Make<GatherKernel>());
  registry.Add(KernelDef("GatherV2").Make<GatherKernel>());
  registry.Add(KernelDef("GatherNd").Make<GatherNdKernel>());
}

}  // namespace sextant
