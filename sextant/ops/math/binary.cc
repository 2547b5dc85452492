#include "sextant/ops/math/binary.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/binary_gradients.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/elementwise_build.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

constexpr char kAllNumbers[] =
    "T:type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,"
    "complex64,complex128]";
constexpr char kExtremeTypes[] =
    "T:type in [bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,int64,uint64]";
constexpr char kZeroSafeTypes[] = "T:type in [half,bfloat16,float,double,complex64,complex128]";

OpDef Binary(const char* name, const char* attrs, const char* doc) {
  return OpDef(name)
      .Inputs("x:T, y:T")
      .Outputs("z:T")
      .Attrs(attrs)
      .Doc(doc)
      .Shape(shapes::BroadcastBinary);
}

void RegisterSums(OpRegistry& registry) {
  registry.Add(
      Binary("Add",
             "T:type in [bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,"
             "complex128,string]",
             "x + y, with broadcasting; strings are joined.")
          .Gradient(AddGradient));
  registry.Add(Binary("AddV2",
                      "T:type in [bfloat16,half,float,double,uint8,uint16,uint32,uint64,int8,int16,"
                      "int32,int64,complex64,complex128]",
                      "x + y, with broadcasting.")
                   .Commutative()
                   .Aggregate()
                   .Gradient(AddGradient));
  registry.Add(Binary("Sub",
                      "T:type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,int64,"
                      "complex64,complex128,uint32,uint64]",
                      "x - y, with broadcasting.")
                   .Gradient(SubGradient));
  registry.Add(Binary("SquaredDifference",
                      "T:type in [bfloat16,half,float,double,int32,int64,complex64,complex128]",
                      "(x - y)^2, with broadcasting.")
                   .Commutative()
                   .Gradient(SquaredDifferenceGradient));
  registry.Add(
      Binary("Maximum", kExtremeTypes, "The larger of x and y, with broadcasting; NaN if one is.")
          .Gradient(MaximumGradient));
  registry.Add(
      Binary("Minimum", kExtremeTypes, "The smaller of x and y, with broadcasting; NaN if one is.")
          .Gradient(MinimumGradient));
  registry.Add(OpDef("NextAfter")
                   .Inputs("x1:T, x2:T")
                   .Outputs("output:T")
                   .Attrs("T:type=float in [double,float]")
                   .Doc("The representable number next to x1 in the direction of x2.")
                   .Shape(shapes::BroadcastBinary)
                   .Gradient(NextAfterGradient));
}

void RegisterProducts(OpRegistry& registry) {
  const char* const steps = "the result changes only in steps";
  registry.Add(
      Binary("Mul", kAllNumbers, "x * y, with broadcasting.").Commutative().Gradient(MulGradient));
  registry.Add(Binary("RealDiv", kAllNumbers, "x / y for real numbers, with broadcasting.")
                   .Gradient(DivGradient));
  registry.Add(Binary("Div", kAllNumbers,
                      "x / y, with broadcasting; quotients of integers are cut towards zero.")
                   .Gradient(DivGradient));
  registry.Add(
      Binary("FloorDiv", kAllNumbers, "floor(x / y), with broadcasting.").NotDifferentiable(steps));
  registry.Add(Binary("TruncateDiv", kAllNumbers, "x / y cut towards zero, with broadcasting.")
                   .NotDifferentiable(steps));
  registry.Add(Binary("FloorMod",
                      "T:type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64,bfloat16,half,"
                      "float,double]",
                      "x - floor(x / y) * y, with broadcasting: has the sign of y.")
                   .Gradient(FloorModGradient));
  registry.Add(Binary("Mod", "T:type in [int32,int64,half,half,bfloat16,float,double]",
                      "x - trunc(x / y) * y, with broadcasting: has the sign of x.")
                   .Gradient(TruncateModGradient));
  registry.Add(Binary("TruncateMod", "T:type in [int32,int64,bfloat16,half,float,double]",
                      "x - trunc(x / y) * y, with broadcasting: has the sign of x.")
                   .Gradient(TruncateModGradient));
  registry.Add(Binary("Pow",
                      "T:type in [bfloat16,float,half,double,int8,int16,int32,int64,complex64,"
                      "complex128]",
                      "x to the power y, with broadcasting.")
                   .Gradient(PowGradient));
}

