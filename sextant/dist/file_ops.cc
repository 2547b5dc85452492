#include "sextant/dist/file_ops.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/device/remote_task.h"
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

template <typename Nodes>
void CheckNodes(const Nodes& nodes, const std::string& task) {
  std::map<std::string_view, const proto::NodeDef*> by_name;
  for (const proto::NodeDef& node : nodes) by_name.emplace(node.name(), &node);
  // A cache without a file name is in memory.
  const auto caches_in_memory = [&](const proto::NodeDef& node) {
    if (node.input_size() < 2) return false;
    const std::string& input = node.input(1);
    const auto found = by_name.find(std::string_view(input).substr(0, input.find(':')));
    if (found == by_name.end() || found->second->op() != "Const") return false;
    const auto value = found->second->attr().find("value");
    return value != found->second->attr().end() && value->second.tensor().string_val_size() == 1 &&
           value->second.tensor().string_val(0).empty();
  };
  for (const proto::NodeDef& node : nodes) {
    const bool cache = node.op().starts_with("CacheDataset") && !caches_in_memory(node);
    if (!cache && !std::ranges::binary_search(kFileOps, std::string_view(node.op()))) continue;
    throw Error(Code::kPermissionDenied,
                fmt::format("[{} {}] {} opens no files for graphs of other processes: start its "
                            "server with --allow_files DIR (ServerOptions::allow_files)",
                            node.op(), node.name(), ShortTaskName(task)));
  }
}

}  // namespace

void CheckOpensNoFiles(const std::string& graph_def, const std::string& task) {
  proto::GraphDef graph;
  if (!graph.ParseFromString(graph_def)) throw DataLoss("a graph that cannot be read");
  CheckNodes(graph.node(), task);
  for (const auto& function : graph.library().function()) CheckNodes(function.node_def(), task);
}

}  // namespace sextant::dist
