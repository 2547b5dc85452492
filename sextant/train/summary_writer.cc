#include "sextant/train/summary_writer.h"

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::train {

SummaryWriter::SummaryWriter(const std::string& log_dir, EventWriterOptions options)
    : events_(log_dir, std::move(options)) {}

SummaryWriter::SummaryWriter(const std::string& log_dir, const Graph& graph,
                             EventWriterOptions options)
    : events_(log_dir, std::move(options)) {
  AddGraph(graph);
}

void SummaryWriter::AddGraph(const Graph& graph, int64_t step) {
  events_.AddGraph(GraphForEvents(graph), step);
}

void SummaryWriter::AddSummary(const Tensor& summary, int64_t step) {
  events_.AddSerializedSummary(summary.scalar<std::string>(), step);
}

void SummaryWriter::AddScalar(const std::string& tag, float value, int64_t step) {
  events_.AddScalar(tag, value, step);
}

std::string GraphForEvents(const Graph& graph) {
  return ExportGraphDef(graph, {.output_shapes = true}).SerializeAsString();
}

}  // namespace sextant::train
