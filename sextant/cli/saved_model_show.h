// What a SavedModel holds, as text: the same as saved_model_cli of TensorFlow 2.15 prints, with the
// names of ops sorted.
#pragma once

#include <string>

namespace tensorflow {
class MetaGraphDef;
class SavedModel;
}  // namespace tensorflow

namespace sextant::cli {

// Sets of tags, one per line.
std::string TagSetsText(const tensorflow::SavedModel& model);
// Keys of the signatures, one per line.
std::string SignatureKeysText(const tensorflow::MetaGraphDef& meta_graph);
// Inputs and outputs of a signature; each line begins with `indent` spaces. Throws NOT_FOUND,
// naming the signatures there are.
std::string SignatureText(const tensorflow::MetaGraphDef& meta_graph, const std::string& key,
                          int indent = 0);
// The line of ops.
std::string OpsText(const tensorflow::MetaGraphDef& meta_graph);
// All of it for every graph, with the functions of a TensorFlow 2 model.
std::string ShowAllText(const tensorflow::SavedModel& model);
// Which of the ops the graph uses ("scan").
std::string ScanText(const tensorflow::MetaGraphDef& meta_graph, const std::string& denied_ops);

}  // namespace sextant::cli
