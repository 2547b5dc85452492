#include "sextant/dist/file_ops.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/device/remote_task.h"
#include "sextant/graph/function.h"
#include "sextant/graph/graph.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::dist {
namespace {

constexpr auto kFileOps = std::to_array<std::string_view>({
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "FixedLengthRecordReader",
    "FixedLengthRecordReaderV2",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "MatchingFiles",
    "MergeV2Checkpoints",
    "ReadFile",
    "Restore",
    "RestoreSlice",
    "RestoreV2",
    "Save",
    "SaveSlices",
    "SaveV2",
    "TFRecordDataset",
    "TFRecordDatasetV2",
    "TFRecordReader",
    "TFRecordReaderV2",
    "TextLineDataset",
    "TextLineReader",
    "TextLineReaderV2",
    "WholeFileReader",
    "WholeFileReaderV2",
    "WriteFile",
});

bool IsFileOp(std::string_view op) { return std::ranges::binary_search(kFileOps, op); }
bool IsCache(std::string_view op) { return op.starts_with("CacheDataset"); }

[[noreturn]] void Refuse(const std::string& op, const std::string& name, const std::string& task) {
  throw Error(Code::kPermissionDenied,
              fmt::format("[{} {}] {} opens no files for graphs of other processes: start its "
                          "server with --allow_files DIR (ServerOptions::allow_files)",
                          op, name, ShortTaskName(task)));
}

// A cache without a file name is in memory.
bool CachesInMemory(const Node& node) {
  if (node.num_inputs() < 2 || node.input(1).node()->type() != "Const") return false;
  const Attr* value = node.input(1).node()->FindAttr("value");
  if (value == nullptr || !value->Is<Tensor>()) return false;
  const Tensor& name = value->Get<Tensor>();
  return name.dtype() == DType::kString && name.num_elements() == 1 &&
         name.flat<std::string>()[0].empty();
}

void CheckFunction(const proto::FunctionDef& function, const std::string& task) {
  std::map<std::string_view, const proto::NodeDef*> by_name;
  for (const proto::NodeDef& node : function.node_def()) by_name.emplace(node.name(), &node);
  const auto caches_in_memory = [&](const proto::NodeDef& node) {
    if (node.input_size() < 2) return false;
    const std::string& input = node.input(1);
    const auto found = by_name.find(std::string_view(input).substr(0, input.find(':')));
    if (found == by_name.end() || found->second->op() != "Const") return false;
    const auto value = found->second->attr().find("value");
    return value != found->second->attr().end() && value->second.tensor().string_val_size() == 1 &&
           value->second.tensor().string_val(0).empty();
  };
  for (const proto::NodeDef& node : function.node_def()) {
    if (IsFileOp(node.op()) || (IsCache(node.op()) && !caches_in_memory(node)))
      Refuse(node.op(), node.name(), task);
  }
}

}  // namespace

void CheckOpensNoFiles(const Graph& graph, const std::string& task) {
  std::vector<Node*> nodes;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (IsFileOp(node->type()) || (IsCache(node->type()) && !CachesInMemory(*node)))
      Refuse(node->type(), node->name(), task);
    nodes.push_back(node);
  }
  if (graph.functions().empty()) return;
  const FunctionLibrary reachable = graph.functions().ReachableFrom(nodes);
  for (const auto& function : reachable.all()) CheckFunction(function->def(), task);
}

}  // namespace sextant::dist
