// Getting the graph out of whatever file or folder holds one.
#pragma once

#include "sextant/cli/inspect/path_kind.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/meta_graph.pb.h"

namespace sextant::cli {

// A meta graph, or one that holds just a GraphDef; of a SavedModel the first. Binary or text is
// told by the content. Throws INVALID_ARGUMENT when the path holds no graph, DATA_LOSS when the
// bytes are none.
proto::MetaGraphDef ReadMetaGraph(const KnownPath& path);

}  // namespace sextant::cli
