// Constants that are much larger than their protos (one value and a shape) are not decoded when a
// graph is imported, but when a run needs them.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// Decodes those of a Plan's graph into memory of "allocator". Throws RESOURCE_EXHAUSTED, naming the
// node, where its limit or "memory" bytes would be passed.
void DecodeDeferredConstants(Graph& graph, Allocator& allocator, int64_t memory);

}  // namespace sextant