void RegisterZeroSafe(OpRegistry& registry) {
  registry.Add(
      Binary("Xdivy", kZeroSafeTypes, "x / y, but 0 where x is 0.").Gradient(XdivyGradient));
  registry.Add(
      Binary("Xlogy", kZeroSafeTypes, "x * log(y), but 0 where x is 0.").Gradient(XlogyGradient));
  registry.Add(Binary("Xlog1py", kZeroSafeTypes, "x * log(1 + y), but 0 where x is 0.")
                   .Gradient(Xlog1pyGradient));
  registry.Add(Binary("DivNoNan", "T:type in [half,float,bfloat16,double,complex64,complex128]",
                      "x / y, but 0 where y is 0.")
                   .Gradient(DivNoNanGradient));
  registry.Add(Binary("MulNoNan", "T:type in [bfloat16,half,float,double,complex64,complex128]",
                      "x * y, but 0 where y is 0, even if x is infinite or NaN.")
                   .Gradient(MulNoNanGradient));
}

// The type in which Python divides integers of this type.
DType QuotientType(DType dtype) { return DTypeSize(dtype) <= 2 ? DType::kFloat : DType::kDouble; }

}  // namespace

Output Add(Output x, Output y) {
  return BuildBinary(x.dtype() == DType::kString ? "Add" : "AddV2", x, y);
}
Output Sub(Output x, Output y) { return BuildBinary("Sub", x, y); }
Output Mul(Output x, Output y) { return BuildBinary("Mul", x, y); }
Output RealDiv(Output x, Output y) { return BuildBinary("RealDiv", x, y); }
Output Div(Output x, Output y) { return BuildBinary("Div", x, y); }
Output FloorDiv(Output x, Output y) { return BuildBinary("FloorDiv", x, y); }
Output FloorMod(Output x, Output y) { return BuildBinary("FloorMod", x, y); }
Output Mod(Output x, Output y) { return BuildBinary("Mod", x, y); }
Output TruncateDiv(Output x, Output y) { return BuildBinary("TruncateDiv", x, y); }
Output TruncateMod(Output x, Output y) { return BuildBinary("TruncateMod", x, y); }
Output Pow(Output x, Output y) { return BuildBinary("Pow", x, y); }
Output Maximum(Output x, Output y) { return BuildBinary("Maximum", x, y); }
Output Minimum(Output x, Output y) { return BuildBinary("Minimum", x, y); }
Output SquaredDifference(Output x, Output y) { return BuildBinary("SquaredDifference", x, y); }
Output Xdivy(Output x, Output y) { return BuildBinary("Xdivy", x, y); }
Output Xlogy(Output x, Output y) { return BuildBinary("Xlogy", x, y); }
Output Xlog1py(Output x, Output y) { return BuildBinary("Xlog1py", x, y); }
Output DivNoNan(Output x, Output y) { return BuildBinary("DivNoNan", x, y); }
Output MulNoNan(Output x, Output y) { return BuildBinary("MulNoNan", x, y); }
Output NextAfter(Output x1, Output x2) { return BuildBinary("NextAfter", x1, x2); }

Output operator+(Output x, Output y) { return Add(x, y); }
Output operator-(Output x, Output y) { return Sub(x, y); }
Output operator*(Output x, Output y) { return Mul(x, y); }
Output operator/(Output x, Output y) {
  if (!IsInteger(x.dtype())) return RealDiv(x, y);
  const DType type = QuotientType(x.dtype());
  return RealDiv(Cast(x, type), Cast(y, type));
}
Output operator-(Output x) { return Neg(x); }

void RegisterBinary(OpRegistry& registry) {
  RegisterSums(registry);
  RegisterProducts(registry);
  RegisterZeroSafe(registry);
}

}  // namespace sextant
