// RGBToHSV, HSVToRGB, AdjustContrast, AdjustHue, AdjustSaturation: colours of images [..., height,
// width, 3] or, where channels do not matter, [..., channels].
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Hue, saturation and value in [0, 1] of colours in the last dimension, and back.
Output RGBToHSV(Output images);
Output HSVToRGB(Output images);

// (x - mean) * contrast_factor + mean, the mean taken over each channel of each image.
Output AdjustContrast(Output images, Output contrast_factor);
// The hue rotated by "delta" (1 is a full turn).
Output AdjustHue(Output images, Output delta);
// The saturation times "scale", at most 1.
Output AdjustSaturation(Output images, Output scale);

}  // namespace sextant

#pragma GCC visibility pop
