#include "sextant/ops/math/cumulative.h"

#include <limits>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

Output Build(const char* op, Output x, const IndexArg& axis, const CumulativeOptions& options) {
  return OpBuilder(op)
      .Input(x)
      .Input(axis.ToOutput())
      .Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse)
      .Build();
}

void ScanShape(ShapeContext& c) {
  const auto axis = c.InputInt(1);
  if (axis && c.input(0).rank_known()) shapes::NormalizeAxis(*axis, c.input(0).rank());
  shapes::Unchanged(c);
}

CumulativeOptions OptionsOf(GradientContext& c) {
  return {.exclusive = c.attr<bool>("exclusive"), .reverse = c.attr<bool>("reverse")};
}
CumulativeOptions TurnedRound(CumulativeOptions options) {
  options.reverse = !options.reverse;
  return options;
}

void CumsumGradient(GradientContext& c) {
  c.set(0, Cumsum(c.grad(), c.input(1), TurnedRound(OptionsOf(c))));
}

void CumprodGradient(GradientContext& c) {
  const Output sums = Cumsum(c.output(0) * c.grad(), c.input(1), TurnedRound(OptionsOf(c)));
  c.set(0, DivNoNan(sums, c.input(0)));
}

Output LowestOf(DType dtype) {
  switch (dtype) {
    case DType::kHalf:
      return Const(Tensor::Scalar(Half(-65504.0f)));
    case DType::kBFloat16:
      return Const(Tensor::Scalar(BFloat16::FromBits(0xff7f)));
    case DType::kFloat:
      return Const(Tensor(std::numeric_limits<float>::lowest()));
    default:
      return Const(Tensor(std::numeric_limits<double>::lowest()));
  }
}

// sum over later j of grad[j] * exp(x - y[j]), for the positive and the negative gradients apart so
// that the sums can stay logarithms.
void LogsumexpGradient(GradientContext& c) {
  const Output grad = c.grad(), zeros = ZerosLike(grad), lowest = LowestOf(grad.dtype());
  const auto part = [&](Output chosen, Output size) {
    const Output logarithm = SelectV2(chosen, Log(size), lowest) - c.output(0);
    return Exp(CumulativeLogsumexp(logarithm, c.input(1), TurnedRound(OptionsOf(c))) + c.input(0));
  };
  c.set(0, part(Greater(grad, zeros), grad) - part(Less(grad, zeros), Neg(grad)));
}

const std::string kScan = "exclusive:bool=False; reverse:bool=False; ";
const std::string kScanTypes =
    "T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
    "qint16,quint16,uint16,complex128,half,uint32,uint64]; ";

OpDef Scan(const char* name, const std::string& types, const char* doc) {
  return OpDef(name)
      .Inputs("x:T, axis:Tidx")
      .Outputs("out:T")
      .Attrs(kScan + types + "Tidx:type=int32 in [int32,int64]")
      .Doc(doc)
      .Shape(ScanShape);
}

}  // namespace

Output Cumsum(Output x, const IndexArg& axis, const CumulativeOptions& options) {
  return Build("Cumsum", x, axis, options);
}
Output Cumprod(Output x, const IndexArg& axis, const CumulativeOptions& options) {
  return Build("Cumprod", x, axis, options);
}
Output CumulativeLogsumexp(Output x, const IndexArg& axis, const CumulativeOptions& options) {
  return Build("CumulativeLogsumexp", x, axis, options);
}

void RegisterCumulative(OpRegistry& registry) {
  registry.Add(Scan("Cumsum", kScanTypes, "Running sum along an axis.").Gradient(CumsumGradient));
  registry.Add(
      Scan("Cumprod", kScanTypes, "Running product along an axis.").Gradient(CumprodGradient));
  registry.Add(
      Scan("CumulativeLogsumexp", "T:type in [bfloat16,half,float,double]; ",
           "Logarithm of the running sum of exponentials along an axis, computed without overflow.")
          .Gradient(LogsumexpGradient));
}

}  // namespace sextant
