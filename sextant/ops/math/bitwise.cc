#include "sextant/ops/math/bitwise.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/elementwise_build.h"

namespace sextant {
namespace {

constexpr char kIntegers[] = "T:type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]";
constexpr char kWhyNotIntegers[] = "integers have no gradient";

OpDef Bitwise(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("x:T, y:T")
      .Outputs("z:T")
      .Attrs(kIntegers)
      .Doc(doc)
      .Shape(shapes::BroadcastBinary)
      .NotDifferentiable(kWhyNotIntegers);
}
OpDef OfOne(const char* name, const char* output, const char* doc) {
  return OpDef(name)
      .Inputs("x:T")
      .Outputs(output)
      .Attrs(kIntegers)
      .Doc(doc)
      .Shape(shapes::Unchanged)
      .NotDifferentiable(kWhyNotIntegers);
}

}  // namespace

Output BitwiseAnd(Output x, Output y) { return BuildBinary("BitwiseAnd", x, y); }
Output BitwiseOr(Output x, Output y) { return BuildBinary("BitwiseOr", x, y); }
Output BitwiseXor(Output x, Output y) { return BuildBinary("BitwiseXor", x, y); }
Output LeftShift(Output x, Output y) { return BuildBinary("LeftShift", x, y); }
Output RightShift(Output x, Output y) { return BuildBinary("RightShift", x, y); }
Output Invert(Output x) { return OpBuilder("Invert").Input(x).Build(); }
Output PopulationCount(Output x) { return OpBuilder("PopulationCount").Input(x).Build(); }

void RegisterBitwise(OpRegistry& registry) {
  registry.Add(Bitwise("BitwiseAnd", "The bits that are set in both x and y.").Commutative());
  registry.Add(Bitwise("BitwiseOr", "The bits that are set in x, y or both.").Commutative());
  registry.Add(Bitwise("BitwiseXor", "The bits that are set in one of x and y.").Commutative());
  registry.Add(Bitwise("LeftShift", "x shifted left by y bits; y is clamped to the type's width."));
  registry.Add(Bitwise("RightShift",
                       "x shifted right by y bits, keeping the sign; y is clamped to the width."));
  registry.Add(OfOne("Invert", "y:T", "x with every bit flipped."));
  registry.Add(OfOne("PopulationCount", "y:uint8", "The number of bits of x that are set."));
}

}  // namespace sextant
