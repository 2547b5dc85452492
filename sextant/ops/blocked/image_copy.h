// Copying images between plain and blocked layouts.
#pragma once

#include "sextant/device/kernel.h"
#include "sextant/ops/blocked/blocked_shape.h"

namespace sextant {

// REQUIRES: block divides shape.c.
void CopyToBlocked(KernelContext& ctx, const float* plain, float* blocked, const ImageShape& shape,
                   int64_t block, bool channels_first);
void CopyFromBlocked(KernelContext& ctx, const float* blocked, float* plain,
                     const ImageShape& shape, int64_t block, bool channels_first);

}  // namespace sextant
