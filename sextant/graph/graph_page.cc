#include "sextant/graph/graph_page.h"

#include <map>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "sextant/base/file_system.h"
#include "sextant/base/json_writer.h"
#include "sextant/graph/attr_text.h"
#include "sextant/graph/graph_page_text.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

using PageNodes = std::vector<const proto::NodeDef*>;

// The node that "^name", "name:1" or, in functions, "name:output:1" refers to.
std::string NodeOf(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return std::string(input.substr(0, input.find(':')));
}

void WritePageNode(const proto::NodeDef& node,
                   const std::unordered_map<std::string, int64_t>& index, JsonWriter& json) {
  json.BeginObject();
  json.Field("n", node.name());
  json.Field("o", node.op());
  std::vector<int64_t> data, control;
  for (const std::string& input : node.input()) {
    const auto found = index.find(NodeOf(input));
    if (found != index.end()) {
      (input.starts_with('^') ? control : data).push_back(found->second);
    }
  }
  if (!data.empty()) json.Field("i", data);
  if (!control.empty()) json.Field("c", control);
  if (!node.device().empty()) json.Field("d", node.device());
  std::map<std::string_view, const proto::AttrValue*> attrs;
  for (const auto& [name, value] : node.attr()) attrs[name] = &value;
  json.Key("a");
  json.BeginObject();
  for (const auto& [name, value] : attrs) json.Field(name, AttrText(*value));
  json.EndObject();
  json.EndObject();
}

void WritePageGraph(const std::string& name, const PageNodes& nodes, JsonWriter& json) {
  std::unordered_map<std::string, int64_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i]->name(), i);
  json.BeginObject();
  json.Field("name", name);
  json.Key("nodes");
  json.BeginArray();
  for (const proto::NodeDef* node : nodes) WritePageNode(*node, index, json);
  json.EndArray();
  json.EndObject();
}

// The body with its arguments and results as nodes.
void WritePageFunction(const proto::FunctionDef& function, JsonWriter& json) {
  std::vector<proto::NodeDef> ends;
  for (const auto& argument : function.signature().input_arg()) {
    proto::NodeDef& node = ends.emplace_back();
    node.set_name(argument.name());
    node.set_op("_Arg");
  }
  for (const auto& result : function.signature().output_arg()) {
    proto::NodeDef& node = ends.emplace_back();
    node.set_name("result_" + result.name());
    node.set_op("_Retval");
    const auto source = function.ret().find(result.name());
    if (source != function.ret().end()) node.add_input(source->second);
  }
  PageNodes nodes;
  for (const auto& node : ends) nodes.push_back(&node);
  for (const auto& node : function.node_def()) nodes.push_back(&node);
  WritePageGraph(function.signature().name(), nodes, json);
}

void ReplaceText(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::string EscapedHtml(std::string text) {
  ReplaceText(text, "&", "&amp;");
  ReplaceText(text, "<", "&lt;");
  return text;
}

}  // namespace

std::string GraphPage(const proto::GraphDef& graph, const std::string& title) {
  std::ostringstream stream;
  JsonWriter json(stream);
  json.BeginArray();
  PageNodes nodes;
  for (const auto& node : graph.node()) nodes.push_back(&node);
  WritePageGraph("", nodes, json);
  for (const auto& function : graph.library().function()) WritePageFunction(function, json);
  json.EndArray();
  std::string data = stream.str();
  ReplaceText(data, "</", "<\\/");  // nothing in the data ends the script it stands in
  std::string page(GraphPageText());
  // The title first: names in the data may look like the mark.
  ReplaceText(page, "{{TITLE}}", EscapedHtml(title));
  const std::string_view mark = "{{DATA}}";
  const size_t at = page.find(mark);
  return page.substr(0, at) + data + page.substr(at + mark.size());
}

void WriteGraphPage(const proto::GraphDef& graph, const std::string& path,
                    const std::string& title) {
  FileSystem::ForPath(path).WriteFileAtomically(
      path, GraphPage(graph, title.empty() ? std::string(BaseName(path)) : title));
}

}  // namespace sextant
