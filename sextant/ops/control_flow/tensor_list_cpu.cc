#include <algorithm>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/control_flow/tensor_list_value.h"

namespace sextant {

namespace {

// Elements that kernels keep must not live in the arena of a step.
void Append(TensorList& list, const Tensor& tensor) {
  list.CheckElement(tensor);
  if (list.max_num_elements >= 0 && list.size() >= list.max_num_elements) {
    throw InvalidArgument("Tried to push item into a full list list size: {} max_num_elements: {}",
                          list.size(), list.max_num_elements);
  }
  list.elements.push_back(tensor.Persistent());
}

// One element, or the zeros it is read as.
Tensor ElementOrZeros(KernelContext& ctx, const Tensor& element, DType dtype, const PartialShape& shape) {
  if (element.valid()) {
    if (!shape.CompatibleWith(element.shape())) {
      throw InvalidArgument("Incompatible element shape {}: the list element has shape {}",
                            shape.ToString(), element.shape().ToString());
    }
    return element;
  }
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
    throw InvalidArgument("Invalid data types; op elements {} but list elements {}", DTypeName(wanted),
                          DTypeName(list.dtype));
  }
}

int64_t ScalarInt(const Tensor& tensor, const char* what) {
  if (tensor.num_elements() != 1) {
    throw InvalidArgument("{} must be a scalar, got {}", what, tensor.Describe());
  }
  return tensor.AsInt64();
}

int64_t CountArgument(const Tensor& tensor, const char* what) {
  const int64_t count = ScalarInt(tensor, what);
  if (count < 0) {
    throw InvalidArgument("The {} must be a non negative number, but got {}", what, count);
  }
  return count;
}

// What a list costs besides its elements' buffers; a list of 2^31 elements must not kill the process.
void ReserveElements(KernelContext& ctx, TensorList& list, int64_t count) {
  if (count > list.size()) {
    ctx.AllocateTemp(DType::kUInt8, Shape{(count - list.size()) * static_cast<int64_t>(sizeof(Tensor))});
  }
  list.elements.resize(count);
}

Shape RowOf(const Tensor& tensor) {
  if (tensor.rank() == 0) throw InvalidArgument("Tensor must be at least a vector, but saw a scalar");
  Shape row = tensor.shape();
  row.Erase(0);
  return row;
}

class ListKernel : public Kernel {
 public:
  explicit ListKernel(KernelInit& init) {
    if (const Attr* dtype = init.node().FindAttr("element_dtype")) dtype_ = dtype->Get<DType>();
  }

 protected:
  DType dtype_ = DType::kInvalid;
};

class EmptyKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const int64_t limit = ScalarInt(ctx.input(1), "max_num_elements");
    ctx.SetOutput(0, ListTensor({dtype_, ShapeFromTensor(ctx.input(0)), limit, {}}));
  }
};

class ReserveKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    TensorList list{dtype_, ShapeFromTensor(ctx.input(0)), -1, {}};
    ReserveElements(ctx, list, CountArgument(ctx.input(1), "num_elements to reserve"));
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
    const PartialShape shape = list.element_shape.MergeWith(ShapeFromTensor(ctx.input(1)));
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
    const int64_t index = ScalarInt(ctx.input(1), "index");
    if (index < 0 || index >= list.size()) {
      throw InvalidArgument("Trying to access element {} in a list with {} elements.", index,
                            list.size());
    }
    const Tensor& element = list.elements[index];
    PartialShape shape = ShapeFromTensor(ctx.input(2)).MergeWith(list.element_shape);
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
    const int64_t index = ScalarInt(ctx.input(1), "index");
    if (index < 0 || (index >= list.size() && !resize_)) {
      throw InvalidArgument("Trying to modify element {} in a list with {} elements.", index,
                            list.size());
    }
    list.CheckElement(ctx.input(2));
    Tensor handle = ctx.TakeInput(0);
    TensorList& changed = MutableList(handle);
    if (index >= changed.size()) ReserveElements(ctx, changed, index + 1);
    changed.elements[index] = ctx.input(2).Persistent();
    ctx.SetOutput(0, std::move(handle));
  }

 private:
  const bool resize_;
};

