// DrawBoundingBoxes, SampleDistortedBoundingBox: drawing boxes and sampling them at random.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Outlines of boxes[batch, n, 4], given as [y1, x1, y2, x2] in [0, 1], drawn into images.
Output DrawBoundingBoxes(Output images, Output boxes);
// The same in the colours [n, channels], used in turn.
Output DrawBoundingBoxes(Output images, Output boxes, Output colors);

struct SEXTANT_API SampleDistortedBoundingBoxOptions {
  float min_object_covered = 0.1F;  // of one of the boxes
  std::pair<float, float> aspect_ratio_range = {0.75F, 1.33F};
  std::pair<float, float> area_range = {0.05F, 1.0F};  // of the image's area
  int64_t max_attempts = 100;                          // then it is the whole image
  bool use_image_if_no_bounding_boxes = false;
  std::optional<int64_t> seed = {};
};
struct SEXTANT_API DistortedBoundingBox {
  Output begin, size;  // for Slice: [y, x, 0] and [height, width, -1]
  Output bboxes;       // [1, 1, 4], for DrawBoundingBoxes
};
// A random part of an image of size [height, width, channels] that keeps enough of one of the boxes
// [batch, n, 4].
DistortedBoundingBox SampleDistortedBoundingBox(
    Output image_size, Output bounding_boxes,
    const SampleDistortedBoundingBoxOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
