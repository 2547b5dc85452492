// Kernels that make or take all elements of a list at once.
#include <algorithm>

#include "sextant/ops/control_flow/tensor_list_kernel.h"

namespace sextant {

namespace {

using tensor_list::CheckType;
using tensor_list::ElementOrZeros;
using tensor_list::RowOf;
using tensor_list::ScalarInt;

// The elements at the given places (all of them without indices) as one tensor.
class ListStackKernel : public ListKernel {
 public:
  explicit ListStackKernel(KernelInit& init) : ListKernel(init), gather_(init.num_inputs() == 3) {
    if (!gather_) num_elements_ = init.attr<int64_t>("num_elements");
  }

  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    if (num_elements_ >= 0 && num_elements_ != list.size()) {
      throw InvalidArgument(
          "Operation expected a list with {} elements but got a list with {} elements.",
          num_elements_, list.size());
    }
    const PartialShape wanted = PartialShapeFromTensor(ctx.input(gather_ ? 2 : 1));
    const PartialShape element = list.MergedShape(wanted);
    const std::vector<int64_t> indices =
        gather_ ? Indices(ctx.input(1), list) : std::vector<int64_t>();
    const int64_t count = gather_ ? static_cast<int64_t>(indices.size()) : list.size();
    if (!element.fully_known()) {
      throw InvalidArgument(
          "Tried to stack {} elements of a list of shape that is not fully defined: {}", count,
          element.ToString());
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
    const PartialShape element = PartialShapeFromTensor(ctx.input(1));
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
    PartialShape element = PartialShapeFromTensor(ctx.input(1));
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
        throw InvalidArgument("Invalid value in lengths: {} at {} of a tensor of shape {}", length,
                              begin, tensor.shape().ToString());
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
      : ListKernel(init),
        existing_(init.node().type() == "TensorListScatterIntoExistingList"),
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
      if (i < 0)
        throw InvalidArgument("Indices in TensorListScatter must all be non-negative: {}", i);
      needed = std::max(needed, i + 1);
    }
    if (existing_) CheckType(ListOf(ctx.input(0)), dtype_);
    Tensor handle = existing_ ? ctx.TakeInput(0)
                              : ListTensor({dtype_, PartialShapeFromTensor(ctx.input(2)), -1, {}});
    TensorList& list = MutableList(handle);
    if (sized_) {
      const int64_t size = ScalarInt(ctx.input(3), "num_elements");
      if (size >= 0 && needed > size) {
        throw InvalidArgument("TensorListScatter: index {} out of range; the list has {} elements",
                              needed - 1, size);
      }
      needed = std::max(needed, size);
    }
    if (needed > list.size()) tensor_list::Resize(ctx, list, needed);
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

class ListConcatKernel : public ListKernel {
 public:
  explicit ListConcatKernel(KernelInit& init) : ListKernel(init), v2_(init.num_inputs() == 3) {
    if (!v2_) element_shape_ = init.attr<PartialShape>("element_shape");
  }

  void Compute(KernelContext& ctx) override {
    const TensorList& list = ListOf(ctx.input(0));
    CheckType(list, dtype_);
    const PartialShape element =
        (v2_ ? PartialShapeFromTensor(ctx.input(1)) : element_shape_).MergeWith(list.element_shape);
    const std::vector<int64_t> leading = v2_ ? ctx.input(2).AsInt64s() : std::vector<int64_t>();
    PartialShape rest = WithoutFirst(element);
    for (const Tensor& value : list.elements) {
      if (!value.valid()) continue;
      rest = WithoutFirst(value.shape()).MergeWith(rest);
    }
    if (!rest.fully_known()) {
      throw InvalidArgument(
          "All except the first dimension must be fully defined when concating an "
          "empty or uninitialized tensor list. element_shape: {}",
          element.ToString());
    }
    Tensor& lengths = ctx.AllocateOutput(1, Shape{list.size()});
    int64_t total = 0;
    for (int64_t i = 0; i < list.size(); ++i) {
      const Tensor& value = list.elements[i];
      const int64_t first = element.rank_known() && element.rank() > 0 ? element[0] : -1;
      const int64_t length = value.valid()                              ? value.dim(0)
                             : i < static_cast<int64_t>(leading.size()) ? leading[i]
                                                                        : first;
      if (length < 0)
        throw InvalidArgument("Concat cannot tell the length of uninitialized element {}", i);
      if (first >= 0 && value.valid() && length != first) {
        throw InvalidArgument("List contains uninitialized tensor or inconsistent sizes: {} and {}",
                              first, length);
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

}  // namespace

void RegisterTensorListBulkCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("TensorListStack").Make<ListStackKernel>());
  registry.Add(KernelDef("TensorListGather").Make<ListStackKernel>());
  registry.Add(KernelDef("TensorListFromTensor").OwnOutputs().Make<FromTensorKernel>());
  registry.Add(KernelDef("TensorListSplit").OwnOutputs().Make<SplitKernel>());
  for (const char* op :
       {"TensorListScatter", "TensorListScatterV2", "TensorListScatterIntoExistingList"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<ScatterKernel>());
  }
  registry.Add(KernelDef("TensorListConcat").Make<ListConcatKernel>());
  registry.Add(KernelDef("TensorListConcatV2").Make<ListConcatKernel>());
}

}  // namespace sextant
