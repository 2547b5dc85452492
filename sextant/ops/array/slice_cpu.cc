#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

void Slice(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const Tensor& begin = ctx.input(1);
  const Tensor& sizes = ctx.input(2);
  const int rank = input.rank();
  CheckVector(begin, "begin", rank);
  CheckVector(sizes, "size", rank);
  Shape shape = input.shape();
  for (int d = 0; d < rank; ++d) {
    const int64_t start = IndexAt(begin, d), dim = input.dim(d);
    if (start < 0 || start > dim) {
      throw InvalidArgument("Expected begin[{}] in [0, {}], but got {}", d, dim, start);
    }
    int64_t size = IndexAt(sizes, d);
    if (size == -1) size = dim - start;
    if (size < 0 || size > dim - start) {
      throw InvalidArgument("Expected size[{}] in [0, {}], but got {}", d, dim - start, size);
    }
    shape.set_dim(d, size);
  }
  Tensor& out = ctx.AllocateOutput(0, shape);
  if (out.num_elements() == 0) return;
  StridedCopy copy;
  int64_t dst_stride = out.num_elements(), src_stride = input.num_elements(), offset = 0;
  for (int d = 0; d < rank; ++d) {
    dst_stride /= shape[d];
    src_stride /= input.dim(d);
    offset += IndexAt(begin, d) * src_stride;
    copy.Add(shape[d], dst_stride, src_stride);
  }
  copy.Run(ctx, out, 0, input, offset);
}

}  // namespace

void RegisterSliceCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Slice").Function(Slice));
}

}  // namespace sextant
