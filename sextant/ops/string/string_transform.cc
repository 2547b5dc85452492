#include "sextant/ops/string/string_transform.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output StringLower(Output x, const StringCaseOptions& options) {
  return OpBuilder("StringLower").Input(x).Attr("encoding", options.encoding).Build();
}
Output StringUpper(Output x, const StringCaseOptions& options) {
  return OpBuilder("StringUpper").Input(x).Attr("encoding", options.encoding).Build();
}
Output StringStrip(Output x) { return OpBuilder("StringStrip").Input(x).Build(); }
Output EncodeBase64(Output x, const EncodeBase64Options& options) {
  return OpBuilder("EncodeBase64").Input(x).Attr("pad", options.pad).Build();
}
Output DecodeBase64(Output x) { return OpBuilder("DecodeBase64").Input(x).Build(); }

void RegisterStringTransform(OpRegistry& registry) {
  const auto add = [&](const char* name, const char* attrs, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("input:string")
                     .Outputs("output:string")
                     .Attrs(attrs)
                     .Doc(doc)
                     .Shape(shapes::Unchanged)
                     .NotDifferentiable("text has no derivative"));
  };
  add("StringLower", "encoding:string=''", "Each string in lower case.");
  add("StringUpper", "encoding:string=''", "Each string in upper case.");
  add("StringStrip", "", "Each string without the white space at its ends.");
  add("EncodeBase64", "pad:bool=False", "The bytes of each string in web-safe base64.");
  add("DecodeBase64", "", "The bytes that each string of web-safe base64 stands for.");
}

}  // namespace sextant
