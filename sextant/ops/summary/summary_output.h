// What the kernels of summaries share.
#pragma once

#include <string>

#include "sextant/device/kernel.h"

namespace sextant::proto {
class Summary;
}

namespace sextant {

// Input 0, the tag. Throws INVALID_ARGUMENT unless it is a scalar.
const std::string& SummaryTag(KernelContext& ctx);
// Output 0 becomes the serialized summary.
void SetSummaryOutput(KernelContext& ctx, const proto::Summary& summary);

}  // namespace sextant
