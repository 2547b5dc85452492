// GraphDefExporter: NodeDefs of nodes. Graphs and function bodies share it.
#pragma once

#include "sextant/graph/graph_def.h"

namespace tensorflow {
class NodeDef;
}

namespace sextant {

class GraphDefExporter {
 public:
  explicit GraphDefExporter(const ExportOptions& options) : options_(options) {}

  // All fields but the inputs.
  void NodeToDef(const Node& node, tensorflow::NodeDef* def) const;
  tensorflow::GraphDef GraphToDef(const Graph& graph) const;

 private:
  const ExportOptions options_;
};

}  // namespace sextant
