// A 2-D convolution as oneDNN's wrapper names its sizes.
#pragma once

#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {

inline onednn::ConvSizes OnednnSizes(const ConvGeometry& g) {
  return {.batch = g.batch,
          .groups = g.groups,
          .in_c = g.in_c,
          .in_h = g.height.in,
          .in_w = g.width.in,
          .out_c = g.out_c,
          .out_h = g.height.out,
          .out_w = g.width.out,
          .filter_h = g.height.filter,
          .filter_w = g.width.filter,
          .stride_h = g.height.stride,
          .stride_w = g.width.stride,
          .dilation_h = g.height.dilation,
          .dilation_w = g.width.dilation,
          .pad_top = g.height.pad_before,
          .pad_bottom = g.height.pad_after,
          .pad_left = g.width.pad_before,
          .pad_right = g.width.pad_after};
}

}  // namespace sextant
