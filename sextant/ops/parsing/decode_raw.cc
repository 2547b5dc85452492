#include "sextant/ops/parsing/decode_raw.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void DecodeRawShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  if (shape.rank_known()) shape.Append(PartialShape::kUnknown);
  c.set_output(0, shape);
}

void DecodePaddedRawShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  c.InputOfRank(1, 0);
  if (shape.rank_known()) {
    const std::optional<int64_t> length = c.InputInt(1);
    const auto size = static_cast<int64_t>(DTypeSize(c.attr<DType>("out_type")));
    shape.Append(length && *length > 0 ? *length / size : PartialShape::kUnknown);
  }
  c.set_output(0, shape);
}

}  // namespace

Output DecodeRaw(Output bytes, DType out_type, const DecodeRawOptions& options) {
  return OpBuilder("DecodeRaw")
      .Input(bytes)
      .Attr("out_type", out_type)
      .Attr("little_endian", options.little_endian)
      .Build();
}
Output DecodePaddedRaw(Output bytes, Output fixed_length, DType out_type,
                       const DecodeRawOptions& options) {
  return OpBuilder("DecodePaddedRaw")
      .Input(bytes)
      .Input(fixed_length)
      .Attr("out_type", out_type)
      .Attr("little_endian", options.little_endian)
      .Build();
}

void RegisterDecodeRaw(OpRegistry& registry) {
  registry.Add(
      OpDef("DecodeRaw")
          .Inputs("bytes:string")
          .Outputs("output:out_type")
          .Attrs("out_type:type in [half,float,double,int32,uint16,uint8,int16,int8,int64,"
                 "complex64,complex128,bool,bfloat16]; little_endian:bool=True")
          .Doc("The bytes of each string taken for a row of numbers; all strings have the same "
               "length.")
          .Shape(DecodeRawShape)
          .NotDifferentiable("the input is text"));
  registry.Add(
      OpDef("DecodePaddedRaw")
          .Inputs("input_bytes:string, fixed_length:int32")
          .Outputs("output:out_type")
          .Attrs("out_type:type in [half,float,double,int32,uint16,uint8,int16,int8,int64,"
                 "bfloat16]; little_endian:bool=True")
          .Doc("The first fixed_length bytes of each string, or the string padded with zeros to "
               "as many, taken for a row of numbers.")
          .Shape(DecodePaddedRawShape)
          .NotDifferentiable("the input is text"));
}

}  // namespace sextant
