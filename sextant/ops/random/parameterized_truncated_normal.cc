#include "sextant/ops/random/parameterized_truncated_normal.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output ParameterizedTruncatedNormal(const ShapeInput& shape, Output means, Output stdevs,
                                    Output minvals, Output maxvals,
                                    const RandomSeedOptions& options) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  return OpBuilder("ParameterizedTruncatedNormal")
      .Input(shape.tensor())
      .Input(means)
      .Input(stdevs)
      .Input(minvals)
      .Input(maxvals)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Build();
}

void RegisterParameterizedTruncatedNormal(OpRegistry& registry) {
  registry.Add(OpDef("ParameterizedTruncatedNormal")
                   .Inputs("shape:T, means:dtype, stdevs:dtype, minvals:dtype, maxvals:dtype")
                   .Outputs("output:dtype")
                   .Attrs("seed:int=0; seed2:int=0; dtype:type in [half,bfloat16,float,double]; "
                          "T:type in [int32,int64]")
                   .Stateful()
                   .Doc("Normal numbers between bounds; parameters are scalars or given per row.")
                   .Shape(shapes::FromShapeInput)
                   .NotDifferentiable("the result is drawn at random"));
}

}  // namespace sextant
