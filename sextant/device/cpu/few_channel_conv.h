// The gradient with respect to the filter of convolutions of images with few channels, such as
// the first of a network: oneDNN has fast kernels for whole blocks of channels only.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/device/cpu/unit_split.h"
#include "sextant/device/kernel.h"

namespace sextant::few_channels {

// Why it cannot be done or would not be faster than oneDNN; empty when it suits.
std::string Refusal(const onednn::ConvSizes& sizes);

class ConvBackwardFilter {
 public:
  // "channels_first" tells how the plain images lie.
  ConvBackwardFilter(const onednn::ConvSizes& sizes, bool channels_first);
  // diff_dst is blocked. The sums do not depend on the number of threads.
  void Run(KernelContext& ctx, const float* src, const float* diff_dst, float* diff_filter) const;

 private:
  // The image with channels last and its padding.
  void Pad(const float* image, float* padded) const;

  const onednn::ConvSizes sizes_;
  const bool channels_first_;
  const onednn::UnitSplit units_;
  const int64_t padded_h_, padded_w_;
};

}  // namespace sextant::few_channels
