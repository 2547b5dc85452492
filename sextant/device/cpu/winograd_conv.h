// 3x3 and 5x5 convolutions with stride 1 on blocked images by Winograd's F(4x4, 3x3) and
// F(2x2, 5x5): 4 and 2.8 times fewer multiplications than the direct way, and a rounding error some
// 3 times larger. The interface is that of onednn_conv.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/device/cpu/unit_split.h"
#include "sextant/device/kernel.h"

namespace sextant::winograd {

// Why it cannot be done or would not be faster than the direct way; empty when it suits.
std::string Refusal(const onednn::ConvSizes& sizes);

class ConvForward {
 public:
  // With "transposed", the gradient with respect to the images of a convolution of these sizes.
  ConvForward(const onednn::ConvSizes& sizes, const onednn::ConvEpilogue& epilogue,
              bool transposed);
  // "filter" is [height, width, in, out], of the convolution itself also where transposed; "scale"
  // per output channel.
  void SetFilter(KernelContext& ctx, const float* filter, const float* scale = nullptr);
  void Run(KernelContext& ctx, const float* src, const float* bias, float* dst);

 private:
  const onednn::ConvEpilogue epilogue_;
  const bool transposed_;
  const int64_t filter_size_;
  int64_t batch_, in_c_, in_h_, in_w_, out_c_, out_h_, out_w_, pad_top_, pad_left_;
  int64_t tiles_ = 0, part_ = 0;  // of a group
  std::vector<float> prepared_;   // the filter before its transform, where it is not as given
  BufferRef filter_;              // transformed
};

class ConvBackwardFilter {
 public:
  explicit ConvBackwardFilter(const onednn::ConvSizes& sizes);
  void Run(KernelContext& ctx, const float* src, const float* diff_dst, float* diff_filter);

 private:
  // Adds what these images contribute, in the transformed domain.
  void Accumulate(const float* src, const float* diff_dst, int64_t images, float* sum) const;

  const onednn::ConvSizes sizes_;
  const onednn::UnitSplit units_;
  const int64_t tiles_, in_part_, out_part_;
};

}  // namespace sextant::winograd
