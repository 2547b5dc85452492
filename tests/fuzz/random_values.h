// Random element types, shapes, tensors and attributes: mostly small and plausible, now and then
// extreme.
#pragma once

#include "sextant/graph/op_def.h"
#include "sextant/proto/graph.pb.h"
#include "tests/fuzz/dice.h"

namespace sextant::fuzz {

proto::DataType RandomType(Dice& dice);
int64_t RandomInt(Dice& dice);
proto::TensorShapeProto RandomShape(Dice& dice);
proto::TensorProto RandomTensor(Dice& dice, proto::DataType dtype);
// A value that suits the definition, calling one of "functions" (names, may be empty) where it is a
// function.
proto::AttrValue RandomAttr(Dice& dice, const AttrDef& def,
                            const std::vector<std::string>& functions);

// Changes one thing about the value and keeps its kind.
void MutateShape(Dice& dice, proto::TensorShapeProto* shape);
void MutateTensor(Dice& dice, proto::TensorProto* tensor);
void MutateAttr(Dice& dice, proto::AttrValue* attr, const std::vector<std::string>& functions);

}  // namespace sextant::fuzz
