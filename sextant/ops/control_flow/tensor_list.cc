#include "sextant/ops/control_flow/tensor_list.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/control_flow/stacked_shape.h"
#include "sextant/ops/control_flow/tensor_list_gradients.h"

namespace sextant {

Output ShapeConstant(const PartialShape& shape) {
  if (!shape.rank_known()) return Const(Tensor(-1), "element_shape");
  return Const(Tensor::FromVector(std::vector<int32_t>(shape.dims().begin(), shape.dims().end())),
               "element_shape");
}

Output EmptyTensorList(Output element_shape, DType element_dtype, int64_t max_num_elements) {
  return OpBuilder("EmptyTensorList")
      .Input(element_shape)
      .Input(Const(Tensor(static_cast<int32_t>(max_num_elements)), "max_num_elements"))
      .Attr("element_dtype", element_dtype)
      .Build();
}
Output TensorListReserve(Output element_shape, Output num_elements, DType element_dtype) {
  return OpBuilder("TensorListReserve")
      .Input(element_shape)
      .Input(num_elements)
      .Attr("element_dtype", element_dtype)
      .Build();
}
Output TensorListPushBack(Output list, Output tensor) {
  return OpBuilder("TensorListPushBack").Input(list).Input(tensor).Build();
}
PopBackOutputs TensorListPopBack(Output list, Output element_shape, DType element_dtype) {
  Node* node = OpBuilder("TensorListPopBack")
                   .Input(list)
                   .Input(element_shape)
                   .Attr("element_dtype", element_dtype)
                   .BuildNode();
  return {node->output(0), node->output(1)};
}
Output TensorListGetItem(Output list, Output index, Output element_shape, DType element_dtype) {
  return OpBuilder("TensorListGetItem")
      .Input(list)
      .Input(index)
      .Input(element_shape)
      .Attr("element_dtype", element_dtype)
      .Build();
}
Output TensorListSetItem(Output list, Output index, Output item) {
  return OpBuilder("TensorListSetItem").Input(list).Input(index).Input(item).Build();
}
Output TensorListLength(Output list) { return OpBuilder("TensorListLength").Input(list).Build(); }
Output TensorListStack(Output list, Output element_shape, DType element_dtype,
                       int64_t num_elements) {
  return OpBuilder("TensorListStack")
      .Input(list)
      .Input(element_shape)
      .Attr("element_dtype", element_dtype)
      .Attr("num_elements", num_elements)
      .Build();
}
Output TensorListFromTensor(Output tensor, Output element_shape) {
  return OpBuilder("TensorListFromTensor").Input(tensor).Input(element_shape).Build();
}
Output TensorListGather(Output list, Output indices, Output element_shape, DType element_dtype) {
  return OpBuilder("TensorListGather")
      .Input(list)
      .Input(indices)
      .Input(element_shape)
      .Attr("element_dtype", element_dtype)
      .Build();
}
Output TensorListResize(Output list, Output size) {
  return OpBuilder("TensorListResize").Input(list).Input(size).Build();
}
Output TensorListElementShape(Output list) {
  return OpBuilder("TensorListElementShape").Input(list).Attr("shape_type", DType::kInt32).Build();
}

namespace {

// A new list whose element shape is given by input i.
ShapeFunction NewList(int i) {
  return [i](ShapeContext& c) {
    c.set_output(0, Shape());
    c.set_output_handle(0, {c.attr<DType>("element_dtype"), c.InputAsShape(i)});
  };
}

// The list of input 0, changed.
void SameList(ShapeContext& c) {
  c.set_output(0, Shape());
  if (const HandleShape* handle = c.input_handle(0)) c.set_output_handle(0, *handle);
}

PartialShape ElementShape(const ShapeContext& c, const PartialShape& given) {
  const HandleShape* handle = c.input_handle(0);
  return handle && handle->shape.CompatibleWith(given) ? handle->shape.MergeWith(given) : given;
}

void StackShape(ShapeContext& c) {
  c.set_output(0,
               StackedShape(c.attr<int64_t>("num_elements"), ElementShape(c, c.InputAsShape(1))));
}

void GatherShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(1, 1);
  c.set_output(0, StackedShape(indices[0], ElementShape(c, c.InputAsShape(2))));
}

// Concatenation: the first size of the elements varies.
void ConcatShape(ShapeContext& c, PartialShape element) {
  if (element.rank_known() && element.rank() > 0) element.set_dim(0, PartialShape::kUnknown);
  c.set_output(0, std::move(element));
  c.set_output(1, PartialShape::UnknownOfRank(1));
}

void FromTensorShape(ShapeContext& c) {
  PartialShape element = c.InputAsShape(1);
  const PartialShape& tensor = c.InputOfRankAtLeast(0, 1);
  if (tensor.rank_known()) {
    PartialShape row = tensor;
    row.Erase(0);
    element = element.MergeWith(row);
  }
  c.set_output(0, Shape());
  c.set_output_handle(0, {c.attr<DType>("element_dtype"), std::move(element)});
}

OpDef List(std::string name, std::string_view inputs, std::string_view outputs,
           std::string_view attrs) {
  return OpDef(std::move(name)).Inputs(inputs).Outputs(outputs).Attrs(attrs);
}

constexpr char kDtype[] = "element_dtype:type";
constexpr char kDtypeAndShape[] = "element_dtype:type; shape_type:type in [int32,int64]";

void RegisterListMaking(OpRegistry& registry) {
  registry.Add(List("EmptyTensorList", "element_shape:shape_type, max_num_elements:int32",
                    "handle:variant", kDtypeAndShape)
                   .Doc("A list without elements.")
                   .Shape(NewList(0))
                   .NotDifferentiable("it takes no numbers"));
  registry.Add(List("TensorListReserve", "element_shape:shape_type, num_elements:int32",
                    "handle:variant", kDtypeAndShape)
                   .Doc("A list of elements that are not set.")
                   .Shape(NewList(0))
                   .NotDifferentiable("it takes no numbers"));
  registry.Add(List("TensorListFromTensor", "tensor:element_dtype, element_shape:shape_type",
                    "output_handle:variant", kDtypeAndShape)
                   .Doc("The slices of a tensor along its first dimension.")
                   .Shape(FromTensorShape)
                   .Gradient(TensorListFromTensorGradient));
  registry.Add(List("TensorListSplit",
                    "tensor:element_dtype, element_shape:shape_type, lengths:int64",
                    "output_handle:variant", kDtypeAndShape)
                   .Doc("Pieces of a tensor, of these lengths along its first dimension.")
                   .Shape(NewList(1))
                   .Gradient(TensorListSplitGradient));
  registry.Add(List("TensorListScatter",
                    "tensor:element_dtype, indices:int32, element_shape:shape_type",
                    "output_handle:variant", kDtypeAndShape)
                   .Doc("A list that holds the slices of a tensor at these indices.")
                   .Shape(NewList(2))
                   .Gradient(TensorListScatterGradient));
  registry.Add(
      List("TensorListScatterV2",
           "tensor:element_dtype, indices:int32, element_shape:shape_type, num_elements:int32",
           "output_handle:variant", kDtypeAndShape)
          .Doc(
              "A list of at least num_elements that holds the slices of a tensor at these indices.")
          .Shape(NewList(2))
          .Gradient(TensorListScatterGradient));
}

void RegisterChanging(OpRegistry& registry) {
  registry.Add(List("TensorListPushBack", "input_handle:variant, tensor:element_dtype",
                    "output_handle:variant", kDtype)
                   .Doc("The list with one more element at its end.")
                   .Shape(SameList)
                   .Gradient(TensorListPushBackGradient));
  registry.Add(List("TensorListPushBackBatch", "input_handles:variant, tensor:element_dtype",
                    "output_handles:variant", kDtype)
                   .Doc("Lists with one more element each: the slices of a tensor.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.input(0)); })
                   .NotDifferentiable("TensorFlow defines no gradient"));
  registry.Add(List("TensorListPopBack", "input_handle:variant, element_shape:int32",
                    "output_handle:variant, tensor:element_dtype", kDtype)
                   .Doc("The list without its last element, and that element.")
                   .Shape([](ShapeContext& c) {
                     SameList(c);
                     c.set_output(1, ElementShape(c, c.InputAsShape(1)));
                   })
                   .Gradient(TensorListPopBackGradient));
  registry.Add(List("TensorListSetItem", "input_handle:variant, index:int32, item:element_dtype",
                    "output_handle:variant",
                    "element_dtype:type; resize_if_index_out_of_bounds:bool=False")
                   .Doc("The list with another element at index.")
                   .Shape(SameList)
                   .Gradient(TensorListSetItemGradient));
  registry.Add(List("TensorListScatterIntoExistingList",
                    "input_handle:variant, tensor:element_dtype, indices:int32",
                    "output_handle:variant", kDtype)
                   .Doc("The list with the slices of a tensor at these indices.")
                   .Shape(SameList)
                   .Gradient(TensorListScatterIntoExistingListGradient));
  registry.Add(
      List("TensorListResize", "input_handle:variant, size:int32", "output_handle:variant", "")
          .Doc("The list cut, or extended by elements that are not set.")
          .Shape(SameList)
          .Gradient(TensorListResizeGradient));
  registry.Add(
      List("TensorListConcatLists", "input_a:variant, input_b:variant", "output:variant", kDtype)
          .Doc("The elements of two lists in one; for tensors of lists pair by pair.")
          .Shape([](ShapeContext& c) {
            c.set_output(0, c.input(0).MergeWith(c.input(1)));
            if (const HandleShape* handle = c.input_handle(0)) c.set_output_handle(0, *handle);
          })
          .NotDifferentiable("TensorFlow defines no gradient"));
}

void RegisterListReading(OpRegistry& registry) {
  registry.Add(
      List("TensorListGetItem", "input_handle:variant, index:int32, element_shape:int32",
           "item:element_dtype", kDtype)
          .Doc("The element at index; zeros when it is not set.")
          .Shape([](ShapeContext& c) { c.set_output(0, ElementShape(c, c.InputAsShape(2))); })
          .Gradient(TensorListGetItemGradient));
  registry.Add(List("TensorListStack", "input_handle:variant, element_shape:int32",
                    "tensor:element_dtype", "element_dtype:type; num_elements:int=-1")
                   .Doc("All elements stacked along a new first dimension.")
                   .Shape(StackShape)
                   .Gradient(TensorListStackGradient));
  registry.Add(List("TensorListGather", "input_handle:variant, indices:int32, element_shape:int32",
                    "values:element_dtype", kDtype)
                   .Doc("The elements at these indices, stacked along a new first dimension.")
                   .Shape(GatherShape)
                   .Gradient(TensorListGatherGradient));
  registry.Add(
      List("TensorListConcat", "input_handle:variant", "tensor:element_dtype, lengths:int64",
           "element_dtype:type; element_shape:shape=unknown_rank")
          .Doc("All elements one after another along their first dimension, and its sizes.")
          .Shape([](ShapeContext& c) {
            ConcatShape(c, ElementShape(c, c.attr<PartialShape>("element_shape")));
          })
          .Gradient(TensorListConcatGradient));
  registry.Add(
      List("TensorListConcatV2",
           "input_handle:variant, element_shape:shape_type, leading_dims:int64",
           "tensor:element_dtype, lengths:int64", kDtypeAndShape)
          .Doc("All elements one after another along their first dimension, and its sizes; "
               "leading_dims gives those of elements that are not set.")
          .Shape([](ShapeContext& c) { ConcatShape(c, ElementShape(c, c.InputAsShape(1))); })
          .Gradient(TensorListConcatGradient));
  registry.Add(List("TensorListLength", "input_handle:variant", "length:int32", "")
                   .Doc("The number of elements.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("an integer"));
  registry.Add(List("TensorListElementShape", "input_handle:variant", "element_shape:shape_type",
                    "shape_type:type in [int32,int64]")
                   .Doc("What is known of the elements' shape; -1 when not even their rank is.")
                   // The list may know less than its handle does.
                   .Shape(shapes::Unknown)
                   .NotDifferentiable("an integer"));
}

}  // namespace

void RegisterTensorList(OpRegistry& registry) {
  RegisterListMaking(registry);
  RegisterChanging(registry);
  RegisterListReading(registry);
}

}  // namespace sextant
