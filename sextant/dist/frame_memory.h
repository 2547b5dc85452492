// Memory for the tensors of frames that come in. A step receives about as many bytes as the one
// before it, and fresh pages of the system cost more than the copy into them: so blocks are kept.
// From the first call on malloc keeps what is freed too, up to 64 MiB a heap: gRPC takes the memory
// that it receives into from there.
#pragma once

#include "sextant/tensor/buffer.h"

namespace sextant::dist {

Allocator& FrameMemory();

}  // namespace sextant::dist
