#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/nd_index.h"
#include "sextant/ops/state/row_update.h"
#include "sextant/ops/state/variable_access.h"

namespace sextant {
namespace {

// The slices of a tensor of shape "params" that an index tensor with K components in its last
// dimension points at.
struct SliceIndex {
  int depth = 0;           // K
  int64_t slice_size = 1;  // elements of one slice
  std::vector<int64_t> components;
  std::vector<int64_t> offsets;  // in elements, one per slice

  void Read(const Shape& params, const Tensor& indices) {
    const Shape& shape = indices.shape();
    if (shape.rank() < 1 || shape[shape.rank() - 1] > params.rank()) {
      throw InvalidArgument("indices of shape {} cannot point into shape {}", shape.ToString(),
                            params.ToString());
    }
    depth = static_cast<int>(shape[shape.rank() - 1]);
    slice_size = 1;
    for (int i = depth; i < params.rank(); ++i) slice_size *= params[i];
    ReadIndices(indices, &components);
    Shape positions = shape;
    positions.Erase(shape.rank() - 1);
    offsets.resize(static_cast<size_t>(positions.num_elements()));
    for (size_t s = 0; s < offsets.size(); ++s) {
      const int64_t* index = components.data() + s * static_cast<size_t>(depth);
      int64_t offset = 0;
      for (int k = 0; k < depth; ++k) {
        if (index[k] < 0 || index[k] >= params[k]) {
          const std::vector<int64_t> bad(index, index + depth);
          throw InvalidArgument("indices{} = [{}] does not index into shape {}",
                                CoordinatesText(positions, static_cast<int64_t>(s)),
                                fmt::join(bad, ", "), params.ToString());
        }
        offset = offset * params[k] + index[k];
      }
      offsets[s] = offset * slice_size;
    }
  }
};

class ResourceGatherKernel : public Kernel {
 public:
  explicit ResourceGatherKernel(KernelInit& init)
      : batch_dims_(init.attr<int64_t>("batch_dims")),
        dtype_(init.attr<DType>("dtype")),
        copy_(FindRowUpdate(UpdateKind::kAssign, dtype_)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor params = ReadVariableAt(ctx, 0, dtype_);
    const Tensor& indices = ctx.input(1);
    const int64_t batch_dims = batch_dims_ < 0 ? batch_dims_ + indices.rank() : batch_dims_;
    if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims >= params.rank()) {
      throw InvalidArgument("batch_dims {} does not fit a variable {} and indices {}", batch_dims_,
                            params.Describe(), indices.Describe());
    }
    const auto batch_rank = static_cast<int>(batch_dims);
    Shape out_shape = indices.shape();
    int64_t batches = 1, slice = 1;
    for (int i = 0; i < batch_rank; ++i) {
      if (params.dim(i) != indices.dim(i)) {
        throw InvalidArgument("variable {} and indices {} differ in batch dimension {}",
                              params.Describe(), indices.Describe(), i);
      }
      batches *= params.dim(i);
    }
    for (int i = batch_rank + 1; i < params.rank(); ++i) {
      out_shape.Append(params.dim(i));
      slice *= params.dim(i);
    }
    ReadIndices(indices, &indices_);
    const int64_t rows = params.dim(batch_rank);
    CheckInRange("indices", indices.shape(), indices_, rows);
    Tensor& out = ctx.AllocateOutput(0, out_shape);
    if (out.num_elements() == 0) return;
    const int64_t bytes = slice * static_cast<int64_t>(DTypeSize(dtype_));
    const int64_t per_batch = indices.num_elements() / batches;
    const auto* src = static_cast<const char*>(params.raw_data());
    auto* dst = static_cast<char*>(out.raw_data());
    ctx.ParallelFor(indices.num_elements(), 10 + 0.2 * static_cast<double>(bytes),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        const int64_t row = i / per_batch * rows + indices_[i];
                        copy_(dst + i * bytes, src + row * bytes, slice, false);
                      }
                    });
  }

 private:
  const int64_t batch_dims_;
  const DType dtype_;
  const RowUpdate copy_;
  std::vector<int64_t> indices_;
};

class ResourceGatherNdKernel : public Kernel {
 public:
  explicit ResourceGatherNdKernel(KernelInit& init)
      : dtype_(init.attr<DType>("dtype")), copy_(FindRowUpdate(UpdateKind::kAssign, dtype_)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor params = ReadVariableAt(ctx, 0, dtype_);
    index_.Read(params.shape(), ctx.input(1));
    Shape out_shape = ctx.input(1).shape();
    out_shape.Erase(out_shape.rank() - 1);
    if (params.num_elements() == 0 && out_shape.num_elements() > 0) {
      throw InvalidArgument("Requested more than 0 entries, but params is empty.  Params shape: {}",
                            params.shape().ToString());
    }
    for (int i = index_.depth; i < params.rank(); ++i) out_shape.Append(params.dim(i));
    Tensor& out = ctx.AllocateOutput(0, out_shape);
    const auto size = static_cast<int64_t>(DTypeSize(dtype_));
    const auto* src = static_cast<const char*>(params.raw_data());
    auto* dst = static_cast<char*>(out.raw_data());
    const int64_t slice = index_.slice_size;
    ctx.ParallelFor(static_cast<int64_t>(index_.offsets.size()),
                    10 + 0.2 * static_cast<double>(slice * size), [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        copy_(dst + i * slice * size, src + index_.offsets[i] * size, slice, false);
                      }
                    });
  }

 private:
  const DType dtype_;
  const RowUpdate copy_;
  SliceIndex index_;
};

