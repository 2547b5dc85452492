#include "sextant/cli/inspect/inspect_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sextant/base/file_system.h"
#include "sextant/base/json_writer.h"
#include "sextant/base/printable.h"
#include "sextant/cli/inspect/graph_source.h"
#include "sextant/cli/inspect/inspect_checkpoint.h"
#include "sextant/cli/inspect/tensor_report.h"
#include "sextant/cli/inspect/text_table.h"
#include "sextant/cli/saved_model_show.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/graph/graph_page.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant::cli {
namespace {

std::map<std::string, int64_t> CountOps(const proto::GraphDef& graph) {
  std::map<std::string, int64_t> counts;
  for (const auto& node : graph.node()) ++counts[node.op()];
  return counts;
}

// Nodes that no other node takes as an input.
std::vector<std::string> Ends(const proto::GraphDef& graph) {
  std::set<std::string> used;
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      const size_t begin = input.starts_with('^') ? 1 : 0;
      used.insert(input.substr(begin, input.find(':') - begin));
    }
  }
  std::vector<std::string> ends;
  for (const auto& node : graph.node()) {
    if (!used.contains(node.name())) ends.push_back(node.name());
  }
  return ends;
}

std::vector<std::string> FunctionNames(const proto::GraphDef& graph) {
  std::vector<std::string> names;
  for (const auto& function : graph.library().function()) {
    names.push_back(function.signature().name());
  }
  return names;
}

void WriteTensorInfos(const std::string& key,
                      const google::protobuf::Map<std::string, proto::TensorInfo>& infos,
                      JsonWriter& json) {
  std::map<std::string, const proto::TensorInfo*> sorted;
  for (const auto& [name, info] : infos) sorted[name] = &info;
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, info] : sorted) {
    json.Key(name);
    json.BeginObject();
    json.Field("dtype", NumpyName(static_cast<DType>(info->dtype())));
    json.Key("shape");
    if (info->tensor_shape().unknown_rank()) {
      json.Null();
    } else {
      json.BeginArray();
      for (const auto& dim : info->tensor_shape().dim()) json.Int(dim.size());
      json.EndArray();
    }
    json.Field("name", info->name());
    json.EndObject();
  }
  json.EndObject();
}

void WriteSignatures(const proto::MetaGraphDef& meta_graph, JsonWriter& json) {
  std::map<std::string, const proto::SignatureDef*> sorted;
  for (const auto& [name, signature] : meta_graph.signature_def()) sorted[name] = &signature;
  json.Key("signatures");
  json.BeginObject();
  for (const auto& [name, signature] : sorted) {
    json.Key(name);
    json.BeginObject();
    json.Field("method_name", signature->method_name());
    WriteTensorInfos("inputs", signature->inputs(), json);
    WriteTensorInfos("outputs", signature->outputs(), json);
    json.EndObject();
  }
  json.EndObject();
}

// Fields of a meta graph but for its nodes.
void WriteMetaGraph(const proto::MetaGraphDef& meta_graph, JsonWriter& json) {
  const proto::GraphDef& graph = meta_graph.graph_def();
  const auto& info = meta_graph.meta_info_def();
  json.Field("tags", std::vector<std::string>(info.tags().begin(), info.tags().end()));
  json.Field("tensorflow_version", info.tensorflow_version());
  json.Field("producer", int64_t{graph.versions().producer()});
  json.Field("num_nodes", int64_t{graph.node_size()});
  json.Key("ops");
  json.BeginObject();
  for (const auto& [op, count] : CountOps(graph)) json.Field(op, count);
  json.EndObject();
  json.Field("functions", FunctionNames(graph));
  WriteSignatures(meta_graph, json);
}

