// ExtractImagePatches: patches of images as channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ExtractImagePatchesOptions {
  std::vector<int64_t> ksizes = {1, 1, 1, 1};   // [1, height, width, 1]
  std::vector<int64_t> strides = {1, 1, 1, 1};  // between the starts of patches
  std::vector<int64_t> rates = {1, 1, 1, 1};    // between the pixels of a patch
  std::string padding = "VALID";                // or "SAME": zeros round the image
};
// [batch, height, width, channels] to [batch, rows, columns, pixels of a patch * channels].
Output ExtractImagePatches(Output images, const ExtractImagePatchesOptions& options);

}  // namespace sextant

#pragma GCC visibility pop
