#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"
#include "sextant/ops/array/strided_slice_spec.h"

namespace sextant {
namespace {

class StridedSliceBase : public Kernel {
 public:
  explicit StridedSliceBase(KernelInit& init) : masks_(StridedSliceMasks::Of(init.node())) {}

 protected:
  // Reads begin, end and strides from inputs 1 to 3.
  void ReadSpec(KernelContext& ctx, const Shape& whole) {
    CheckVector(ctx.input(1), "begin");
    CheckVector(ctx.input(2), "end", ctx.input(1).num_elements());
    CheckVector(ctx.input(3), "strides", ctx.input(1).num_elements());
    ReadIndices(ctx.input(1), &begin_);
    ReadIndices(ctx.input(2), &end_);
    ReadIndices(ctx.input(3), &strides_);
    spec_.Set({static_cast<int>(begin_.size()), begin_.data(), end_.data(), strides_.data()},
              masks_, whole.dims());
  }

  // Where the slice starts in the whole, and a row-major stride of the whole per range.
  int64_t Locate(const Shape& whole) {
    whole_strides_.resize(whole.rank());
    int64_t offset = 0;
    for (int64_t d = whole.rank() - 1, stride = 1; d >= 0; --d) {
      whole_strides_[d] = stride;
      offset += spec_.ranges[d].begin * stride;
      stride *= whole[static_cast<int>(d)];
    }
    return offset;
  }

  int64_t SliceElements() const {
    int64_t count = 1;
    for (const auto& range : spec_.ranges) count *= range.size;
    return count;
  }

  const StridedSliceMasks masks_;
  StridedSliceSpec spec_;
  std::vector<int64_t> begin_, end_, strides_, whole_strides_;
};

class StridedSliceKernel : public StridedSliceBase {
 public:
  using StridedSliceBase::StridedSliceBase;

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    ReadSpec(ctx, input.shape());
    Tensor& out = ctx.AllocateOutput(0, Shape(spec_.result));
    int64_t dst_stride = out.num_elements();
    if (dst_stride == 0) return;
    const int64_t offset = Locate(input.shape());
    StridedCopy copy;
    for (size_t d = 0; d < spec_.ranges.size(); ++d) {
      const auto& range = spec_.ranges[d];
      dst_stride /= range.size;
      copy.Add(range.size, dst_stride, range.stride * whole_strides_[d]);
    }
    copy.Run(ctx, out, 0, input, offset);
  }
};

class StridedSliceGradKernel : public StridedSliceBase {
 public:
  using StridedSliceBase::StridedSliceBase;

  void Compute(KernelContext& ctx) override {
    const Shape shape = ShapeFromTensor(ctx.input(0));
    const Tensor& dy = ctx.input(4);
    ReadSpec(ctx, shape);
    if (!(dy.shape() == Shape(spec_.result))) {
      throw InvalidArgument("shape of dy was {} instead of {}", dy.shape().ToString(),
                            Shape(spec_.result).ToString());
    }
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (SliceElements() != out.num_elements()) ZeroElements(ctx, out);
    int64_t src_stride = dy.num_elements();
    if (src_stride == 0) return;
    const int64_t offset = Locate(shape);
    StridedCopy copy;
    for (size_t d = 0; d < spec_.ranges.size(); ++d) {
      const auto& range = spec_.ranges[d];
      src_stride /= range.size;
      copy.Add(range.size, range.stride * whole_strides_[d], src_stride);
    }
    copy.Run(ctx, out, offset, dy, 0);
  }
};

class StridedSliceUpdateKernel : public StridedSliceBase {
 public:
  using StridedSliceBase::StridedSliceBase;

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    // A copy when it is the input itself, over which the output may be written.
    const Tensor value = ctx.input(4).raw_data() == input.raw_data()
                             ? ctx.input(4).Clone(ctx.allocator())
                             : ctx.input(4);
    ReadSpec(ctx, input.shape());
    const Shape part(spec_.result);
    Tensor& out = ctx.AllocateOutput(0, input.shape());
    StridedCopy whole;
    whole.Add(input.num_elements(), 1, 1);
    if (out.raw_data() != input.raw_data()) whole.Run(ctx, out, 0, input, 0);
    SetValueStrides(value.shape(), part);
    if (part.num_elements() == 0) return;
    const int64_t offset = Locate(input.shape());
    StridedCopy copy;
    // Dimensions of the result are those of the ranges in order, but for new and shrunk ones, whose
    // size is 1.
    size_t result = 0;
    for (size_t d = 0; d < spec_.ranges.size(); ++d) {
      const auto& range = spec_.ranges[d];
      if (range.size == 1) continue;
      while (spec_.result[result] == 1) ++result;
      copy.Add(range.size, range.stride * whole_strides_[d], value_strides_[result++]);
    }
    copy.Run(ctx, out, offset, value, 0);
  }

 private:
  void SetValueStrides(const Shape& value, const Shape& part) {
    value_strides_.assign(part.rank(), 0);
    bool fits = value.rank() <= part.rank();
    for (int64_t i = 0, stride = 1; fits && i < value.rank(); ++i) {
      const int64_t size = value[static_cast<int>(value.rank() - 1 - i)];
      const int64_t d = part.rank() - 1 - i;
      fits = size == 1 || size == part[static_cast<int>(d)];
      if (size != 1) value_strides_[d] = stride;
      stride *= size;
    }
    if (!fits) {
      throw InvalidArgument("cannot broadcast value of shape {} to the slice's {}",
                            value.ToString(), part.ToString());
    }
  }
  std::vector<int64_t> value_strides_;
};

}  // namespace

void RegisterStridedSliceCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StridedSlice").Make<StridedSliceKernel>());
  registry.Add(KernelDef("StridedSliceGrad").Make<StridedSliceGradKernel>());
  registry.Add(
      KernelDef("TensorStridedSliceUpdate").InPlace(0, 0).Make<StridedSliceUpdateKernel>());
}

}  // namespace sextant
