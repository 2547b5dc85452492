// Convolutions as matrix products. The part of the input that an output position sees, its patch,
// is a row of a matrix; patches are gathered in pieces that stay in the cache and multiplied with
// the filter.
//
// Channels are last in all tensors, whatever the geometry says of them. Results do not depend on
// the number of threads. T is float, double or int32_t (which wraps).
#pragma once

#include "sextant/device/kernel.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {

template <typename T>
void ConvForward(KernelContext& ctx, const ConvGeometry& g, const T* input, const T* filter,
                 T* output);
template <typename T>
void ConvBackpropInput(KernelContext& ctx, const ConvGeometry& g, const T* filter,
                       const T* out_backprop, T* grad_input);
template <typename T>
void ConvBackpropFilter(KernelContext& ctx, const ConvGeometry& g, const T* input,
                        const T* out_backprop, T* grad_filter);

}  // namespace sextant
