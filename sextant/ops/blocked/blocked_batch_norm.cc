#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

PartialShape Channels(ShapeContext& c, int like) {
  const PartialShape& scale = c.input(like);
  return scale.rank() == 1 ? scale : PartialShape{-1};
}

}  // namespace

void RegisterBlockedBatchNorm(OpRegistry& registry) {
  registry.Add(
      OpDef("_BlockedBatchNorm")
          .Inputs("x:float, scale:float, offset:float, mean:float, variance:float, addend:N*float")
          .Outputs("y:float, batch_mean:float, batch_variance:float, saved_mean:float, "
                   "saved_variance:float")
          .Attrs("epsilon:float; exponential_avg_factor:float=1.0; is_training:bool=True; "
                 "N:int=0>=0; relu:bool=False")
          .Doc(
              "FusedBatchNormV3 on blocked images, then adds the addend, if any, and applies Relu.")
          .Shape([](ShapeContext& c) {
            c.set_output(0, c.InputOfRank(0, 5));
            for (int i = 1; i < 5; ++i) c.set_output(i, Channels(c, 1));
          })
          .NotDifferentiable("made only after gradients"));
  registry.Add(
      OpDef("_BlockedBatchNormGrad")
          .Inputs(
              "y_backprop:float, x:float, scale:float, mean:float, variance:float, active:N*float")
          .Outputs("x_backprop:float, scale_backprop:float, offset_backprop:float")
          .Attrs("epsilon:float; is_training:bool=True; N:int=0>=0")
          .Doc("FusedBatchNormGradV3 on blocked images. Where \"active\", the output of a Relu, is "
               "given and "
               "not positive, y_backprop counts as zero.")
          .Shape([](ShapeContext& c) {
            c.set_output(0, c.InputOfRank(1, 5));
            c.set_output(1, Channels(c, 2));
            c.set_output(2, Channels(c, 2));
          })
          .NotDifferentiable("made only after gradients"));
}

}  // namespace sextant