// The elements at the given places (all of them without indices) as one tensor.
class StackKernel : public ListKernel {
 public:
  explicit StackKernel(KernelInit& init) : ListKernel(init), gather_(init.num_inputs() == 3) {
    if (!gather_) num_elements_ = init.attr<int64_t>("num_elements");
  }

  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    if (num_elements_ >= 0 && num_elements_ != list.size()) {
      throw InvalidArgument("Operation expected a list with {} elements but got a list with {} elements.",
                            num_elements_, list.size());
    }
    const PartialShape wanted = ShapeFromTensor(ctx.input(gather_ ? 2 : 1));
    const PartialShape element = list.MergedShape(wanted);
    const std::vector<int64_t> indices = gather_ ? Indices(ctx.input(1), list) : std::vector<int64_t>();
    const int64_t count = gather_ ? static_cast<int64_t>(indices.size()) : list.size();
    if (!element.fully_known()) {
      throw InvalidArgument("Tried to stack {} elements of a list of shape that is not fully defined: {}",
                            count, element.ToString());
    }
    Shape shape = element.AsShape();
    const int64_t row = shape.num_elements();
    shape.Insert(0, count);
    Tensor& out = ctx.AllocateOutput(0, shape);
    for (int64_t i = 0; i < count; ++i) {
      const Tensor& value = list.elements[gather_ ? indices[i] : i];
      CopyElements(value.valid() && value.shape() == element.AsShape()
                       ? value
                       : ElementOrZeros(ctx, value, dtype_, element),
                   out, i * row);
    }
  }

 private:
  static std::vector<int64_t> Indices(const Tensor& tensor, const TensorList& list) {
    std::vector<int64_t> indices = tensor.AsInt64s();
    for (int64_t i : indices) {
      if (i < 0 || i >= list.size()) {
        throw InvalidArgument("Index {} out of range; list only has {} elements.", i, list.size());
      }
    }
    return indices;
  }

  const bool gather_;
  int64_t num_elements_ = -1;
};

class FromTensorKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const Shape row = RowOf(ctx.input(0));
    const PartialShape element = ShapeFromTensor(ctx.input(1));
    if (!element.CompatibleWith(row)) {
      throw InvalidArgument("Specified a list with shape {} from a tensor with shape {}",
                            element.ToString(), row.ToString());
    }
    const Tensor values = ctx.input(0).Persistent();
    TensorList list{dtype_, element, -1, {}};
    for (int64_t i = 0; i < values.dim(0); ++i) {
      list.elements.push_back(values.Rows(i, i + 1).Reshaped(row));
    }
    ctx.SetOutput(0, ListTensor(std::move(list)));
  }
};

class SplitKernel : public ListKernel {
 public:
  using ListKernel::ListKernel;
  void Compute(KernelContext& ctx) override {
    const Tensor& tensor = ctx.input(0);
    PartialShape rest(RowOf(tensor));
    PartialShape element = ShapeFromTensor(ctx.input(1));
    PartialShape piece = rest;
    piece.Insert(0, PartialShape::kUnknown);
    if (!element.CompatibleWith(piece)) {
      throw InvalidArgument("tensor of shape {} cannot be split into elements of shape {}",
                            tensor.shape().ToString(), element.ToString());
    }
    const std::vector<int64_t> lengths = ctx.input(2).AsInt64s();
    const Tensor values = tensor.Persistent();
    TensorList list{dtype_, element, -1, {}};
    int64_t begin = 0;
    for (int64_t length : lengths) {
      if (length < 0 || length > tensor.dim(0) - begin) {
        throw InvalidArgument("Invalid value in lengths: {} at {} of a tensor of shape {}", length, begin,
                              tensor.shape().ToString());
      }
      list.elements.push_back(values.Rows(begin, begin + length));
      begin += length;
    }
    if (begin != tensor.dim(0)) {
      throw InvalidArgument("Unused values in tensor. Length of tensor: {} Values used: {}",
                            tensor.dim(0), begin);
    }
    ctx.SetOutput(0, ListTensor(std::move(list)));
  }
};

// TensorListScatter, V2 and IntoExistingList.
class ScatterKernel : public ListKernel {
 public:
  explicit ScatterKernel(KernelInit& init)
      : ListKernel(init), existing_(init.node().type() == "TensorListScatterIntoExistingList"),
        sized_(init.node().type() == "TensorListScatterV2") {}

  void Compute(KernelContext& ctx) override {
    const Tensor& tensor = ctx.input(existing_ ? 1 : 0);
    const std::vector<int64_t> indices = ctx.input(existing_ ? 2 : 1).AsInt64s();
    const Shape row = RowOf(tensor);
    if (static_cast<int64_t>(indices.size()) != tensor.dim(0)) {
      throw InvalidArgument("Expected {} indices, but the tensor has shape {}", indices.size(),
                            tensor.shape().ToString());
    }
    int64_t needed = 0;
    for (int64_t i : indices) {
      if (i < 0) throw InvalidArgument("Indices in TensorListScatter must all be non-negative: {}", i);
      needed = std::max(needed, i + 1);
    }
    if (existing_) CheckType(ListOf(ctx.input(0)), dtype_);
    Tensor handle = existing_ ? ctx.TakeInput(0)
                              : ListTensor({dtype_, ShapeFromTensor(ctx.input(2)), -1, {}});
    TensorList& list = MutableList(handle);
    if (sized_) {
      const int64_t size = ScalarInt(ctx.input(3), "num_elements");
      if (size >= 0 && needed > size) {
        throw InvalidArgument("TensorListScatter: index {} out of range; the list has {} elements",
                              needed - 1, size);
      }
      needed = std::max(needed, size);
    }
    if (needed > list.size()) ReserveElements(ctx, list, needed);
    const Tensor values = tensor.Persistent();
    for (size_t i = 0; i < indices.size(); ++i) {
      Tensor value = values.Rows(i, i + 1).Reshaped(row);
      list.CheckElement(value);
      list.elements[indices[i]] = std::move(value);
    }
    ctx.SetOutput(0, std::move(handle));
  }

