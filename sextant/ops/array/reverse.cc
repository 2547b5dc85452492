#include "sextant/ops/array/reverse.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void ReverseV2Shape(ShapeContext& c) {
  const auto axes = c.InputInts(1);
  if (axes && c.input(0).rank_known()) {
    for (int64_t axis : *axes) shapes::NormalizeAxis(axis, c.input(0).rank());
  }
  shapes::Unchanged(c);
}

void ReverseSequenceShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  const PartialShape lengths = c.InputOfRank(1, 1);
  if (shape.rank_known()) {
    const int seq = shapes::NormalizeAxis(c.attr<int64_t>("seq_dim"), shape.rank());
    const int batch = shapes::NormalizeAxis(c.attr<int64_t>("batch_dim"), shape.rank());
    if (seq == batch) throw InvalidArgument("seq_dim and batch_dim are both {}", seq);
    if (shape[batch] == PartialShape::kUnknown) {
      shape.set_dim(batch, lengths[0]);
    } else if (lengths[0] != PartialShape::kUnknown && lengths[0] != shape[batch]) {
      throw InvalidArgument("{} lengths for a batch of {}", lengths[0], shape[batch]);
    }
  }
  c.set_output(0, std::move(shape));
}

OpDef ReverseDef(const char* name, const char* inputs, const char* attrs) {
  return OpDef(name)
      .Inputs(inputs)
      .Outputs("output:T")
      .Attrs(attrs)
      .Gradient([op = std::string(name)](GradientContext& c) {
        c.set(0, OpBuilder(op).Input(c.grad()).Input(c.input(1)).Build());
      });
}

}  // namespace

Output Reverse(Output x, const IndexArg& axes) {
  return OpBuilder("ReverseV2").Input(x).Input(axes.ToVector()).Build();
}
Output ReverseSequence(Output x, Output lengths, const ReverseSequenceOptions& options) {
  return OpBuilder("ReverseSequence")
      .Input(x)
      .Input(lengths)
      .Attr("seq_dim", options.seq_dim)
      .Attr("batch_dim", options.batch_dim)
      .Build();
}
Output Roll(Output x, const IndexArg& shift, const IndexArg& axis) {
  return OpBuilder("Roll").Input(x).Input(shift.ToOutput()).Input(axis.ToOutput()).Build();
}

void RegisterReverse(OpRegistry& registry) {
  registry.Add(ReverseDef("ReverseV2", "tensor:T, axis:Tidx",
                          "Tidx:type=int32 in [int32,int64]; T:type in [uint8,int8,uint16,int16,"
                          "int32,uint32,int64,uint64,bool,bfloat16,half,float,double,complex64,"
                          "complex128,string]")
                   .Doc("The tensor turned round along the given axes.")
                   .Shape(ReverseV2Shape));
  registry.Add(ReverseDef("Reverse", "tensor:T, dims:bool",
                          "T:type in [uint8,int8,uint16,int16,uint32,int32,uint64,int64,bool,"
                          "bfloat16,half,float,double,complex64,complex128,string]")
                   .Doc("The tensor turned round along the dimensions for which dims is true.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(1, 1);
                     shapes::Unchanged(c);
                   }));
  registry.Add(OpDef("ReverseSequence")
                   .Inputs("input:T, seq_lengths:Tlen")
                   .Outputs("output:T")
                   .Attrs("seq_dim:int; batch_dim:int=0; T:type; Tlen:type=int64 in [int32,int64]")
                   .Doc("The input with, for each slice b along batch_dim, the first "
                        "seq_lengths[b] elements along seq_dim turned round.")
                   .Shape(ReverseSequenceShape)
                   .Gradient([](GradientContext& c) {
                     c.set(0, ReverseSequence(c.grad(), c.input(1),
                                              {.seq_dim = c.attr<int64_t>("seq_dim"),
                                               .batch_dim = c.attr<int64_t>("batch_dim")}));
                   }));
  registry.Add(OpDef("Roll")
                   .Inputs("input:T, shift:Tshift, axis:Taxis")
                   .Outputs("output:T")
                   .Attrs("T:type; Tshift:type in [int32,int64]; Taxis:type in [int32,int64]")
                   .Doc("The input shifted in a circle by shift places along axis; both may be "
                        "vectors.")
                   .Shape(shapes::Unchanged)
                   .Gradient([](GradientContext& c) {
                     const Output back = OpBuilder("Neg").Input(c.input(1)).Build();
                     c.set(0, Roll(c.grad(), back, c.input(2)));
                   }));
}

}  // namespace sextant
