#include "sextant/ops/math/compare.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/elementwise_build.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

constexpr char kWhyNotBooleans[] = "the result is boolean";

Output BuildEqual(const char* op, Output x, Output y, const EqualOptions& options) {
  return OpBuilder(op)
      .Input(x)
      .Input(y)
      .Attr("incompatible_shape_error", options.incompatible_shape_error)
      .Build();
}

// Shapes that may turn out not to fit give a scalar, so little is known of the result.
void EqualShape(ShapeContext& c) {
  const bool must_fit = c.attr<bool>("incompatible_shape_error");
  if (must_fit) return shapes::BroadcastBinary(c);
  const bool known = c.input(0).fully_known() && c.input(1).fully_known();
  if (!known) return c.set_output(0, PartialShape());
  try {
    shapes::BroadcastBinary(c);
  } catch (const Error&) {  // they do not fit, which is an answer here
    c.set_output(0, Shape());
  }
}

OpDef Comparison(const char* name, const char* attrs, const char* doc) {
  return OpDef(name)
      .Inputs("x:T, y:T")
      .Outputs("z:bool")
      .Attrs(attrs)
      .Doc(doc)
      .Shape(shapes::BroadcastBinary)
      .NotDifferentiable(kWhyNotBooleans);
}
OpDef Ordering(const char* name, const char* doc) {
  return Comparison(name,
                    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
                    "uint32,uint64]",
                    doc);
}
OpDef Logical(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("x:bool, y:bool")
      .Outputs("z:bool")
      .Commutative()
      .Doc(doc)
      .Shape(shapes::BroadcastBinary)
      .NotDifferentiable(kWhyNotBooleans);
}

}  // namespace

Output Equal(Output x, Output y, const EqualOptions& options) {
  return BuildEqual("Equal", x, y, options);
}
Output NotEqual(Output x, Output y, const EqualOptions& options) {
  return BuildEqual("NotEqual", x, y, options);
}
Output Less(Output x, Output y) { return BuildBinary("Less", x, y); }
Output LessEqual(Output x, Output y) { return BuildBinary("LessEqual", x, y); }
Output Greater(Output x, Output y) { return BuildBinary("Greater", x, y); }
Output GreaterEqual(Output x, Output y) { return BuildBinary("GreaterEqual", x, y); }
Output ApproximateEqual(Output x, Output y, const ApproximateEqualOptions& options) {
  return OpBuilder("ApproximateEqual")
      .Input(x)
      .Input(y)
      .Attr("tolerance", options.tolerance)
      .Build();
}
Output LogicalAnd(Output x, Output y) { return BuildBinary("LogicalAnd", x, y); }
Output LogicalOr(Output x, Output y) { return BuildBinary("LogicalOr", x, y); }
Output LogicalXor(Output x, Output y) {
  return LogicalAnd(LogicalOr(x, y), LogicalNot(LogicalAnd(x, y)));
}

void RegisterCompare(OpRegistry& registry) {
  constexpr char kEqualAttrs[] = "T:type; incompatible_shape_error:bool=True";
  registry.Add(
      Comparison("Equal", kEqualAttrs, "Whether x equals y.").Commutative().Shape(EqualShape));
  registry.Add(Comparison("NotEqual", kEqualAttrs, "Whether x differs from y.")
                   .Commutative()
                   .Shape(EqualShape));
  registry.Add(Ordering("Less", "Whether x is less than y."));
  registry.Add(Ordering("LessEqual", "Whether x is less than or equal to y."));
  registry.Add(Ordering("Greater", "Whether x is greater than y."));
  registry.Add(Ordering("GreaterEqual", "Whether x is greater than or equal to y."));
  registry.Add(
      Comparison("ApproximateEqual",
                 "T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
                 "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
                 "tolerance:float=9.999999747378752e-06",
                 "Whether x and y, of one shape, differ by less than the tolerance.")
          .Commutative()
          .Shape(shapes::MergeAll));
  registry.Add(Logical("LogicalAnd", "True where both are."));
  registry.Add(Logical("LogicalOr", "True where at least one is."));
}

}  // namespace sextant
