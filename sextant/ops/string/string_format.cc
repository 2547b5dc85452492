#include "sextant/ops/string/string_format.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output StringFormat(const std::vector<Output>& xs, const std::string& text,
                    const StringFormatOptions& options) {
  return OpBuilder("StringFormat")
      .Input(xs)
      .Attr("template", text)
      .Attr("placeholder", options.placeholder)
      .Attr("summarize", options.summarize)
      .Build();
}

void RegisterStringFormat(OpRegistry& registry) {
  registry.Add(
      OpDef("StringFormat")
          .Inputs("inputs:T")
          .Outputs("output:string")
          .Attrs("T:list(type)>=0; template:string='%s'; placeholder:string='%s'; summarize:int=3")
          .Doc("A text in which each placeholder is replaced by the values of a tensor.")
          .Shape(shapes::Scalar)
          .NotDifferentiable("the result is text"));
}

}  // namespace sextant
