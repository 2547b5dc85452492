#include "sextant/ops/string/regex.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// The pattern, and what replaces it, are scalars.
void RegexShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.InputOfRank(i, 0);
  c.set_output(0, c.input(0));
}

}  // namespace

Output RegexReplace(Output x, Output pattern, Output rewrite, const RegexReplaceOptions& options) {
  return OpBuilder("RegexReplace")
      .Input(x)
      .Input(pattern)
      .Input(rewrite)
      .Attr("replace_global", options.replace_global)
      .Build();
}
Output StaticRegexReplace(Output x, const std::string& pattern, const std::string& rewrite,
                          const RegexReplaceOptions& options) {
  return OpBuilder("StaticRegexReplace")
      .Input(x)
      .Attr("pattern", pattern)
      .Attr("rewrite", rewrite)
      .Attr("replace_global", options.replace_global)
      .Build();
}
Output RegexFullMatch(Output x, Output pattern) {
  return OpBuilder("RegexFullMatch").Input(x).Input(pattern).Build();
}
Output StaticRegexFullMatch(Output x, const std::string& pattern) {
  return OpBuilder("StaticRegexFullMatch").Input(x).Attr("pattern", pattern).Build();
}

void RegisterRegex(OpRegistry& registry) {
  const auto add = [&](const char* name, const char* inputs, const char* output, const char* attrs,
                       const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs(inputs)
                     .Outputs(output)
                     .Attrs(attrs)
                     .Doc(doc)
                     .Shape(RegexShape)
                     .NotDifferentiable("text has no derivative"));
  };
  add("RegexReplace", "input:string, pattern:string, rewrite:string", "output:string",
      "replace_global:bool=True", "Matches of a regular expression replaced by other text.");
  add("StaticRegexReplace", "input:string", "output:string",
      "pattern:string; rewrite:string; replace_global:bool=True",
      "Matches of a fixed regular expression replaced by other text.");
  add("RegexFullMatch", "input:string, pattern:string", "output:bool", "",
      "Whether a regular expression matches the whole of each string.");
  add("StaticRegexFullMatch", "input:string", "output:bool", "pattern:string",
      "Whether a fixed regular expression matches the whole of each string.");
}

}  // namespace sextant
