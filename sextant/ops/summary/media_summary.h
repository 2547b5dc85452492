// ImageSummary, AudioSummary: summaries of images and sounds.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ImageSummaryOptions {
  int64_t max_images = 3;  // of the batch
  // Of pixels that are not finite, one number per channel.
  Tensor bad_color = Tensor::Of<uint8_t>({255, 0, 0, 255});
};
// PNG images of tensor [batch, height, width, 1, 3 or 4 channels], tagged "tag/image/0" and so on,
// "tag/image" where max_images is 1. Real numbers are scaled image by image: to 0..255 when none is
// negative, else around 128.
Output ImageSummary(Output tag, Output tensor, const ImageSummaryOptions& options = {});

// WAV sounds of tensor [batch, frames] or [batch, frames, channels], of numbers in [-1, 1], tagged
// "tag/audio/0" and so on, "tag/audio" where max_outputs is 1.
Output AudioSummary(Output tag, Output tensor, Output sample_rate, int64_t max_outputs = 3);

}  // namespace sextant

#pragma GCC visibility pop
