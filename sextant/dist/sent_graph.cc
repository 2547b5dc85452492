#include "sextant/dist/sent_graph.h"

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::dist {

std::optional<SentGraph::Addition> SentGraph::Missing() const {
  const bool extends = known_ && graph_.version() == version_;
  if (extends && graph_.num_nodes() == nodes_) return std::nullopt;
  Addition addition{.nodes_before = extends ? nodes_ : 0, .version = graph_.version()};
  proto::GraphDef def = ExportGraphDef(graph_);
  def.mutable_node()->DeleteSubrange(0, addition.nodes_before);
  addition.nodes = def.node_size();
  auto* functions = def.mutable_library()->mutable_function();
  for (int i = functions->size(); i-- > 0;) {
    const std::string& name = functions->Get(i).signature().name();
    if (extends && functions_.contains(name)) {
      functions->DeleteSubrange(i, 1);
    } else {
      addition.functions.push_back(name);
    }
  }
  addition.graph_def = def.SerializeAsString();
  return addition;
}

void SentGraph::Sent(const Addition& addition) {
  if (addition.nodes_before == 0) functions_.clear();
  known_ = true;
  nodes_ = addition.nodes_before + addition.nodes;
  version_ = addition.version;
  functions_.insert(addition.functions.begin(), addition.functions.end());
}

}  // namespace sextant::dist
