// GraphDefExporter: NodeDefs of nodes. Graphs and function bodies share it.
#pragma once

#include <string_view>

#include "sextant/graph/graph_def.h"

namespace sextant::proto {
class NodeDef;
}

namespace sextant {

class GraphDefExporter {
 public:
  explicit GraphDefExporter(const ExportOptions& options) : options_(options) {}

  // All fields but the inputs.
  void NodeToDef(const Node& node, proto::NodeDef* def) const;
  proto::GraphDef GraphToDef(const Graph& graph) const;

 private:
  bool Strips(const Node& node, std::string_view name, const Attr& value) const;

  const ExportOptions options_;
};

}  // namespace sextant
