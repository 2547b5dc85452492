// Placeholder, PlaceholderWithDefault, Fill, Zeros, Ones, ZerosLike, OnesLike, Empty: tensors that
// are fed or filled with one value. Const is declared in sextant/graph/op_builder.h.
#pragma once

#include <string_view>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// A value to be fed; running without it is an error. Feeds must fit "shape".
Output Placeholder(DType dtype, const PartialShape& shape = {},
                   std::string_view name = "Placeholder");
// The same with a value that is used when nothing is fed.
Output PlaceholderWithDefault(Output value, const PartialShape& shape,
                              std::string_view name = "PlaceholderWithDefault");

// Every element is the scalar "value".
Output Fill(Output dims, Output value);
Output Fill(const Shape& shape, const Tensor& value);
Output Zeros(const Shape& shape, DType dtype = DType::kFloat);
Output Ones(const Shape& shape, DType dtype = DType::kFloat);
Output ZerosLike(Output x);
Output OnesLike(Output x);
// Elements of any value, or zeros with "init".
Output Empty(Output shape, DType dtype, bool init = false);

}  // namespace sextant

#pragma GCC visibility pop
