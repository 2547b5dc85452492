// Kernels that make or take all elements of a list at once.
#include <algorithm>
#include <numeric>

#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/control_flow/tensor_list_kernel.h"

namespace sextant {

namespace {

using tensor_list::CheckType;
using tensor_list::ElementOrZeros;
using tensor_list::RowOf;

PartialShape MergeElement(const PartialShape& shape, const Tensor& element) {
  return element.valid() ? shape.MergeWith(element.shape()) : shape;
}

// The elements at the given positions (all of them without indices) as one tensor. Only these
// elements tell what is not known of their shape; those that are not set are zeros.
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
    FindElements(ctx, list);
    PartialShape element =
        list.element_shape.MergeWith(PartialShapeFromTensor(ctx.input(gather_ ? 2 : 1)));
    for (const Tensor* value : elements_) element = MergeElement(element, *value);
    const auto count = static_cast<int64_t>(elements_.size());
    if (!element.fully_known()) {
      throw InvalidArgument(
          "Tried to {} {} elements of a list of shape that is not fully defined: {}",
          gather_ ? "gather" : "stack", count, element.ToString());
    }
    Shape shape = element.AsShape();
    const int64_t row = shape.num_elements();
    shape.Insert(0, count);
    Tensor& out = ctx.AllocateOutput(0, shape);
    for (int64_t i = 0; i < count; ++i) {
      CopyElements(ElementOrZeros(ctx, *elements_[i], dtype_, element), out, i * row);
    }
  }

 private:
  void FindElements(KernelContext& ctx, const TensorList& list) {
    elements_.clear();
    if (!gather_) {
      for (const Tensor& element : list.elements) elements_.push_back(&element);
      return;
    }
    for (const int64_t i : ctx.input(1).AsInt64s()) {
      if (i < 0 || i >= list.size()) {
        throw InvalidArgument("Trying to gather element {} in a list with {} elements.", i,
                              list.size());
      }
      elements_.push_back(&list.elements[i]);
    }
  }

  const bool gather_;
  int64_t num_elements_ = -1;
  std::vector<const Tensor*> elements_;
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
      const int64_t size = IndexScalar(ctx.input(3), "num_elements");
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

// The elements one after the other along their first dimension. One that is not set has the length
// that leading_dims gives it; where that has none, the length of all elements that are set.
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
    const PartialShape rest = RestOf(list, element);
    if (!rest.fully_known()) {
      throw InvalidArgument(
          "All except the first dimension must be fully defined when concating an "
          "empty or uninitialized tensor list. element_shape: {}",
          element.ToString());
    }
    FindLengths(ctx, list, element);
    Tensor& lengths = ctx.AllocateOutput(1, Shape{list.size()});
    std::copy(lengths_.begin(), lengths_.end(), lengths.data<int64_t>());
    Shape shape = rest.AsShape();
    const int64_t row = shape.num_elements();
    shape.Insert(0, std::accumulate(lengths_.begin(), lengths_.end(), int64_t{0}));
    Tensor& out = ctx.AllocateOutput(0, shape);
    int64_t offset = 0;
    for (int64_t i = 0; i < list.size(); ++i) {
      Shape piece = rest.AsShape();
      piece.Insert(0, lengths_[i]);
      CopyElements(ElementOrZeros(ctx, list.elements[i], dtype_, piece), out, offset * row);
      offset += piece[0];
    }
  }

 private:
  // The shape of all elements without its first dimension, as far as it is known.
  static PartialShape RestOf(const TensorList& list, const PartialShape& element) {
    PartialShape rest = WithoutFirst(element);
    for (const Tensor& value : list.elements) {
      if (value.valid()) rest = rest.MergeWith(WithoutFirst(value.shape()));
    }
    return rest;
  }

  void FindLengths(KernelContext& ctx, const TensorList& list, const PartialShape& element) {
    const int64_t wanted = element.rank_known() ? element[0] : PartialShape::kUnknown;
    int64_t common = wanted;
    bool differ = false;
    for (int64_t i = 0; i < list.size(); ++i) {
      const Tensor& value = list.elements[i];
      if (!value.valid()) continue;
      if (wanted >= 0 && value.dim(0) != wanted) {
        throw InvalidArgument(
            "First entry of element_shape input does not match the first dim of list element at "
            "index: {} Expected: {} Actual: {}",
            i, wanted, value.dim(0));
      }
      differ |= common >= 0 && common != value.dim(0);
      common = value.dim(0);
    }
    const std::vector<int64_t> leading = v2_ ? ctx.input(2).AsInt64s() : std::vector<int64_t>();
    lengths_.clear();
    for (int64_t i = 0; i < list.size(); ++i) {
      const Tensor& value = list.elements[i];
      const bool given = i < static_cast<int64_t>(leading.size());
      if (!value.valid() && !given && (differ || common < 0)) {
        throw InvalidArgument(
            "List contains uninitialized tensor at index {} but leading_dims has only {} elements.",
            i, leading.size());
      }
      lengths_.push_back(value.valid() ? value.dim(0) : given ? leading[i] : common);
      if (lengths_.back() < 0) {
        throw InvalidArgument("leading_dims[{}] = {} is negative", i, lengths_.back());
      }
    }
  }

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
  std::vector<int64_t> lengths_;
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
