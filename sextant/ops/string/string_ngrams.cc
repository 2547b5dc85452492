#include "sextant/ops/string/string_ngrams.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void NGramsShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.set_output(0, {PartialShape::kUnknown});
  c.set_output(1, c.InputOfRank(1, 1));
}

}  // namespace

NGrams StringNGrams(Output data, Output data_splits, const StringNGramsOptions& options) {
  const std::vector<Output> outputs =
      OpBuilder("StringNGrams")
          .Input(data)
          .Input(data_splits)
          .Attr("separator", options.separator)
          .Attr("ngram_widths", options.ngram_widths)
          .Attr("left_pad", options.left_pad)
          .Attr("right_pad", options.right_pad)
          .Attr("pad_width", options.pad_width)
          .Attr("preserve_short_sequences", options.preserve_short_sequences)
          .BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterStringNgrams(OpRegistry& registry) {
  registry.Add(OpDef("StringNGrams")
                   .Inputs("data:string, data_splits:Tsplits")
                   .Outputs("ngrams:string, ngrams_splits:Tsplits")
                   .Attrs("separator:string; ngram_widths:list(int)>=0; left_pad:string; "
                          "right_pad:string; pad_width:int; preserve_short_sequences:bool; "
                          "Tsplits:type=int64 in [int32,int64]")
                   .Doc("Runs of neighbouring strings in each row of a ragged matrix, each "
                        "joined to one string.")
                   .Shape(NGramsShape)
                   .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
