#include "sextant/ops/math/cast.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr char kBitcastAttrs[] =
    "T:type in [bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,int8,int16,"
    "complex64,complex128,qint8,quint8,qint16,quint16,qint32]; "
    "type:type in [bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,int8,int16,"
    "complex64,complex128,qint8,quint8,qint16,quint16,qint32]";

bool IsDifferentiable(DType dtype) { return IsFloating(dtype) || IsComplex(dtype); }

void CastGradient(GradientContext& c) {
  const DType from = c.input(0).dtype();
  if (IsDifferentiable(from) && IsDifferentiable(c.output(0).dtype())) {
    c.set(0, Cast(c.grad(), from));
  }
}

void BitcastShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  if (!shape.rank_known()) return c.set_output(0, shape);
  const auto from = static_cast<int64_t>(DTypeSize(c.attr<DType>("T")));
  const auto to = static_cast<int64_t>(DTypeSize(c.attr<DType>("type")));
  if (from > to) shape.Append(from / to);
  if (from < to) {
    const int last = shape.rank() - 1;
    if (last < 0 || (shape[last] != PartialShape::kUnknown && shape[last] != to / from)) {
      throw InvalidArgument("Cannot bitcast from {} to {}: the last dimension of {} is not {}",
                            DTypeName(c.attr<DType>("T")), DTypeName(c.attr<DType>("type")),
                            shape.ToString(), to / from);
    }
    shape.Erase(last);
  }
  c.set_output(0, shape);
}

}  // namespace

Output Cast(Output x, DType dtype, const CastOptions& options) {
  if (x.dtype() == dtype) return x;
  return OpBuilder("Cast").Input(x).Attr("DstT", dtype).Attr("Truncate", options.truncate).Build();
}
Output Bitcast(Output x, DType dtype) {
  return x.dtype() == dtype ? x : OpBuilder("Bitcast").Input(x).Attr("type", dtype).Build();
}

void RegisterCast(OpRegistry& registry) {
  registry.Add(OpDef("Cast")
                   .Inputs("x:SrcT")
                   .Outputs("y:DstT")
                   .Attrs("SrcT:type; DstT:type; Truncate:bool=False")
                   .Doc("x with elements of another type.")
                   .Shape(shapes::Unchanged)
                   .Gradient(CastGradient));
  registry.Add(OpDef("Bitcast")
                   .Inputs("input:T")
                   .Outputs("output:type")
                   .Attrs(kBitcastAttrs)
                   .Doc("The bytes of the input read as elements of another type.")
                   .Shape(BitcastShape)
                   .NotDifferentiable("the bits of a number are no smooth function of it"));
}

}  // namespace sextant
