#include "sextant/ops/math/l2_loss.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/binary.h"

namespace sextant {

Output L2Loss(Output t) { return OpBuilder("L2Loss").Input(t).Build(); }

void RegisterL2Loss(OpRegistry& registry) {
  registry.Add(OpDef("L2Loss")
                   .Inputs("t:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [half,bfloat16,float,double]")
                   .Doc("Half the sum of the squares of all elements.")
                   .Shape(shapes::Scalar)
                   .Gradient([](GradientContext& c) { c.set(0, c.input(0) * c.grad()); }));
}

}  // namespace sextant
