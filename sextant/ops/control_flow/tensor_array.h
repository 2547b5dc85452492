// TensorArrayV3, TensorArrayReadV3, -Write, -Gather, -Scatter, -Concat, -Split, -Size, -Close,
// -Grad: arrays of tensors that are written element by element, as imported v1 loops use them. The
// "flow" scalar that each op takes and gives orders the accesses. New graphs use TensorList.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TensorArrayOptions {
  PartialShape element_shape;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
};

struct SEXTANT_API TensorArrayOutputs {
  Output handle, flow;
};

TensorArrayOutputs TensorArrayV3(Output size, DType dtype, const TensorArrayOptions& options = {});
// The array that collects the gradient of this one, for one call of Gradients ("source").
TensorArrayOutputs TensorArrayGradV3(Output handle, Output flow, const std::string& source);
// These three give the new flow.
Output TensorArrayWriteV3(Output handle, Output index, Output value, Output flow);
Output TensorArrayScatterV3(Output handle, Output indices, Output value, Output flow);
Output TensorArraySplitV3(Output handle, Output value, Output lengths, Output flow);
Output TensorArrayReadV3(Output handle, Output index, Output flow, DType dtype);
Output TensorArrayGatherV3(Output handle, Output indices, Output flow, DType dtype,
                           const PartialShape& element_shape = {});
struct SEXTANT_API TensorArrayConcatOutputs {
  Output value, lengths;
};
TensorArrayConcatOutputs TensorArrayConcatV3(Output handle, Output flow, DType dtype,
                                             const PartialShape& element_shape_except0 = {});
Output TensorArraySizeV3(Output handle, Output flow);

}  // namespace sextant

#pragma GCC visibility pop
