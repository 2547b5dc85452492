#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

struct OuterInner {
  int64_t outer = 1, inner = 1;
  OuterInner(const Shape& shape, int axis) {
    for (int d = 0; d < axis; ++d) outer *= shape[d];
    for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  }
};

void ConcatValues(KernelContext& ctx, int first_value, int axis_input) {
  const int count = ctx.num_inputs() - 1;
  const Shape& first = ctx.input(first_value).shape();
  if (first.rank() == 0) throw InvalidArgument("cannot join scalars; pack them instead");
  const int axis = AxisOf(ctx.input(axis_input), first.rank(), ScalarForm::kLegacy);
  int64_t size = 0;
  for (int i = 0; i < count; ++i) {
    const Shape& shape = ctx.input(first_value + i).shape();
    bool fits = shape.rank() == first.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape[d] == first[d];
    if (!fits) {
      throw InvalidArgument(
          "Dimensions of inputs should match along all axes but {}: shape[0] = {} vs. shape[{}] = "
          "{}",
          axis, first.ToString(), i, shape.ToString());
    }
    size += shape[axis];
  }
  Shape shape = first;
  shape.set_dim(axis, size);
  Tensor& out = ctx.AllocateOutput(0, shape);
  const OuterInner box(shape, axis);
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& value = ctx.input(first_value + i);
    const int64_t row = value.dim(axis) * box.inner;
    StridedCopy copy;
    copy.Add(box.outer, size * box.inner, row);
    copy.Add(row, 1, 1);
    copy.Run(ctx, out, offset, value, 0);
    offset += row;
  }
}

void Concat(KernelContext& ctx) { ConcatValues(ctx, 1, 0); }
void ConcatV2(KernelContext& ctx) { ConcatValues(ctx, 0, ctx.num_inputs() - 1); }

void ConcatOffset(KernelContext& ctx) {
  const Tensor& first = ctx.input(1);
  CheckVector(first, "shape");
  const int64_t rank = first.num_elements();
  const int axis = AxisOf(ctx.input(0), static_cast<int>(rank));
  int64_t offset = 0;
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    const Tensor& shape = ctx.input(i);
    CheckVector(shape, "shape", rank);
    Tensor& out = ctx.AllocateOutput(i - 1, shape.shape());
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && IndexAt(shape, d) != IndexAt(first, d)) {
        throw InvalidArgument("shape[{}] = {} differs from shape[0] = {} outside axis {}", i - 1,
                              shape.ToString(), first.ToString(), axis);
      }
      const int64_t value = d == axis ? offset : 0;
      if (out.dtype() == DType::kInt64) {
        out.data<int64_t>()[d] = value;
      } else {
        out.data<int32_t>()[d] = static_cast<int32_t>(value);
      }
    }
    offset += IndexAt(shape, axis);
  }
}

// Part i of the value is sizes(i) long along the axis.
template <typename Sizes>
void SplitInto(KernelContext& ctx, const Tensor& value, int axis, const Sizes& sizes) {
  const OuterInner box(value.shape(), axis);
  Shape shape = value.shape();
  int64_t offset = 0;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const int64_t row = sizes(i) * box.inner;
    shape.set_dim(axis, sizes(i));
    StridedCopy copy;
    copy.Add(box.outer, row, value.dim(axis) * box.inner);
    copy.Add(row, 1, 1);
    copy.Run(ctx, ctx.AllocateOutput(i, shape), 0, value, offset);
    offset += row;
  }
}

void Split(KernelContext& ctx) {
  const Tensor& value = ctx.input(1);
  const int axis = AxisOf(ctx.input(0), value.rank());
  const int64_t num = ctx.num_outputs(), size = value.dim(axis);
  if (size % num != 0) {
    throw InvalidArgument(
        "Number of ways to split should evenly divide the split dimension, but got split_dim {} "
        "(size = {}) and num_split {}",
        axis, size, num);
  }
  SplitInto(ctx, value, axis, [part = size / num](int) { return part; });
}

class SplitVKernel : public Kernel {
 public:
  explicit SplitVKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& value = ctx.input(0);
    CheckVector(ctx.input(1), "size_splits", ctx.num_outputs());
    const int axis = AxisOf(ctx.input(2), value.rank(), ScalarForm::kOneElement);
    ReadIndices(ctx.input(1), &sizes_);
    Resolve(value.dim(axis));
    SplitInto(ctx, value, axis, [this](int i) { return sizes_[i]; });
  }

 private:
  void Resolve(int64_t total) {
    int64_t left = total;
    int64_t* open = nullptr;
    for (int64_t& size : sizes_) {
      if (size < -1) throw InvalidArgument("split size {} is negative", size);
      if (size >= 0) {
        if (size > left) left = -1;
        if (left >= 0) left -= size;
      } else if (open == nullptr) {
        open = &size;
      } else {
        throw InvalidArgument("only one of size_splits may be -1");
      }
    }
    if (left < 0 || (open == nullptr && left != 0)) {
      throw InvalidArgument("size_splits [{}] do not add up to the dimension's size {}",
                            fmt::join(sizes_, ", "), total);
    }
    if (open != nullptr) *open = left;
  }

  std::vector<int64_t> sizes_;
};

}  // namespace

void RegisterConcatSplitCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Concat").Function(Concat));
  registry.Add(KernelDef("ConcatV2").Function(ConcatV2));
  registry.Add(KernelDef("ConcatOffset").Function(ConcatOffset));
  registry.Add(KernelDef("Split").Function(Split));
  registry.Add(KernelDef("SplitV").Make<SplitVKernel>());
}

}  // namespace sextant
