// The gradient functions of the ops in binary.cc.
#pragma once

#include "sextant/graph/gradients.h"

namespace sextant {

void AddGradient(GradientContext& c);
void SubGradient(GradientContext& c);
void MulGradient(GradientContext& c);
void DivGradient(GradientContext& c);
void FloorModGradient(GradientContext& c);
void TruncateModGradient(GradientContext& c);
void PowGradient(GradientContext& c);
// The gradient of equal values goes to x.
void MaximumGradient(GradientContext& c);
void MinimumGradient(GradientContext& c);
void SquaredDifferenceGradient(GradientContext& c);
void XdivyGradient(GradientContext& c);
void XlogyGradient(GradientContext& c);
void Xlog1pyGradient(GradientContext& c);
void DivNoNanGradient(GradientContext& c);
void MulNoNanGradient(GradientContext& c);
void NextAfterGradient(GradientContext& c);

}  // namespace sextant
