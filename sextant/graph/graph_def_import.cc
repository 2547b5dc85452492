#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <limits>

#include "sextant/graph/graph_def.h"
#include "sextant/graph/graph_def_importer.h"
#include "sextant/graph/op_registry.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

// Remembers the first error of a text.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

void GraphDefImporter::AddVersions(const proto::GraphDef& def) {
  const proto::VersionDef& versions = def.versions();
  const auto& bad = versions.bad_consumers();
  if (versions.min_consumer() > Graph::kVersion ||
      std::find(bad.begin(), bad.end(), Graph::kVersion) != bad.end()) {
    throw InvalidArgument("the graph (producer version {}) refuses consumers of version {}",
                          versions.producer(), Graph::kVersion);
  }
  if (old_num_nodes_ == 0) {
    graph_.producer = versions.producer();
    graph_.min_consumer = versions.min_consumer();
    graph_.bad_consumers.assign(bad.begin(), bad.end());
  } else {
    graph_.producer = std::min(graph_.producer, versions.producer());
    graph_.min_consumer = std::max(graph_.min_consumer, versions.min_consumer());
    for (const int version : bad) {
      if (std::find(graph_.bad_consumers.begin(), graph_.bad_consumers.end(), version) ==
          graph_.bad_consumers.end()) {
        graph_.bad_consumers.push_back(version);
      }
    }
  }
  const auto& registered = def.library().registered_gradients();
  if (graph_.extra_ == nullptr &&
      (def.version() != 0 || def.has_debug_info() || !registered.empty())) {
    auto extra = std::make_shared<proto::GraphDef>();
    extra->set_version(def.version());
    if (def.has_debug_info()) *extra->mutable_debug_info() = def.debug_info();
    if (!registered.empty()) {
      *extra->mutable_library()->mutable_registered_gradients() = registered;
    }
    graph_.extra_ = std::move(extra);
  }
}

void GraphDefImporter::AddFunctions(const proto::FunctionDefLibrary& library) {
  FunctionLibrary& functions = graph_.functions_;
  for (const proto::FunctionDef& def : library.function()) {
    const std::string& name = def.signature().name();
    if (const Function* known = functions.Find(name)) {
      if (google::protobuf::util::MessageDifferencer::Equals(known->def(), def)) continue;
      throw AlreadyExists("there are two functions named '{}'", name);
    }
    if (OpRegistry::Global().Find(name) != nullptr) {
      throw InvalidArgument("the function '{}' has the name of an op", name);
    }
    auto function = std::make_shared<Function>(std::make_unique<proto::FunctionDef>(def));
    function->signature();  // a malformed one is an error of the import
    functions.Add(std::move(function));
  }
  for (const proto::GradientDef& gradient : library.gradient()) {
    functions.SetGradient(gradient.function_name(), gradient.gradient_func());
  }
}

void ImportGraphDef(const proto::GraphDef& def, Graph& graph, const ImportOptions& options) {
  const std::string prefix = options.prefix.empty() ? "" : options.prefix + "/";
  GraphDefImporter importer(graph, GraphDefImporter::Spelling::kGraph, prefix);
  importer.AddVersions(def);
  importer.AddFunctions(def.library());
  importer.AddNodes(def.node());
  importer.Commit();
}

void ImportGraphDef(std::string_view bytes, Graph& graph, const ImportOptions& options) {
  proto::GraphDef def;
  const google::protobuf::LogSilencer quiet;  // what is wrong goes into the Error
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !def.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw DataLoss("{} bytes are not a GraphDef", bytes.size());
  }
  ImportGraphDef(def, graph, options);
}

void ImportGraphDefText(std::string_view text, Graph& graph, const ImportOptions& options) {
  proto::GraphDef def;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &def)) {
    throw InvalidArgument("the text is not a GraphDef: {}", error.text());
  }
  ImportGraphDef(def, graph, options);
}

}  // namespace sextant
