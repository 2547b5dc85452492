#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

void RegisterApplyMany(OpRegistry& registry) {
  registry.Add(
      OpDef("_ApplyMany")
          .Inputs("variables:N*resource, grads:M*T, scalars:Tscalars, decays:K*T")
          .Attrs("N:int>=1; M:int>=1; K:int>=0; T:type in [half,bfloat16,float,double]; "
                 "Tscalars:list(type)>=0; rule:string; flag:bool=False; decay_of:list(int)")
          .Stateful()
          .Doc("One step of the optimizer \"rule\" (ResourceApply<rule>) for many variables: "
               "each with its slots, the next gradient, and the scalars that all share. Where "
               "decay_of is not negative, that decay times the variable is added to the gradient.")
          .Shape(shapes::NoOutputs)
          .NotDifferentiable("made only after gradients"));
}

}  // namespace sextant
