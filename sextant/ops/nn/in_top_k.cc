#include "sextant/ops/nn/in_top_k.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void InTopKShape(ShapeContext& c) {
  const PartialShape predictions = c.InputOfRank(0, 2), targets = c.InputOfRank(1, 1);
  if (c.num_inputs() > 2) c.InputOfRank(2, 0);
  c.set_output(0, PartialShape{predictions[0]}.MergeWith(targets));
}

}  // namespace

Output InTopK(Output predictions, Output targets, Output k) {
  return OpBuilder("InTopKV2").Input(predictions).Input(targets).Input(k).Build();
}

void RegisterInTopK(OpRegistry& registry) {
  registry.Add(OpDef("InTopK")
                   .Inputs("predictions:float, targets:T")
                   .Outputs("precision:bool")
                   .Attrs("k:int; T:type=int32 in [int32,int64]")
                   .Doc("Whether the target of each row is among its k highest predictions; ties "
                        "at the border all count.")
                   .Shape(InTopKShape)
                   .NotDifferentiable("the result is a truth value"));
  registry.Add(OpDef("InTopKV2")
                   .Inputs("predictions:float, targets:T, k:T")
                   .Outputs("precision:bool")
                   .Attrs("T:type=int32 in [int32,int64]")
                   .Doc("InTopK whose k is a tensor.")
                   .Shape(InTopKShape)
                   .NotDifferentiable("the result is a truth value"));
}

}  // namespace sextant
