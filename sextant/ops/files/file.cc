#include "sextant/ops/files/file.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// Every input must be a scalar, and the output is one.
void ScalarsOnly(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.InputOfRank(i, 0);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
}

}  // namespace

Output ReadFile(Output filename) { return OpBuilder("ReadFile").Input(filename).Build(); }
Operation WriteFile(Output filename, Output contents) {
  return OpBuilder("WriteFile").Input(filename).Input(contents).BuildOperation();
}
Output MatchingFiles(Output pattern) { return OpBuilder("MatchingFiles").Input(pattern).Build(); }
Output ShardedFilename(Output basename, Output shard, Output num_shards) {
  return OpBuilder("ShardedFilename").Input(basename).Input(shard).Input(num_shards).Build();
}
Output ShardedFilespec(Output basename, Output num_shards) {
  return OpBuilder("ShardedFilespec").Input(basename).Input(num_shards).Build();
}

void RegisterFile(OpRegistry& registry) {
  constexpr const char* kText = "text";
  registry.Add(OpDef("ReadFile")
                   .Inputs("filename:string")
                   .Outputs("contents:string")
                   .Doc("The content of a file.")
                   .Shape(ScalarsOnly)
                   .NotDifferentiable(kText));
  registry.Add(OpDef("WriteFile")
                   .Inputs("filename:string, contents:string")
                   .Stateful()
                   .Doc("Writes a file and creates the directories it is in.")
                   .Shape(ScalarsOnly)
                   .NotDifferentiable("writes a file instead of giving a value"));
  registry.Add(OpDef("MatchingFiles")
                   .Inputs("pattern:string")
                   .Outputs("filenames:string")
                   .Doc("The sorted names of the files that match one or more patterns.")
                   .Shape([](ShapeContext& c) { c.set_output(0, PartialShape::UnknownOfRank(1)); })
                   .NotDifferentiable(kText));
  registry.Add(OpDef("ShardedFilename")
                   .Inputs("basename:string, shard:int32, num_shards:int32")
                   .Outputs("filename:string")
                   .Doc("The name of one file of a set: basename-00003-of-00010.")
                   .Shape(ScalarsOnly)
                   .NotDifferentiable(kText));
  registry.Add(OpDef("ShardedFilespec")
                   .Inputs("basename:string, num_shards:int32")
                   .Outputs("filename:string")
                   .Doc("The pattern of all files of a set: basename-\?\?\?\?\?-of-00010.")
                   .Shape(ScalarsOnly)
                   .NotDifferentiable(kText));
}

}  // namespace sextant
