#include "sextant/ops/control_flow/tensor_list_gradients.h"

#include "sextant/graph/op_builder.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/control_flow/tensor_list.h"

namespace sextant {

namespace {

// The shape of the slices of a tensor along its first dimension.
Output RowShape(Output tensor) {
  const PartialShape& shape = tensor.shape();
  if (shape.fully_known()) {
    PartialShape row = shape;
    row.Erase(0);
    return ShapeConstant(row);
  }
  return Slice(ShapeOf(tensor), {1}, {-1});
}

// A list of zeros, as long as "list", for gradients of type "dtype".
Output ReserveLike(Output list, DType dtype) {
  return TensorListReserve(TensorListElementShape(list), TensorListLength(list), dtype);
}

Output ScatterInto(Output list, Output tensor, Output indices) {
  return OpBuilder("TensorListScatterIntoExistingList")
      .Input(list)
      .Input(tensor)
      .Input(indices)
      .Build();
}

}  // namespace

void TensorListFromTensorGradient(GradientContext& c) {
  const Output tensor = c.input(0);
  const PartialShape& shape = tensor.shape();
  const int64_t count = shape.rank_known() ? shape[0] : -1;
  c.set(0, TensorListStack(c.grad(), RowShape(tensor), tensor.dtype(), count));
}

void TensorListSplitGradient(GradientContext& c) {
  const Output tensor = c.input(0);
  c.set(0, OpBuilder("TensorListConcatV2")
               .Input(c.grad())
               .Input(Concat({ConstInts({-1}), RowShape(tensor)}, 0))
               .Input(c.input(2))
               .Attr("element_dtype", tensor.dtype())
               .Build());
}

void TensorListScatterGradient(GradientContext& c) {
  const Output tensor = c.input(0);
  c.set(0, TensorListGather(c.grad(), c.input(1), RowShape(tensor), tensor.dtype()));
}

void TensorListScatterIntoExistingListGradient(GradientContext& c) {
  const Output tensor = c.input(1), indices = c.input(2), grad = c.grad();
  if (c.wanted(1)) c.set(1, TensorListGather(grad, indices, RowShape(tensor), tensor.dtype()));
  if (c.wanted(0)) c.set(0, ScatterInto(grad, ZerosLike(tensor), indices));
}

void TensorListPushBackGradient(GradientContext& c) {
  const PopBackOutputs popped =
      TensorListPopBack(c.grad(), ShapeOf(c.input(1)), c.attr<DType>("element_dtype"));
  c.set(0, popped.list);
  c.set(1, popped.tensor);
}

void TensorListPopBackGradient(GradientContext& c) {
  const DType dtype = c.attr<DType>("element_dtype");
  const Output list =
      c.has_gradient(0) ? c.grad(0) : EmptyTensorList(TensorListElementShape(c.output(0)), dtype);
  c.set(0, TensorListPushBack(list, c.grad(1)));
}

void TensorListSetItemGradient(GradientContext& c) {
  const Output grad = c.grad(), index = c.input(1), item = c.input(2);
  if (c.wanted(0)) {
    Output list = TensorListSetItem(grad, index, ZerosLike(item));
    if (c.attr<bool>("resize_if_index_out_of_bounds")) {
      list = TensorListResize(list, TensorListLength(c.input(0)));
    }
    c.set(0, list);
  }
  if (c.wanted(2)) c.set(2, TensorListGetItem(grad, index, ShapeOf(item), item.dtype()));
}

void TensorListResizeGradient(GradientContext& c) {
  c.set(0, TensorListResize(c.grad(), TensorListLength(c.input(0))));
}

void TensorListGetItemGradient(GradientContext& c) {
  const Output grad = c.grad();
  c.set(0, TensorListSetItem(ReserveLike(c.input(0), grad.dtype()), c.input(1), grad));
}

void TensorListStackGradient(GradientContext& c) {
  const Output grad = c.grad();
  PartialShape row = grad.shape();
  if (row.rank_known()) row.Erase(0);
  c.set(0, TensorListFromTensor(grad, ShapeConstant(row)));
}

void TensorListGatherGradient(GradientContext& c) {
  const Output grad = c.grad();
  c.set(0, ScatterInto(ReserveLike(c.input(0), grad.dtype()), grad, c.input(1)));
}

void TensorListConcatGradient(GradientContext& c) {
  c.set(0, OpBuilder("TensorListSplit")
               .Input(c.grad())
               .Input(TensorListElementShape(c.input(0)))
               .Input(c.output(1))
               .Build());
}

}  // namespace sextant
