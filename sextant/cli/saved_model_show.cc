#include "sextant/cli/saved_model_show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/printable.h"
#include "sextant/cli/python_value.h"
#include "sextant/cli/saved_model_functions.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant::cli {
namespace {

using proto::MetaGraphDef;
using proto::TensorInfo;
using TensorInfos = google::protobuf::Map<std::string, TensorInfo>;

std::vector<std::string> TagsOf(const MetaGraphDef& meta_graph) {
  const auto& tags = meta_graph.meta_info_def().tags();
  return {tags.begin(), tags.end()};
}

// ['serve'] and {'a', 'b'}
template <typename Names>
std::string Reprs(const Names& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + PythonRepr(std::string_view(name));
  }
  return text;
}

std::string SetText(const std::set<std::string>& names) {
  return names.empty() ? "set()" : fmt::format("{{{}}}", Reprs(names));
}

std::string DTypeText(int dtype) {
  const std::string name = proto::DataType_Name(static_cast<proto::DataType>(dtype));
  return name.empty() ? fmt::format("{}", dtype) : name;
}

std::string ShownShape(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "unknown_rank";
  std::vector<int64_t> sizes;
  for (const auto& dim : shape.dim()) sizes.push_back(dim.size());
  return fmt::format("({})", fmt::join(sizes, ", "));
}

std::string TensorsText(const char* kind, const TensorInfos& infos, const std::string& indent) {
  std::string text;
  const std::map<std::string, TensorInfo> sorted(infos.begin(), infos.end());
  for (const auto& [key, info] : sorted) {
    text += fmt::format(
        "{0}  {1}['{2}'] tensor_info:\n"
        "{0}      dtype: {3}\n{0}      shape: {4}\n{0}      name: {5}\n",
        indent, kind, ShownName(key), DTypeText(info.dtype()), ShownShape(info.tensor_shape()),
        ShownName(info.name()));
  }
  return text;
}

std::vector<std::string> SignatureKeys(const MetaGraphDef& meta_graph) {
  std::vector<std::string> keys;
  for (const auto& [key, signature] : meta_graph.signature_def()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

std::string TagSetsText(const proto::SavedModel& model) {
  std::vector<std::vector<std::string>> tag_sets;
  for (const MetaGraphDef& meta_graph : model.meta_graphs()) tag_sets.push_back(TagsOf(meta_graph));
  std::sort(tag_sets.begin(), tag_sets.end());
  std::string text = "The given SavedModel contains the following tag-sets:\n";
  for (std::vector<std::string>& tags : tag_sets) {
    std::sort(tags.begin(), tags.end());
    text += PythonRepr(std::string_view(fmt::format("{}", fmt::join(tags, ", ")))) + "\n";
  }
  return text;
}

std::string SignatureKeysText(const MetaGraphDef& meta_graph) {
  std::string text =
      "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n";
  for (const std::string& key : SignatureKeys(meta_graph)) {
    text += fmt::format("SignatureDef key: \"{}\"\n", ShownName(key));
  }
  return text;
}

std::string SignatureText(const MetaGraphDef& meta_graph, const std::string& key, int indent) {
  const auto found = meta_graph.signature_def().find(key);
  if (found == meta_graph.signature_def().end()) {
    throw NotFound("there is no signature '{}'{}", key,
                   DidYouMeanOneOf(key, SignatureKeys(meta_graph)));
  }
  const proto::SignatureDef& signature = found->second;
  const std::string space(indent, ' ');
  return fmt::format(
      "{0}The given SavedModel SignatureDef contains the following input(s):\n{1}"
      "{0}The given SavedModel SignatureDef contains the following output(s):\n{2}"
      "{0}Method name is: {3}\n",
      space, TensorsText("inputs", signature.inputs(), space),
      TensorsText("outputs", signature.outputs(), space), ShownName(signature.method_name()));
}

std::string OpsText(const MetaGraphDef& meta_graph) {
  return fmt::format("The MetaGraph with tag set [{}] contains the following ops: {}\n",
                     Reprs(TagsOf(meta_graph)), SetText(OpsUsed(meta_graph.graph_def())));
}

std::string ShowAllText(const proto::SavedModel& model) {
  std::vector<const MetaGraphDef*> meta_graphs;
  for (const MetaGraphDef& meta_graph : model.meta_graphs()) meta_graphs.push_back(&meta_graph);
  std::stable_sort(
      meta_graphs.begin(), meta_graphs.end(),
      [](const MetaGraphDef* a, const MetaGraphDef* b) { return TagsOf(*a) < TagsOf(*b); });
  std::string text;
  for (const MetaGraphDef* meta_graph : meta_graphs) {
    text += fmt::format("\nMetaGraphDef with tag-set: '{}' contains the following SignatureDefs:\n",
                        ShownName(fmt::format("{}", fmt::join(TagsOf(*meta_graph), ", "))));
    for (const std::string& key : SignatureKeys(*meta_graph)) {
      text += fmt::format("\nsignature_def['{}']:\n", ShownName(key)) +
              SignatureText(*meta_graph, key, 2);
    }
    text += OpsText(*meta_graph);
  }
  for (const MetaGraphDef* meta_graph : meta_graphs) {
    if (!meta_graph->has_object_graph_def()) continue;
    text += ConcreteFunctionsText(*meta_graph);
    break;
  }
  return text;
}

std::string ScanText(const MetaGraphDef& meta_graph, const std::string& denied_ops) {
  const std::set<std::string> denied = ParseTags(denied_ops);
  std::set<std::string> found;
  for (const std::string& op : OpsUsed(meta_graph.graph_def())) {
    if (denied.contains(op)) found.insert(op);
  }
  const std::string tags = Reprs(TagsOf(meta_graph));
  if (!found.empty()) {
    return fmt::format("MetaGraph with tag set [{}] contains the following denylisted ops: {}\n",
                       tags, SetText(found));
  }
  return fmt::format(
      "MetaGraph with tag set [{}] does not contain the default denylisted ops: {}\n", tags,
      SetText(denied));
}

}  // namespace sextant::cli
