// The region "_ProductSum": matrix products of equal sizes added up where they are formed, without
// a matrix for each. Made by the pass "fuse_products", never exported.
#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void ProductSumShape(ShapeContext& c) {
  const PartialShape a = c.InputOfRank(0, 2), b = c.InputOfRank(c.num_inputs() / 2, 2);
  c.set_output(0, PartialShape{a[c.attr<bool>("transpose_a") ? 1 : 0], b[1]});
}

}  // namespace

void RegisterProductSum(OpRegistry& registry) {
  registry.Add(OpDef("_ProductSum")
                   .Inputs("a:N*T, b:N*T")
                   .Outputs("sum:T")
                   .Attrs("N:int>=1; T:type in [float]; transpose_a:bool=False")
                   .Doc("a[0] * b[0] + a[1] * b[1] + ..., each a transposed first if asked.")
                   .Shape(ProductSumShape)
                   .NotDifferentiable("made only after gradients"));
}

}  // namespace sextant
