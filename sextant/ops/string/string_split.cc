#include "sextant/ops/string/string_split.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void SplitShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.InputOfRank(1, 0);
  c.set_output(0, {PartialShape::kUnknown, 2});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, {2});
}

SparseTensor ToSparse(const std::vector<Output>& outputs) {
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace

SparseTensor StringSplit(Output x, Output delimiter, const StringSplitOptions& options) {
  return ToSparse(OpBuilder("StringSplit")
                      .Input(x)
                      .Input(delimiter)
                      .Attr("skip_empty", options.skip_empty)
                      .BuildAll());
}
SparseTensor StringSplitV2(Output x, Output sep, const StringSplitV2Options& options) {
  return ToSparse(
      OpBuilder("StringSplitV2").Input(x).Input(sep).Attr("maxsplit", options.maxsplit).BuildAll());
}

void RegisterStringSplit(OpRegistry& registry) {
  registry.Add(OpDef("StringSplit")
                   .Inputs("input:string, delimiter:string")
                   .Outputs("indices:int64, values:string, shape:int64")
                   .Attrs("skip_empty:bool=True")
                   .Doc("The pieces of each string between the characters of delimiter, as the "
                        "rows of a sparse matrix.")
                   .Shape(SplitShape)
                   .NotDifferentiable("text has no derivative"));
  registry.Add(OpDef("StringSplitV2")
                   .Inputs("input:string, sep:string")
                   .Outputs("indices:int64, values:string, shape:int64")
                   .Attrs("maxsplit:int=-1")
                   .Doc("The pieces of each string between occurrences of sep, or between white "
                        "space when that is empty, as the rows of a sparse matrix.")
                   .Shape(SplitShape)
                   .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
