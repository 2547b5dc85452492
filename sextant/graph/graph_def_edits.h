// GraphDefs made fit to be looked at: smaller constants, other names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace sextant::proto {
class GraphDef;
}

namespace sextant {

// The graph with the bytes of every Const of more than max_bytes of them, also in functions,
// replaced by "<stripped N bytes>". It can be drawn, not run.
proto::GraphDef StripConstants(const proto::GraphDef& graph, int64_t max_bytes = 32);

// The graph with every node's name changed by `rename`, wherever it occurs: as an input, data or
// control, and as the place of a colocated node. Names in functions are their own and stay. Throws
// INVALID_ARGUMENT, naming both, when two nodes would have one name or a node none.
proto::GraphDef RenameNodes(const proto::GraphDef& graph,
                            const std::function<std::string(const std::string&)>& rename);

}  // namespace sextant

#pragma GCC visibility pop
