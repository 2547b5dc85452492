#include "sextant/ops/math/add_n.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr char kNumbers[] =
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
    "quint16,uint16,complex128,half,uint32,uint64";

void AddNShape(ShapeContext& c) {
  shapes::MergeAll(c);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (const HandleShape* handle = c.input_handle(i)) return c.set_output_handle(0, *handle);
  }
}

void AddNGradient(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set(i, c.grad());
}

}  // namespace

Output AddN(const std::vector<Output>& inputs) { return OpBuilder("AddN").Input(inputs).Build(); }
Output AccumulateNV2(const std::vector<Output>& inputs, const PartialShape& shape) {
  return OpBuilder("AccumulateNV2").Input(inputs).Attr("shape", shape).Build();
}

void RegisterAddN(OpRegistry& registry) {
  registry.Add(OpDef("AddN")
                   .Inputs("inputs:N*T")
                   .Outputs("sum:T")
                   .Attrs(fmt::format("N:int>=1; T:type in [{},variant]", kNumbers))
                   .Commutative()
                   .Aggregate()
                   .Doc("The sum of tensors of one shape.")
                   .Shape(AddNShape)
                   .Gradient(AddNGradient));
  registry.Add(OpDef("AccumulateNV2")
                   .Inputs("inputs:N*T")
                   .Outputs("sum:T")
                   .Attrs(fmt::format("N:int>=1; T:type in [{}]; shape:shape", kNumbers))
                   .Commutative()
                   .Aggregate()
                   .Doc("The sum of tensors of the given shape.")
                   .Shape(shapes::FromShapeAttr)
                   .Gradient(AddNGradient));
}

}  // namespace sextant
