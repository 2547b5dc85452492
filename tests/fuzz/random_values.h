// Random element types, shapes, tensors and attributes: mostly small and plausible, now and then
// extreme.
#pragma once

#include "sextant/graph/op_def.h"
#include "sextant/proto/graph.pb.h"
#include "tests/fuzz/dice.h"

namespace sextant::fuzz {

tensorflow::DataType RandomType(Dice& dice);
int64_t RandomInt(Dice& dice);
tensorflow::TensorShapeProto RandomShape(Dice& dice);
tensorflow::TensorProto RandomTensor(Dice& dice, tensorflow::DataType dtype);
// A value that suits the definition, calling one of "functions" (names, may be empty) where it is a
// function.
tensorflow::AttrValue RandomAttr(Dice& dice, const AttrDef& def,
                                 const std::vector<std::string>& functions);

// Changes one thing about the value and keeps its kind.
void MutateShape(Dice& dice, tensorflow::TensorShapeProto* shape);
void MutateTensor(Dice& dice, tensorflow::TensorProto* tensor);
void MutateAttr(Dice& dice, tensorflow::AttrValue* attr, const std::vector<std::string>& functions);

}  // namespace sextant::fuzz
