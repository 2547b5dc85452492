#include "sextant/ops/array/transpose.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void TransposeShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const PartialShape perm_shape = c.InputOfRank(1, 1);
  const auto perm = c.InputInts(1);
  if (!input.rank_known() || !perm) {
    const int64_t rank = input.rank_known() ? input.rank() : perm_shape[0];
    return c.set_output(0, rank == PartialShape::kUnknown
                               ? PartialShape()
                               : PartialShape::UnknownOfRank(static_cast<int>(rank)));
  }
  const int rank = input.rank();
  if (static_cast<int>(perm->size()) != rank) {
    throw InvalidArgument("a permutation of {} dimensions for a tensor of shape {}", perm->size(),
                          input.ToString());
  }
  PartialShape shape = input;
  std::vector<bool> seen(rank, false);
  for (int i = 0; i < rank; ++i) {
    const int from = shapes::NormalizeAxis((*perm)[i], rank);
    if (seen[from]) throw InvalidArgument("perm names dimension {} twice", from);
    seen[from] = true;
    shape.set_dim(i, input[from]);
  }
  c.set_output(0, std::move(shape));
}

void TransposeGradient(GradientContext& c) {
  c.set(0, Transpose(c.grad(), InvertPermutation(c.input(1))));
}
void ConjugateTransposeGradient(GradientContext& c) {
  c.set(0, ConjugateTranspose(c.grad(), InvertPermutation(c.input(1))));
}

}  // namespace

Output Transpose(Output x, const IndexArg& perm) {
  return OpBuilder("Transpose").Input(x).Input(perm.ToVector()).Build();
}
Output ConjugateTranspose(Output x, const IndexArg& perm) {
  return OpBuilder("ConjugateTranspose").Input(x).Input(perm.ToVector()).Build();
}
Output InvertPermutation(Output x) {
  if (const auto value = ConstantValue(x); value && value->rank() == 1) {
    const std::vector<int64_t> perm = value->AsInt64s();
    std::vector<int64_t> inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) {
      inverse[shapes::NormalizeAxis(perm[i], static_cast<int>(perm.size()))] =
          static_cast<int64_t>(i);
    }
    return ConstInts(inverse, x.dtype());
  }
  return OpBuilder("InvertPermutation").Input(x).Build();
}

void RegisterTranspose(OpRegistry& registry) {
  registry.Add(OpDef("Transpose")
                   .Inputs("x:T, perm:Tperm")
                   .Outputs("y:T")
                   .Attrs("T:type; Tperm:type=int32 in [int32,int64]")
                   .Doc("x with its dimensions in another order: dimension i of y is dimension "
                        "perm[i] of x.")
                   .Shape(TransposeShape)
                   .Gradient(TransposeGradient));
  registry.Add(OpDef("ConjugateTranspose")
                   .Inputs("x:T, perm:Tperm")
                   .Outputs("y:T")
                   .Attrs("T:type; Tperm:type=int32 in [int32,int64]")
                   .Doc("The complex conjugate of x with its dimensions in another order.")
                   .Shape(TransposeShape)
                   .Gradient(ConjugateTransposeGradient));
  registry.Add(OpDef("InvertPermutation")
                   .Inputs("x:T")
                   .Outputs("y:T")
                   .Attrs("T:type=int32 in [int32,int64]")
                   .Doc("The inverse of a permutation: y[x[i]] = i.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.InputOfRank(0, 1)); })
                   .NotDifferentiable("integer result"));
}

}  // namespace sextant
