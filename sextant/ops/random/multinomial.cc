#include "sextant/ops/random/multinomial.h"

#include <string>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void MultinomialShape(ShapeContext& c) {
  const PartialShape logits = c.InputOfRank(0, 2);
  c.InputOfRank(1, 0);
  const auto samples = c.InputInt(1);
  if (samples && *samples < 0) {
    throw InvalidArgument("num_samples must not be negative, got {}", *samples);
  }
  c.set_output(0, PartialShape{logits[0], samples.value_or(PartialShape::kUnknown)});
}

}  // namespace

Output Multinomial(Output logits, Output num_samples, const MultinomialOptions& options) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  return OpBuilder("Multinomial")
      .Input(logits)
      .Input(num_samples)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Attr("output_dtype", options.output_dtype)
      .Build();
}

Output StatelessMultinomial(Output logits, Output num_samples, Output seed, DType output_dtype) {
  return OpBuilder("StatelessMultinomial")
      .Input(logits)
      .Input(num_samples)
      .Input(seed)
      .Attr("output_dtype", output_dtype)
      .Build();
}

void RegisterMultinomial(OpRegistry& registry) {
  const std::string logits =
      "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; ";
  const std::string output = "output_dtype:type=int64 in [int32,int64]";
  registry.Add(OpDef("Multinomial")
                   .Inputs("logits:T, num_samples:int32")
                   .Outputs("output:output_dtype")
                   .Attrs("seed:int=0; seed2:int=0; " + logits + output)
                   .Stateful()
                   .Doc("Classes drawn for each row with probabilities in proportion to "
                        "exp(logits).")
                   .Shape(MultinomialShape)
                   .NotDifferentiable("integers"));
  registry.Add(OpDef("StatelessMultinomial")
                   .Inputs("logits:T, num_samples:int32, seed:Tseed")
                   .Outputs("output:output_dtype")
                   .Attrs(logits + "Tseed:type=int64 in [int32,int64]; " + output)
                   .Doc("Classes drawn for each row with probabilities in proportion to "
                        "exp(logits). A function of the seed.")
                   .Shape(MultinomialShape)
                   .NotDifferentiable("integers"));
}

}  // namespace sextant
