// SpaceToDepth, DepthToSpace, SpaceToBatchND, BatchToSpaceND: moving blocks of spatial positions
// into the channels or the batch, and back.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SpaceToDepthOptions {
  int64_t block_size = 2;
  std::string data_format = "NHWC";  // or "NCHW"
};
// Each block of block_size x block_size pixels becomes one pixel with all their channels.
Output SpaceToDepth(Output x, const SpaceToDepthOptions& options);
Output DepthToSpace(Output x, const SpaceToDepthOptions& options);

// Pads the dimensions after the first, as many as block_shape has elements, with zeros and deals
// each block's positions out to separate images of the batch.
Output SpaceToBatchND(Output x, Output block_shape, Output paddings);
// The inverse; "crops" is taken away at the ends.
Output BatchToSpaceND(Output x, Output block_shape, Output crops);

}  // namespace sextant

#pragma GCC visibility pop
