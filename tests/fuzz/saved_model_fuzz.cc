// libFuzzer target: bytes are read as saved_model.pb, or after a 't' as saved_model.pbtxt,
// described, imported and exported again; nothing is run. An Error is the right answer to a bad
// model; a crash or an INTERNAL error is a finding.
#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/cli/saved_model_show.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant::fuzz {
namespace {

void Import(const proto::MetaGraphDef& meta_graph) {
  Graph graph;
  ImportMetaGraphDef(meta_graph, graph);
  const proto::MetaGraphDef exported = ExportMetaGraphDef(graph, {.imported = &meta_graph});
  Graph again;
  ImportMetaGraphDef(exported, again);
  if (again.CollectionNames() != graph.CollectionNames()) {
    throw Internal("the collections of what was exported differ");
  }
  AssetsOf(meta_graph);
}

void TestOne(std::string_view bytes) {
  proto::SavedModel model;
  try {
    if (bytes.starts_with('t')) {
      ParseMessageText(bytes.substr(1), "text", &model);
    } else {
      ParseMessage(bytes, "bytes", &model);
    }
    cli::ShowAllText(model);
    cli::TagSetsText(model);
    for (const auto& meta_graph : model.meta_graphs()) Import(meta_graph);
  } catch (const Error& e) {
    if (e.code() != Code::kInternal) return;
    fmt::print(stderr, "finding: {}\n", e.what());
    std::abort();
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
