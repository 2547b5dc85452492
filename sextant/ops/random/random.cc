#include "sextant/ops/random/random.h"

#include <string>

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

void RegisterRandom(OpRegistry& registry) {
  const std::string seeds = "seed:int=0; seed2:int=0; ";
  const char* random = "the result is drawn at random";
  const auto real = [&](const char* name, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("shape:T")
                     .Outputs("output:dtype")
                     .Attrs(seeds + "dtype:type in [half,bfloat16,float,double]; "
                                    "T:type in [int32,int64]")
                     .Stateful()
                     .Doc(doc)
                     .Shape(shapes::FromShapeInput)
                     .NotDifferentiable(random));
  };
  real("RandomUniform", "Numbers drawn uniformly from [0, 1).");
  real("RandomStandardNormal",
       "Numbers with mean 0 and standard deviation 1, normally distributed.");
  real("TruncatedNormal", "Standard normal numbers; those of size 2 and more are drawn again.");
  registry.Add(OpDef("RandomUniformInt")
                   .Inputs("shape:T, minval:Tout, maxval:Tout")
                   .Outputs("output:Tout")
                   .Attrs(seeds + "Tout:type in [int32,int64]; T:type in [int32,int64]")
                   .Stateful()
                   .Doc("Integers drawn from [minval, maxval).")
                   .Shape(shapes::FromShapeInput)
                   .NotDifferentiable(random));
  registry.Add(OpDef("RandomShuffle")
                   .Inputs("value:T")
                   .Outputs("output:T")
                   .Attrs(seeds + "T:type")
                   .Stateful()
                   .Doc("The rows of a tensor in random order.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("the order is drawn at random"));
}

}  // namespace sextant
