// What a SavedModel holds, as text: the same as saved_model_cli of TensorFlow 2.15 prints, with the
// names of ops sorted.
#pragma once

#include <string>

namespace sextant::proto {
class MetaGraphDef;
class SavedModel;
}  // namespace sextant::proto

namespace sextant::cli {

// Sets of tags, one per line.
std::string TagSetsText(const proto::SavedModel& model);
// Keys of the signatures, one per line.
std::string SignatureKeysText(const proto::MetaGraphDef& meta_graph);
// Inputs and outputs of a signature; each line begins with `indent` spaces. Throws NOT_FOUND,
// naming the signatures there are.
std::string SignatureText(const proto::MetaGraphDef& meta_graph, const std::string& key,
                          int indent = 0);
// The line of ops.
std::string OpsText(const proto::MetaGraphDef& meta_graph);
// All of it for every graph, with the functions of a TensorFlow 2 model.
std::string ShowAllText(const proto::SavedModel& model);
// Which of the ops the graph uses ("scan").
std::string ScanText(const proto::MetaGraphDef& meta_graph, const std::string& denied_ops);

}  // namespace sextant::cli
