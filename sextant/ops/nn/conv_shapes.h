// Shape functions of convolutions, shared by those with two and three spatial axes.
#pragma once

#include "sextant/graph/shape_context.h"

namespace sextant::shapes {

// Of input 0 and filter 1.
void Convolution(ShapeContext& c, int dims);
void DepthwiseConvolution(ShapeContext& c);
// The gradient of the input, whose sizes are input 0; filter 1, out_backprop 2.
void ConvolutionBackpropInput(ShapeContext& c, int dims);
void DepthwiseBackpropInput(ShapeContext& c);
// The gradient of the filter, whose sizes are input 1.
void ConvolutionBackpropFilter(ShapeContext& c, int dims);

}  // namespace sextant::shapes
