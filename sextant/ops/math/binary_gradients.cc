#include "sextant/ops/math/binary_gradients.h"

#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/broadcast_gradient.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/complex.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

// 1 where x is not zero, else 0.
Output NotZero(Output x) { return Cast(NotEqual(x, ScalarLike(0.0, x)), x.dtype()); }

// The gradient goes to x where "to_x", else to y.
void SelectedGradient(GradientContext& c, Output to_x) {
  const Output zero = ZerosLike(c.grad());
  SetBroadcastGradients(c, SelectV2(to_x, c.grad(), zero), SelectV2(to_x, zero, c.grad()));
}

}  // namespace

void AddGradient(GradientContext& c) { SetBroadcastGradients(c, c.grad(), c.grad()); }
void SubGradient(GradientContext& c) { SetBroadcastGradients(c, c.grad(), -c.grad()); }
void MulGradient(GradientContext& c) {
  SetBroadcastGradients(c, c.grad() * Conj(c.input(1)), Conj(c.input(0)) * c.grad());
}
void DivGradient(GradientContext& c) {
  const Output x = Conj(c.input(0)), y = Conj(c.input(1));
  SetBroadcastGradients(c, RealDiv(c.grad(), y), c.grad() * RealDiv(RealDiv(-x, y), y));
}
void FloorModGradient(GradientContext& c) {
  SetBroadcastGradients(c, c.grad(), c.grad() * -FloorDiv(c.input(0), c.input(1)));
}
void TruncateModGradient(GradientContext& c) {
  SetBroadcastGradients(c, c.grad(), c.grad() * -TruncateDiv(c.input(0), c.input(1)));
}

void PowGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  // Where x is not positive the derivative with respect to y is not a real number: taken as 0.
  const Output positive = Greater(x, ScalarLike(0.0, x));
  const Output log_x = SelectV2(positive, Log(SelectV2(positive, x, OnesLike(x))), ZerosLike(x));
  SetBroadcastGradients(c, c.grad() * y * Pow(x, y - 1.0), c.grad() * c.output(0) * log_x);
}

void MaximumGradient(GradientContext& c) {
  SelectedGradient(c, GreaterEqual(c.input(0), c.input(1)));
}
void MinimumGradient(GradientContext& c) { SelectedGradient(c, LessEqual(c.input(0), c.input(1))); }

void SquaredDifferenceGradient(GradientContext& c) {
  const Output grad_x = 2.0 * (c.grad() * (c.input(0) - c.input(1)));
  SetBroadcastGradients(c, grad_x, -grad_x);
}

void XdivyGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  SetBroadcastGradients(c, Xdivy(NotZero(x), y) * c.grad(), Xdivy(-x, Square(y)) * c.grad());
}
void XlogyGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  SetBroadcastGradients(c, Xlogy(NotZero(x), y) * c.grad(), Xdivy(x, y) * c.grad());
}
void Xlog1pyGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  SetBroadcastGradients(c, Xlog1py(NotZero(x), y) * c.grad(), Xdivy(x, y + 1.0) * c.grad());
}
void DivNoNanGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  SetBroadcastGradients(c, DivNoNan(c.grad(), y), c.grad() * DivNoNan(DivNoNan(-x, y), y));
}
void MulNoNanGradient(GradientContext& c) {
  SetBroadcastGradients(c, MulNoNan(c.grad(), c.input(1)), MulNoNan(c.input(0), c.grad()));
}
void NextAfterGradient(GradientContext& c) {
  SetBroadcastGradients(c, c.grad(), ZerosLike(c.grad()));
}

}  // namespace sextant
