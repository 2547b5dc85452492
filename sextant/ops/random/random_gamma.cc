#include "sextant/ops/random/random_gamma.h"

#include <string>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// The shape that input 0 denotes followed by that of input 1.
void SamplesShape(ShapeContext& c) {
  PartialShape out = c.InputAsShape(0);
  const PartialShape& parameters = c.input(1);
  if (!out.rank_known() || !parameters.rank_known()) return c.set_output(0, {});
  for (const int64_t size : parameters.dims()) out.Append(size);
  c.set_output(0, out);
}

}  // namespace

Output RandomGamma(const ShapeInput& shape, Output alpha, const RandomGammaOptions& options) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  return OpBuilder("RandomGamma")
      .Input(shape.tensor())
      .Input(alpha)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Build();
}

Output RandomPoisson(const ShapeInput& shape, Output rate, const RandomPoissonOptions& options) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  return OpBuilder("RandomPoissonV2")
      .Input(shape.tensor())
      .Input(rate)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Attr("dtype", options.dtype)
      .Build();
}

void RegisterRandomGamma(OpRegistry& registry) {
  const std::string attrs = "seed:int=0; seed2:int=0; S:type in [int32,int64]; ";
  registry.Add(OpDef("RandomGamma")
                   .Inputs("shape:S, alpha:T")
                   .Outputs("output:T")
                   .Attrs(attrs + "T:type in [half,float,double]")
                   .Stateful()
                   .Doc("Numbers drawn from the gamma distribution of each alpha, with rate 1.")
                   .Shape(SamplesShape)
                   .GradientForbidden("the derivative of a gamma sample is not available"));
  registry.Add(OpDef("RandomPoissonV2")
                   .Inputs("shape:S, rate:R")
                   .Outputs("output:dtype")
                   .Attrs(attrs + "R:type=double in [half,float,double,int32,int64]; "
                                  "dtype:type=int64 in [half,float,double,int32,int64]")
                   .Stateful()
                   .Doc("Numbers drawn from the Poisson distribution of each rate.")
                   .Shape(SamplesShape)
                   .NotDifferentiable("counts"));
}

}  // namespace sextant
