// op-case-graphs OUT: writes every case of the op case tables as a graph with feeds, for
// tools/golden/case_values.py to run in TensorFlow.
#include <fmt/format.h>

#include "sextant/formats/example_builder.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/testing/case_graph.h"

namespace sextant::testing {
namespace {

std::string RecordOf(const OpCase& op_case) {
  CaseGraph graph(op_case, StaticShapes::kFull);
  std::vector<std::string> feeds, values, initializers, fetches;
  for (const CaseGraph::Input& input : graph.inputs()) {
    feeds.push_back(input.feed.name());
    proto::TensorProto message;
    TensorToProto(input.value, &message);
    values.push_back(message.SerializeAsString());
  }
  for (const Operation& initializer : graph.initializers()) {
    initializers.push_back(initializer.node()->name());
  }
  for (const Output& output : graph.outputs()) fetches.push_back(output.name());
  ExampleBuilder example;
  example.Bytes("case", op_case.text)
      .Bytes("graph_def", ExportGraphDef(graph.graph()).SerializeAsString())
      .Bytes("node", graph.node()->name())
      .Bytes("feed_names", feeds)
      .Bytes("feed_values", values)
      .Bytes("initializers", initializers)
      .Bytes("fetch_names", fetches);
  return example.Serialize();
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: op-case-graphs OUT.tfrecord\n");
    return 2;
  }
  TFRecordWriter writer(argv[1]);
  for (const OpCase& op_case : ReadOpCases(SEXTANT_SOURCE_DIR "/sextant/ops")) {
    writer.Write(RecordOf(op_case));
  }
  writer.Close();
  return 0;
}

}  // namespace
}  // namespace sextant::testing

int main(int argc, char** argv) {
  try {
    return sextant::testing::Main(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "op-case-graphs: {}\n", e.what());
    return 1;
  }
}
