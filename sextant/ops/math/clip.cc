#include "sextant/ops/math/clip.h"

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/broadcast_gradient.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"

namespace sextant {
namespace {

// Where a bound is in force, the gradient is the bound's.
void ClipGradient(GradientContext& c) {
  const Output t = c.input(0), low = c.input(1), high = c.input(2), zero = ZerosLike(c.grad());
  const Output below = Less(t, low), above = Greater(t, high);
  c.set(0, SelectV2(LogicalOr(below, above), zero, c.grad()));
  if (c.wanted(1)) c.set(1, SumToShapeOf(low, t, SelectV2(below, c.grad(), zero)));
  if (c.wanted(2)) c.set(2, SumToShapeOf(high, t, SelectV2(above, c.grad(), zero)));
}

}  // namespace

Output ClipByValue(Output t, Output clip_value_min, Output clip_value_max) {
  const auto fits = [&](Output bound) {
    return bound.shape().rank() == 0 || (t.shape().fully_known() && bound.shape() == t.shape());
  };
  if (!fits(clip_value_min) || !fits(clip_value_max)) {
    const Output clipped = Maximum(Minimum(t, clip_value_max), clip_value_min);
    if (clipped.shape().CompatibleWith(t.shape())) return clipped;
    throw InvalidArgument("the bounds of ClipByValue must broadcast to {}, the shape of {}",
                          t.shape().ToString(), t.name());
  }
  return OpBuilder("ClipByValue").Input(t).Input(clip_value_min).Input(clip_value_max).Build();
}

void RegisterClip(OpRegistry& registry) {
  registry.Add(OpDef("ClipByValue")
                   .Inputs("t:T, clip_value_min:T, clip_value_max:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
                          "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
                          "uint64]")
                   .Doc("t brought between two bounds; the lower one wins where they cross.")
                   .Shape(shapes::Unchanged)
                   .Gradient(ClipGradient));
}

}  // namespace sextant