 private:
  const bool existing_, sized_;
};

class ConcatKernel : public ListKernel {
 public:
  explicit ConcatKernel(KernelInit& init) : ListKernel(init), v2_(init.num_inputs() == 3) {
    if (!v2_) element_shape_ = init.attr<PartialShape>("element_shape");
  }

  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    const PartialShape element =
        (v2_ ? ShapeFromTensor(ctx.input(1)) : element_shape_).MergeWith(list.element_shape);
    const std::vector<int64_t> leading =
        v2_ ? ctx.input(2).AsInt64s() : std::vector<int64_t>();
    PartialShape rest = WithoutFirst(element);
    for (const Tensor& value : list.elements) {
      if (!value.valid()) continue;
      rest = WithoutFirst(value.shape()).MergeWith(rest);
    }
    if (!rest.fully_known()) {
      throw InvalidArgument("All except the first dimension must be fully defined when concating an "
                            "empty or uninitialized tensor list. element_shape: {}",
                            element.ToString());
    }
    Tensor& lengths = ctx.AllocateOutput(1, Shape{list.size()});
    int64_t total = 0;
    for (int64_t i = 0; i < list.size(); ++i) {
      const Tensor& value = list.elements[i];
      const int64_t first = element.rank_known() && element.rank() > 0 ? element[0] : -1;
      const int64_t length = value.valid() ? value.dim(0)
                             : i < static_cast<int64_t>(leading.size()) ? leading[i]
                                                                        : first;
      if (length < 0) throw InvalidArgument("Concat cannot tell the length of uninitialized element {}", i);
      if (first >= 0 && value.valid() && length != first) {
        throw InvalidArgument("List contains uninitialized tensor or inconsistent sizes: {} and {}", first,
                              length);
      }
      lengths.data<int64_t>()[i] = length;
      total += length;
    }
    Shape shape = rest.AsShape();
    const int64_t row = shape.num_elements();
    shape.Insert(0, total);
    Tensor& out = ctx.AllocateOutput(0, shape);
    int64_t offset = 0;
    for (int64_t i = 0; i < list.size(); ++i) {
      Shape piece = rest.AsShape();
      piece.Insert(0, lengths.data<int64_t>()[i]);
      CopyElements(ElementOrZeros(ctx, list.elements[i], dtype_, piece), out, offset * row);
      offset += piece[0];
    }
  }

 private:
  static PartialShape WithoutFirst(PartialShape shape) {
    if (!shape.rank_known()) return shape;
    if (shape.rank() == 0) {
      throw InvalidArgument("Concat requires elements to be at least vectors, found scalars");
    }
    shape.Erase(0);
    return shape;
  }

  const bool v2_;
  PartialShape element_shape_;
};

void Length(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int32_t>() = static_cast<int32_t>(ListOf(ctx.input(0)).size());
}

void Resize(KernelContext& ctx) {
  const int64_t size = CountArgument(ctx.input(1), "size");
  Tensor handle = ctx.TakeInput(0);
  ReserveElements(ctx, MutableList(handle), size);
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
    TensorList joined = *left;
    joined.element_shape = left->element_shape.MergeWith(right->element_shape);
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
  registry.Add(KernelDef("TensorListStack").Make<StackKernel>());
  registry.Add(KernelDef("TensorListGather").Make<StackKernel>());
  registry.Add(KernelDef("TensorListFromTensor").OwnOutputs().Make<FromTensorKernel>());
  registry.Add(KernelDef("TensorListSplit").OwnOutputs().Make<SplitKernel>());
  for (const char* op :
       {"TensorListScatter", "TensorListScatterV2", "TensorListScatterIntoExistingList"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<ScatterKernel>());
  }
  registry.Add(KernelDef("TensorListConcat").Make<ConcatKernel>());
  registry.Add(KernelDef("TensorListConcatV2").Make<ConcatKernel>());
  registry.Add(KernelDef("TensorListLength").Function(Length));
  registry.Add(KernelDef("TensorListResize").OwnOutputs().Function(Resize));
  registry.Add(KernelDef("TensorListElementShape").Function(ElementShape));
  registry.Add(KernelDef("TensorListConcatLists").OwnOutputs().Function(ConcatLists));
}

}  // namespace sextant
