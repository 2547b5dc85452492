// A convolution on blocked images as its implementations see it: sizes, layouts, and copies of
// operands from one layout to another.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/device/kernel.h"
#include "sextant/ops/blocked/blocked_shape.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {

struct BlockedConvProblem {
  ConvGeometry geometry;
  int64_t block = 0;              // channels of a block
  bool blocked_input = true;      // else the input, or its gradient, is plain
  bool channels_first = false;    // plain images are NCHW
  bool winograd = false;          // Winograd's algorithm may be used
  onednn::ConvEpilogue epilogue;  // of the forward convolution
  int threads = 1;

  ImageShape input_shape() const;
  ImageShape output_shape() const;
  onednn::ConvSizes sizes() const;
  // For oneDNN, which takes no plain images beside blocked ones but those with channels first.
  onednn::ConvLayouts layouts() const;
  // Whether oneDNN can read the input where it lies: plain images of one channel are both NHWC and
  // NCHW.
  bool onednn_layout() const { return blocked_input || channels_first || geometry.in_c == 1; }
};

// The input, or a copy in scratch memory of the thread, as layouts() says.
const float* InputForOnednn(KernelContext& ctx, const BlockedConvProblem& problem,
                            const float* input);

// The images with channels last, which they may be already; else a copy, held by *copy.
const float* InputWithChannelsLast(KernelContext& ctx, const BlockedConvProblem& problem,
                                   const float* input, Tensor* copy);
const float* OutputWithChannelsLast(KernelContext& ctx, const BlockedConvProblem& problem,
                                    const float* output, Tensor* copy);

}  // namespace sextant
