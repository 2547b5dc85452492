#include "sextant/cli/inspect/graph_source.h"

#include <string>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/printable.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant::cli {
namespace {

void ParseEither(const std::string& bytes, const std::string& path,
                 google::protobuf::Message* message) {
  if (IsPrintable(std::string_view(bytes).substr(0, 256))) {
    ParseMessageText(bytes, path, message);
  } else {
    ParseMessage(bytes, path, message);
  }
}

bool GraphOfEvents(const std::string& path, proto::GraphDef* graph) {
  EventReader reader(path);
  for (proto::Event event; reader.Next(&event);) {
    if (event.what_case() == proto::Event::kGraphDef) {
      ParseMessage(event.graph_def(), path, graph);
      return true;
    }
  }
  return false;
}

}  // namespace

proto::MetaGraphDef ReadMetaGraph(const KnownPath& known) {
  const std::string& path = known.path;
  proto::MetaGraphDef meta_graph;
  switch (known.kind) {
    case PathKind::kSavedModel: {
      proto::SavedModel model = ReadSavedModel(path);
      if (model.meta_graphs().empty()) throw InvalidArgument("{} holds no graph", path);
      return std::move(*model.mutable_meta_graphs(0));
    }
    case PathKind::kMetaGraph:
      ParseEither(FileSystem::ForPath(path).ReadFile(path), path, &meta_graph);
      return meta_graph;
    case PathKind::kGraph:
      ParseEither(FileSystem::ForPath(path).ReadFile(path), path, meta_graph.mutable_graph_def());
      return meta_graph;
    case PathKind::kCheckpoint:
      return ReadMetaGraph({PathKind::kMetaGraph, path + ".meta"});
    case PathKind::kEvents:
      if (GraphOfEvents(path, meta_graph.mutable_graph_def())) return meta_graph;
      throw InvalidArgument("{} holds no graph", path);
    case PathKind::kModelDir: {
      const std::string text = JoinPath(path, "graph.pbtxt");
      if (FileSystem::ForPath(path).Exists(text)) return ReadMetaGraph({PathKind::kGraph, text});
      if (const auto latest = LatestCheckpoint(path)) {
        return ReadMetaGraph({PathKind::kCheckpoint, *latest});
      }
      throw InvalidArgument("{} holds neither graph.pbtxt nor a checkpoint", path);
    }
    default:
      throw InvalidArgument("{} holds no graph", path);
  }
}

}  // namespace sextant::cli