template <UpdateKind kind>
class ResourceScatterKernel : public Kernel {
 public:
  explicit ResourceScatterKernel(KernelInit& init)
      : dtype_(init.attr<DType>("dtype")), update_(FindRowUpdate(kind, dtype_)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &indices = ctx.input(1), &updates = ctx.input(2);
    VariableResource& variable = VariableAt(ctx, 0, dtype_);
    std::lock_guard lock(variable.mutex());
    const Shape& shape = variable.value().shape();
    if (shape.rank() == 0) {
      throw InvalidArgument("variable '{}' is a scalar and has no rows", variable.name());
    }
    Shape wanted = indices.shape();
    for (int i = 1; i < shape.rank(); ++i) wanted.Append(shape[i]);
    const bool broadcast = updates.rank() == 0;
    if (!broadcast && !(updates.shape() == wanted)) {
      throw InvalidArgument("updates have shape {}, indices {} and variable '{}' {} ask for {}",
                            updates.shape().ToString(), indices.shape().ToString(), variable.name(),
                            shape.ToString(), wanted.ToString());
    }
    ReadIndices(indices, &indices_);
    CheckInRange("indices", indices.shape(), indices_, shape[0]);
    const int64_t row = shape[0] == 0 ? 0 : shape.num_elements() / shape[0];
    const int64_t bytes = row * static_cast<int64_t>(DTypeSize(dtype_));
    auto* dst = static_cast<char*>(variable.mutable_value(ctx.allocator()).raw_data());
    const auto* src = static_cast<const char*>(updates.raw_data());
    for (const int64_t index : indices_) {
      update_(dst + index * bytes, src, row, broadcast);
      if (!broadcast) src += bytes;
    }
  }

 private:
  const DType dtype_;
  const RowUpdate update_;
  std::vector<int64_t> indices_;
};

template <UpdateKind kind>
class ResourceScatterNdKernel : public Kernel {
 public:
  explicit ResourceScatterNdKernel(KernelInit& init)
      : dtype_(init.attr<DType>("T")), update_(FindRowUpdate(kind, dtype_)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &indices = ctx.input(1), &updates = ctx.input(2);
    VariableResource& variable = VariableAt(ctx, 0, dtype_);
    std::lock_guard lock(variable.mutex());
    const Shape& shape = variable.value().shape();
    CheckScattered(indices.shape(), updates.shape(), shape);
    index_.Read(shape, indices);
    Shape wanted = indices.shape();
    wanted.Erase(wanted.rank() - 1);
    for (int i = index_.depth; i < shape.rank(); ++i) wanted.Append(shape[i]);
    if (!(updates.shape() == wanted)) {
      throw InvalidArgument("updates have shape {}, indices {} and variable '{}' {} ask for {}",
                            updates.shape().ToString(), indices.shape().ToString(), variable.name(),
                            shape.ToString(), wanted.ToString());
    }
    const auto size = static_cast<int64_t>(DTypeSize(dtype_));
    auto* dst = static_cast<char*>(variable.mutable_value(ctx.allocator()).raw_data());
    const auto* src = static_cast<const char*>(updates.raw_data());
    for (const int64_t offset : index_.offsets) {
      update_(dst + offset * size, src, index_.slice_size, false);
      src += index_.slice_size * size;
    }
  }

 private:
  const DType dtype_;
  const RowUpdate update_;
  SliceIndex index_;
};

template <UpdateKind kind>
void AddRows(KernelRegistry& registry, const char* op) {
  registry.Add(KernelDef(op)
                   .Types("dtype", RowUpdateTypes(kind))
                   .template Make<ResourceScatterKernel<kind>>());
}

template <UpdateKind kind>
void AddSlices(KernelRegistry& registry, const char* op) {
  registry.Add(KernelDef(op)
                   .Types("T", RowUpdateTypes(kind))
                   .template Make<ResourceScatterNdKernel<kind>>());
}

}  // namespace

void RegisterVariableSlicesCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ResourceGather").Make<ResourceGatherKernel>());
  registry.Add(KernelDef("ResourceGatherNd").Make<ResourceGatherNdKernel>());
  AddRows<UpdateKind::kAssign>(registry, "ResourceScatterUpdate");
  AddRows<UpdateKind::kAdd>(registry, "ResourceScatterAdd");
  AddRows<UpdateKind::kSub>(registry, "ResourceScatterSub");
  AddRows<UpdateKind::kMul>(registry, "ResourceScatterMul");
  AddRows<UpdateKind::kDiv>(registry, "ResourceScatterDiv");
  AddRows<UpdateKind::kMin>(registry, "ResourceScatterMin");
  AddRows<UpdateKind::kMax>(registry, "ResourceScatterMax");
  AddSlices<UpdateKind::kAssign>(registry, "ResourceScatterNdUpdate");
  AddSlices<UpdateKind::kAdd>(registry, "ResourceScatterNdAdd");
  AddSlices<UpdateKind::kSub>(registry, "ResourceScatterNdSub");
  AddSlices<UpdateKind::kMin>(registry, "ResourceScatterNdMin");
  AddSlices<UpdateKind::kMax>(registry, "ResourceScatterNdMax");
}

}  // namespace sextant
