#include <algorithm>

#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/control_flow/tensor_list_kernel.h"

namespace sextant {

namespace tensor_list {

Tensor ElementOrZeros(KernelContext& ctx, const Tensor& element, DType dtype,
                      const PartialShape& shape) {
  if (element.valid()) return element;
  if (!shape.fully_known()) {
    throw InvalidArgument(
        "Trying to read an uninitialized tensor but element_shape is not fully defined: {}",
        shape.ToString());
  }
  if (!IsPlain(dtype)) return Tensor(dtype, shape.AsShape());
  Tensor zeros = ctx.AllocateTemp(dtype, shape.AsShape());
  std::fill_n(static_cast<char*>(zeros.raw_data()), zeros.bytes(), char{0});
  return zeros;
}

void CheckType(const TensorList& list, DType wanted) {
  if (list.dtype != wanted) {
    throw InvalidArgument("Invalid data types; op elements {} but list elements {}",
                          DTypeName(wanted), DTypeName(list.dtype));
  }
}

// What a list costs besides its elements' buffers: one of 2^31 elements must not kill the process.
void Resize(KernelContext& ctx, TensorList& list, int64_t size) {
  if (size > list.size()) {
    ctx.AllocateTemp(DType::kUInt8,
                     Shape{(size - list.size()) * static_cast<int64_t>(sizeof(Tensor))});
  }
  list.elements.resize(size);
}

Shape RowOf(const Tensor& tensor) {
  if (tensor.rank() == 0)
    throw InvalidArgument("Tensor must be at least a vector, but saw a scalar");
  Shape row = tensor.shape();
  row.Erase(0);
  return row;
}

}  // namespace tensor_list

namespace {

using tensor_list::CheckType;
using tensor_list::ElementOrZeros;
using tensor_list::RowOf;

// Elements that kernels keep must not live in the arena of a step.
void Append(TensorList& list, const Tensor& tensor) {
  list.CheckElement(tensor);
  if (list.max_num_elements >= 0 && list.size() >= list.max_num_elements) {
    throw InvalidArgument("Tried to push item into a full list list size: {} max_num_elements: {}",
                          list.size(), list.max_num_elements);
  }
  list.elements.push_back(tensor.Persistent());
}

int64_t CountArgument(const Tensor& tensor, const char* what) {
  const int64_t count = IndexScalar(tensor, what);
  if (count < 0) {
    throw InvalidArgument("The {} must be a non negative number, but got {}", what, count);
  }
  return count;
}

class EmptyKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const int64_t limit = IndexScalar(ctx.input(1), "max_num_elements");
    ctx.SetOutput(0, ListTensor({dtype_, PartialShapeFromTensor(ctx.input(0)), limit, {}}));
  }
};

class ReserveKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    TensorList list{dtype_, PartialShapeFromTensor(ctx.input(0)), -1, {}};
    tensor_list::Resize(ctx, list, CountArgument(ctx.input(1), "num_elements to reserve"));
    ctx.SetOutput(0, ListTensor(std::move(list)));
  }
};

class PushBackKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    CheckType(ListOf(ctx.input(0)), dtype_);
    Tensor handle = ctx.TakeInput(0);
    Append(MutableList(handle), ctx.input(1));
    ctx.SetOutput(0, std::move(handle));
  }
};

class PushBackBatchKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const Tensor &handles = ctx.input(0), &tensor = ctx.input(1);
    const Shape row = RowOf(tensor);
    if (handles.num_elements() != tensor.dim(0)) {
      throw InvalidArgument("{} lists, but a tensor of shape {}", handles.num_elements(),
                            tensor.shape().ToString());
    }
    const Tensor values = tensor.Persistent();
    Tensor out(DType::kVariant, handles.shape());
    for (int64_t i = 0; i < handles.num_elements(); ++i) {
      const TensorList* list = handles.data<Variant>()[i].Get<TensorList>();
      if (!list) throw InvalidArgument("Input handle {} is not a list", i);
      CheckType(*list, dtype_);
      TensorList longer = *list;
      Append(longer, values.Rows(i, i + 1).Reshaped(row));
      out.data<Variant>()[i] = Variant::Of(std::move(longer));
    }
    ctx.SetOutput(0, std::move(out));
  }
};

class PopBackKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    if (list.elements.empty()) throw InvalidArgument("Trying to pop from an empty list.");
    const PartialShape shape = list.element_shape.MergeWith(PartialShapeFromTensor(ctx.input(1)));
    Tensor element = ElementOrZeros(ctx, list.elements.back(), dtype_, shape);
    Tensor handle = ctx.TakeInput(0);
    MutableList(handle).elements.pop_back();
    ctx.SetOutput(0, std::move(handle));
    ctx.SetOutput(1, std::move(element));
  }
};

class GetItemKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    const int64_t index = IndexScalar(ctx.input(1), "index", ScalarForm::kOneElement);
    if (index < 0 || index >= list.size()) {
      throw InvalidArgument("Trying to access element {} in a list with {} elements.", index,
                            list.size());
    }
    const Tensor& element = list.elements[index];
    PartialShape shape = PartialShapeFromTensor(ctx.input(2)).MergeWith(list.element_shape);
    if (!element.valid()) shape = list.MergedShape(shape);
    ctx.SetOutput(0, ElementOrZeros(ctx, element, dtype_, shape));
  }
};

class SetItemKernel : public ListKernel {
 public:
  explicit SetItemKernel(KernelInit& init)
      : ListKernel(init), resize_(init.attr<bool>("resize_if_index_out_of_bounds")) {}
  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    const int64_t index = IndexScalar(ctx.input(1), "index");
    if (index < 0 || (index >= list.size() && !resize_)) {
      throw InvalidArgument("Trying to modify element {} in a list with {} elements.", index,
                            list.size());
    }
    list.CheckElement(ctx.input(2));
    Tensor handle = ctx.TakeInput(0);
    TensorList& changed = MutableList(handle);
    if (index >= changed.size()) tensor_list::Resize(ctx, changed, index + 1);
    changed.elements[index] = ctx.input(2).Persistent();
    ctx.SetOutput(0, std::move(handle));
  }

 private:
  const bool resize_;
};

void Length(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int32_t>() =
      static_cast<int32_t>(ListOf(ctx.input(0)).size());
}

void Resize(KernelContext& ctx) {
  const int64_t size = CountArgument(ctx.input(1), "size");
  Tensor handle = ctx.TakeInput(0);
  tensor_list::Resize(ctx, MutableList(handle), size);
  ctx.SetOutput(0, std::move(handle));
}

void ElementShape(KernelContext& ctx) {
  const PartialShape& shape = ListOf(ctx.input(0)).element_shape;
  Tensor& out = ctx.AllocateOutput(0, shape.rank_known() ? Shape{shape.rank()} : Shape());
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const int64_t size = shape.rank_known() ? shape[static_cast<int>(i)] : -1;
    if (out.dtype() == DType::kInt32) {
      out.data<int32_t>()[i] = static_cast<int32_t>(size);
    } else {
      out.data<int64_t>()[i] = size;
    }
  }
}

void ConcatLists(KernelContext& ctx) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  if (!(a.shape() == b.shape())) {
    throw InvalidArgument("input_a and input_b must have the same shape: {} and {}",
                          a.shape().ToString(), b.shape().ToString());
  }
  Tensor out(DType::kVariant, a.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto* left = a.data<Variant>()[i].Get<TensorList>();
    const auto* right = b.data<Variant>()[i].Get<TensorList>();
    if (!left || !right) throw InvalidArgument("Input {} is not a list", i);
    CheckType(*left, right->dtype);
    if (!(left->element_shape == right->element_shape)) {
      throw InvalidArgument(
          "input_a and input_b must have the same element shapes, at index {} they have {} and {}",
          i, left->element_shape.ToString(), right->element_shape.ToString());
    }
    TensorList joined = *left;
    joined.elements.insert(joined.elements.end(), right->elements.begin(), right->elements.end());
    out.data<Variant>()[i] = Variant::Of(std::move(joined));
  }
  ctx.SetOutput(0, std::move(out));
}

}  // namespace

void RegisterTensorListCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("EmptyTensorList").OwnOutputs().Make<EmptyKernel>());
  registry.Add(KernelDef("TensorListReserve").OwnOutputs().Make<ReserveKernel>());
  registry.Add(KernelDef("TensorListPushBack").OwnOutputs().Make<PushBackKernel>());
  registry.Add(KernelDef("TensorListPushBackBatch").OwnOutputs().Make<PushBackBatchKernel>());
  registry.Add(KernelDef("TensorListPopBack").OwnOutputs().Make<PopBackKernel>());
  registry.Add(KernelDef("TensorListGetItem").OwnOutputs().Make<GetItemKernel>());
  registry.Add(KernelDef("TensorListSetItem").OwnOutputs().Make<SetItemKernel>());
  registry.Add(KernelDef("TensorListLength").Function(Length));
  registry.Add(KernelDef("TensorListResize").OwnOutputs().Function(Resize));
  registry.Add(KernelDef("TensorListElementShape").Function(ElementShape));
  registry.Add(KernelDef("TensorListConcatLists").OwnOutputs().Function(ConcatLists));
  RegisterTensorListBulkCpu(registry);
}

}  // namespace sextant