void WriteNodes(const proto::GraphDef& graph, JsonWriter& json) {
  json.Key("nodes");
  json.BeginArray();
  for (const auto& node : graph.node()) {
    json.BeginObject();
    json.Field("name", node.name());
    json.Field("op", node.op());
    json.Field("inputs", std::vector<std::string>(node.input().begin(), node.input().end()));
    if (!node.device().empty()) json.Field("device", node.device());
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void InspectGraph(const KnownPath& path, const InspectOptions& options, std::ostream& out) {
  const proto::MetaGraphDef meta_graph = ReadMetaGraph(path);
  const proto::GraphDef& graph = meta_graph.graph_def();
  const bool meta = path.kind == PathKind::kMetaGraph;
  if (options.json) {
    JsonWriter json(out);
    json.BeginObject();
    json.Field("kind", meta ? "meta_graph" : "graph");
    json.Field("path", path.path);
    WriteMetaGraph(meta_graph, json);
    WriteNodes(graph, json);
    json.EndObject();
    return;
  }
  out << fmt::format("{}: {} of {} nodes, {} functions, producer version {}\n", path.path,
                     meta ? "meta graph" : "graph", graph.node_size(),
                     graph.library().function_size(), graph.versions().producer());
  std::vector<std::string> inputs;
  for (const auto& node : graph.node()) {
    if (node.op() == "Placeholder") inputs.push_back(ShownName(node.name()));
  }
  if (!inputs.empty()) out << fmt::format("  placeholders: {}\n", fmt::join(inputs, ", "));
  std::vector<std::string> ends = Ends(graph);
  std::transform(ends.begin(), ends.end(), ends.begin(), ShownName);
  if (ends.size() > 20) {
    const size_t more = ends.size() - 20;
    ends.resize(20);
    ends.push_back(fmt::format("and {} more", more));
  }
  if (!ends.empty()) out << fmt::format("  nothing uses: {}\n", fmt::join(ends, ", "));
  for (const std::string& name : FunctionNames(graph))
    out << "  function " << ShownName(name) << "\n";
  for (const auto& [name, signature] : meta_graph.signature_def()) {
    out << fmt::format("  signature {}: {}\n", ShownName(name), ShownName(signature.method_name()));
  }
  std::vector<std::pair<int64_t, std::string>> ops;
  for (const auto& [op, count] : CountOps(graph)) ops.emplace_back(-count, op);
  std::sort(ops.begin(), ops.end());
  TextTable table({"op", "nodes"});
  for (const auto& [count, op] : ops) table.AddRow({op, fmt::format("{}", -count)});
  table.Print(out);
}

void DrawGraph(const KnownPath& path, const std::string& html, std::ostream& out) {
  const proto::MetaGraphDef meta_graph = ReadMetaGraph(path);
  const proto::GraphDef& graph = meta_graph.graph_def();
  WriteGraphPage(graph, html, path.path);
  out << fmt::format("{}: {} nodes, {} functions; open it in a browser\n", html, graph.node_size(),
                     graph.library().function_size());
}

void InspectSavedModel(const std::string& folder, const InspectOptions& options,
                       std::ostream& out) {
  const proto::SavedModel model = ReadSavedModel(folder);
  if (!options.json) {
    out << ShowAllText(model);
    return;
  }
  JsonWriter json(out);
  json.BeginObject();
  json.Field("kind", "saved_model");
  json.Field("path", folder);
  json.Key("meta_graphs");
  json.BeginArray();
  for (const auto& meta_graph : model.meta_graphs()) {
    json.BeginObject();
    WriteMetaGraph(meta_graph, json);
    std::vector<std::string> assets;
    for (const SavedAsset& asset : AssetsOf(meta_graph)) assets.push_back(asset.filename);
    json.Field("assets", assets);
    json.EndObject();
  }
  json.EndArray();
  const std::string variables = SavedVariablesPrefix(folder);
  if (FileSystem::ForPath(folder).Exists(BundleIndexPath(variables))) {
    WriteCheckpointTensors(variables, json);
  }
  json.EndObject();
}

}  // namespace sextant::cli
