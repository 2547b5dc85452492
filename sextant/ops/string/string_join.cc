#include "sextant/ops/string/string_join.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void JoinShape(ShapeContext& c) {
  PartialShape shape = Shape();
  bool known = true;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& input = c.input(i);
    if (!input.rank_known()) {
      known = false;
    } else if (input.rank() > 0) {
      shape = shape.rank() > 0 ? shape.MergeWith(input) : input;
    }
  }
  // A tensor of unknown rank may be a scalar: it tells nothing, and nothing of the rank is known
  // unless another is not a scalar.
  c.set_output(0, known || shape.rank() > 0 ? shape : PartialShape());
}

}  // namespace

Output StringJoin(const std::vector<Output>& xs, const StringJoinOptions& options) {
  return OpBuilder("StringJoin").Input(xs).Attr("separator", options.separator).Build();
}
Output ReduceJoin(Output x, const IndexArg& axes, const ReduceJoinOptions& options) {
  return OpBuilder("ReduceJoin")
      .Input(x)
      .Input(axes.ToOutput(DType::kInt32))
      .Attr("keep_dims", options.keep_dims)
      .Attr("separator", options.separator)
      .Build();
}

void RegisterStringJoin(OpRegistry& registry) {
  registry.Add(OpDef("StringJoin")
                   .Inputs("inputs:N*string")
                   .Outputs("output:string")
                   .Attrs("N:int>=0; separator:string=''")
                   .Doc("The elements of all inputs at one place joined to one string; scalars go "
                        "with every place.")
                   .Shape(JoinShape)
                   .NotDifferentiable("text has no derivative"));
  registry.Add(
      OpDef("ReduceJoin")
          .Inputs("inputs:string, reduction_indices:int32")
          .Outputs("output:string")
          .Attrs("keep_dims:bool=False; separator:string=''")
          .Doc("The strings along the given axes joined to one; the first axis given varies "
               "fastest.")
          .Shape(shapes::Reduction)
          .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
