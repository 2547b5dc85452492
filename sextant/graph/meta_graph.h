// Graphs as MetaGraphDef messages: the graph with its collections, as .meta files and SavedModels
// hold it.
#pragma once

#include <set>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/graph_def.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class MetaGraphDef;
class VariableDef;
}  // namespace sextant::proto

namespace sextant {

// Adds graph, functions and collections of "def" to "graph". A collection whose items are tensors,
// operations or variables becomes a collection of the Graph; others (queue runners, control flow
// contexts, ...) stay in the message alone. Throws as ImportGraphDef; NOT_FOUND when a collection
// names what is not in the graph, DATA_LOSS when it is damaged.
void ImportMetaGraphDef(const proto::MetaGraphDef& def, Graph& graph);

struct SEXTANT_API MetaGraphExportOptions {
  bool strip_default_attrs = false;
  // The message the graph came from: its collections, saver, signatures, assets and objects are
  // given back, collections that the Graph changed excepted.
  const proto::MetaGraphDef* imported = nullptr;
};
// With collections, the signatures of the ops used and the version fields that TensorFlow asks for.
proto::MetaGraphDef ExportMetaGraphDef(const Graph& graph,
                                       const MetaGraphExportOptions& options = {});

// The op types of the graph and of the functions it calls: what stripped_op_list has. Bodies of
// conditionals and loops are not looked into, as in TensorFlow.
std::set<std::string> OpsUsed(const proto::GraphDef& graph);

// What a collection says of a variable, given the output of its VarHandleOp or VariableV2 node:
// names of the nodes that the builders of variables make.
proto::VariableDef VariableDefOf(Output variable);

}  // namespace sextant

#pragma GCC visibility pop
