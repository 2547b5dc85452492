// TensorListReserve, TensorListPushBack, -PopBack, -GetItem, -SetItem, -Stack and other ops on
// lists of tensors. Lists are immutable values: each op gives a new list (changed in place when it
// has the only reference, so that a loop over a list is linear). A list is a scalar variant.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/control_flow/tensor_list_value.h"

#pragma GCC visibility push(default)

namespace sextant {

// An integer vector that denotes the shape, -1 where unknown; the scalar -1 for an unknown rank.
Output ShapeConstant(const PartialShape& shape);

// A list without elements; max_num_elements = -1 for no limit.
Output EmptyTensorList(Output element_shape, DType element_dtype, int64_t max_num_elements = -1);
// A list of num_elements elements that are not set.
Output TensorListReserve(Output element_shape, Output num_elements, DType element_dtype);
Output TensorListPushBack(Output list, Output tensor);
struct SEXTANT_API PopBackOutputs {
  Output list, tensor;
};
PopBackOutputs TensorListPopBack(Output list, Output element_shape, DType element_dtype);
Output TensorListGetItem(Output list, Output index, Output element_shape, DType element_dtype);
Output TensorListSetItem(Output list, Output index, Output item);
Output TensorListLength(Output list);
// The elements stacked along a new first dimension; num_elements = -1 for any number.
Output TensorListStack(Output list, Output element_shape, DType element_dtype,
                       int64_t num_elements = -1);
// The slices of the tensor along its first dimension.
Output TensorListFromTensor(Output tensor, Output element_shape);
Output TensorListGather(Output list, Output indices, Output element_shape, DType element_dtype);
Output TensorListResize(Output list, Output size);
// What is known of the elements' shape, as an int32 tensor.
Output TensorListElementShape(Output list);

}  // namespace sextant

#pragma GCC visibility pop
