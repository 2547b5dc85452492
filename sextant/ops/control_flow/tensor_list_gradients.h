// Gradients of the list ops: the gradient of a list is a list.
#pragma once

#include "sextant/graph/gradients.h"

namespace sextant {

void TensorListFromTensorGradient(GradientContext& c);
void TensorListSplitGradient(GradientContext& c);
void TensorListScatterGradient(GradientContext& c);
void TensorListScatterIntoExistingListGradient(GradientContext& c);
void TensorListPushBackGradient(GradientContext& c);
void TensorListPopBackGradient(GradientContext& c);
void TensorListSetItemGradient(GradientContext& c);
void TensorListResizeGradient(GradientContext& c);
void TensorListGetItemGradient(GradientContext& c);
void TensorListStackGradient(GradientContext& c);
void TensorListGatherGradient(GradientContext& c);
void TensorListConcatGradient(GradientContext& c);

}  // namespace sextant
