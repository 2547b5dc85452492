// What the kernels of tensor_list_cpu.cc (one element) and tensor_list_bulk_cpu.cc (all elements)
// share.
#pragma once

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/control_flow/tensor_list_value.h"

namespace sextant {

class ListKernel : public Kernel {
 public:
  explicit ListKernel(KernelInit& init) {
    if (const Attr* dtype = init.node().FindAttr("element_dtype")) dtype_ = dtype->Get<DType>();
  }

 protected:
  DType dtype_ = DType::kInvalid;
};

namespace tensor_list {

// One element as it is, or the zeros of this shape when it is not set. Throws INVALID_ARGUMENT when
// it is not set and the shape not fully known.
Tensor ElementOrZeros(KernelContext& ctx, const Tensor& element, DType dtype,
                      const PartialShape& shape);
void CheckType(const TensorList& list, DType wanted);
// Makes the list this long, counting the memory against the run's limit first.
void Resize(KernelContext& ctx, TensorList& list, int64_t size);
// The shape of the tensor's slices along its first dimension.
Shape RowOf(const Tensor& tensor);

}  // namespace tensor_list

// Stack, Gather, FromTensor, Split, Scatter, Concat.
void RegisterTensorListBulkCpu(KernelRegistry& registry);

}  // namespace sextant
