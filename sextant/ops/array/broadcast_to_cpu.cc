#include <algorithm>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

[[noreturn]] void ThrowIncompatible(const Shape& a, const Shape& b) {
  throw InvalidArgument("Incompatible shapes: {} vs. {}", a.ToString(), b.ToString());
}

void BroadcastTo(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const Shape shape = ShapeFromTensor(ctx.input(1));
  const int offset = shape.rank() - input.rank();
  if (offset < 0) ThrowIncompatible(input.shape(), shape);
  for (int d = 0; d < input.rank(); ++d) {
    if (input.dim(d) != 1 && input.dim(d) != shape[d + offset]) {
      ThrowIncompatible(input.shape(), shape);
    }
  }
  Tensor& out = ctx.AllocateOutput(0, shape);
  if (out.num_elements() == 0) return;
  StridedCopy copy;
  int64_t dst_stride = out.num_elements(), src_stride = input.num_elements();
  for (int d = 0; d < shape.rank(); ++d) {
    dst_stride /= shape[d];
    const int64_t size = d < offset ? 1 : input.dim(d - offset);
    src_stride /= size;
    copy.Add(shape[d], dst_stride, size == 1 ? 0 : src_stride);
  }
  copy.Run(ctx, out, 0, input, 0);
}

// Sizes of two shapes aligned at their last dimension; missing ones are 1.
class Aligned {
 public:
  explicit Aligned(KernelContext& ctx) : a_(ctx.input(0)), b_(ctx.input(1)) {
    CheckVector(a_, "s0");
    CheckVector(b_, "s1");
    rank_ = std::max(a_.num_elements(), b_.num_elements());
    for (int64_t i = 0; i < rank_; ++i) {
      if (a(i) != b(i) && a(i) != 1 && b(i) != 1) {
        ThrowIncompatible(ShapeFromTensor(a_), ShapeFromTensor(b_));
      }
      same_ &= a(i) == b(i);
    }
    same_ &= a_.num_elements() == b_.num_elements();
  }
  int64_t rank() const { return rank_; }
  bool same() const { return same_; }
  int64_t a(int64_t i) const { return At(a_, i); }
  int64_t b(int64_t i) const { return At(b_, i); }

 private:
  int64_t At(const Tensor& t, int64_t i) const {
    const int64_t offset = rank_ - t.num_elements();
    return i < offset ? 1 : IndexAt(t, i - offset);
  }
  const Tensor& a_;
  const Tensor& b_;
  int64_t rank_ = 0;
  bool same_ = true;
};

void BroadcastArgs(KernelContext& ctx) {
  const Aligned sizes(ctx);
  Tensor& out = ctx.AllocateOutput(0, Shape{sizes.rank()});
  for (int64_t i = 0; i < sizes.rank(); ++i) {
    SetIndexAt(out, i, sizes.a(i) == 1 ? sizes.b(i) : sizes.a(i));
  }
}

// Equal shapes need no sum; otherwise every size of 1 is summed, even where both are 1.
void BroadcastGradientArgs(KernelContext& ctx) {
  const Aligned sizes(ctx);
  int64_t count_a = 0, count_b = 0;
  for (int64_t i = 0; i < sizes.rank() && !sizes.same(); ++i) {
    count_a += sizes.a(i) == 1;
    count_b += sizes.b(i) == 1;
  }
  Tensor& a = ctx.AllocateOutput(0, Shape{count_a});
  Tensor& b = ctx.AllocateOutput(1, Shape{count_b});
  count_a = count_b = 0;
  for (int64_t i = 0; i < sizes.rank() && !sizes.same(); ++i) {
    if (sizes.a(i) == 1) SetIndexAt(a, count_a++, i);
    if (sizes.b(i) == 1) SetIndexAt(b, count_b++, i);
  }
}

void Tile(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const Tensor& multiples = ctx.input(1);
  CheckVector(multiples, "multiples", input.rank());
  Shape shape;
  for (int d = 0; d < input.rank(); ++d) {
    const int64_t multiple = IndexAt(multiples, d);
    int64_t size;
    if (multiple < 0 || __builtin_mul_overflow(multiple, input.dim(d), &size)) {
      throw InvalidArgument("Expected multiples[{}] >= 0 and small enough, but got {}", d,
                            multiple);
    }
    shape.Append(size);
  }
  Tensor& out = ctx.AllocateOutput(0, shape);
  if (out.num_elements() == 0) return;
  StridedCopy copy;
  int64_t dst_stride = out.num_elements(), src_stride = input.num_elements();
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t size = input.dim(d);
    dst_stride /= shape[d];
    src_stride /= size;
    copy.Add(shape[d] / size, dst_stride * size, 0);
    copy.Add(size, dst_stride, src_stride);
  }
  copy.Run(ctx, out, 0, input, 0);
}

}  // namespace

void RegisterBroadcastToCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("BroadcastTo").Function(BroadcastTo));
  registry.Add(KernelDef("BroadcastArgs").Function(BroadcastArgs));
  registry.Add(KernelDef("BroadcastGradientArgs").Function(BroadcastGradientArgs));
  registry.Add(KernelDef("Tile").Function(Tile));
}

}  // namespace sextant
