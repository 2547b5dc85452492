#include "sextant/graph/graph_def_edits.h"

#include <string_view>
#include <unordered_map>

#include "sextant/base/error.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

constexpr std::string_view kColocation = "loc:@";

void StripNode(int64_t max_bytes, proto::NodeDef* node) {
  if (node->op() != "Const") return;
  const auto value = node->mutable_attr()->find("value");
  if (value == node->mutable_attr()->end() || !value->second.has_tensor()) return;
  proto::TensorProto* const tensor = value->second.mutable_tensor();
  // Elements are either in one piece of bytes or, type by type, in lists.
  proto::TensorProto elements = *tensor;
  elements.clear_dtype();
  elements.clear_tensor_shape();
  elements.clear_version_number();
  const auto size =
      static_cast<int64_t>(elements.tensor_content().empty() ? elements.ByteSizeLong()
                                                             : elements.tensor_content().size());
  if (size <= max_bytes) return;
  proto::TensorProto stripped;
  stripped.set_dtype(tensor->dtype());
  *stripped.mutable_tensor_shape() = tensor->tensor_shape();
  stripped.set_tensor_content(fmt::format("<stripped {} bytes>", size));
  *tensor = std::move(stripped);
}

class Renamer {
 public:
  Renamer(const proto::GraphDef& graph,
          const std::function<std::string(const std::string&)>& rename) {
    std::unordered_map<std::string, const std::string*> taken;
    for (const proto::NodeDef& node : graph.node()) {
      const std::string& name = names_[node.name()] = rename(node.name());
      if (name.empty()) throw InvalidArgument("node '{}' would have no name", node.name());
      const auto [other, added] = taken.emplace(name, &node.name());
      if (!added) {
        throw InvalidArgument("nodes '{}' and '{}' would both be called '{}'", *other->second,
                              node.name(), name);
      }
    }
  }

  // "name", "name:1", "^name".
  std::string Input(std::string_view input) const {
    const std::string_view caret = input.substr(0, input.starts_with('^') ? 1 : 0);
    input.remove_prefix(caret.size());
    const size_t colon = std::min(input.find(':'), input.size());
    return fmt::format("{}{}{}", caret, Name(input.substr(0, colon)), input.substr(colon));
  }
  // What the graph has no node for stays.
  std::string Name(std::string_view name) const {
    const auto found = names_.find(std::string(name));
    return found == names_.end() ? std::string(name) : found->second;
  }

 private:
  std::unordered_map<std::string, std::string> names_;
};

}  // namespace

proto::GraphDef StripConstants(const proto::GraphDef& graph, int64_t max_bytes) {
  proto::GraphDef result = graph;
  for (proto::NodeDef& node : *result.mutable_node()) StripNode(max_bytes, &node);
  for (proto::FunctionDef& function : *result.mutable_library()->mutable_function()) {
    for (proto::NodeDef& node : *function.mutable_node_def()) StripNode(max_bytes, &node);
  }
  return result;
}

proto::GraphDef RenameNodes(const proto::GraphDef& graph,
                            const std::function<std::string(const std::string&)>& rename) {
  const Renamer renamer(graph, rename);
  proto::GraphDef result = graph;
  for (proto::NodeDef& node : *result.mutable_node()) {
    node.set_name(renamer.Name(node.name()));
    for (std::string& input : *node.mutable_input()) input = renamer.Input(input);
    const auto places = node.mutable_attr()->find("_class");
    if (places == node.mutable_attr()->end()) continue;
    for (std::string& place : *places->second.mutable_list()->mutable_s()) {
      if (!place.starts_with(kColocation)) continue;
      place = std::string(kColocation) + renamer.Name(place.substr(kColocation.size()));
    }
  }
  return result;
}

}  // namespace sextant
