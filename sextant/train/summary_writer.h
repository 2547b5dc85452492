// SummaryWriter: an event file with the graph and the summaries of a training that a program runs
// by itself, for TensorBoard. (An Estimator writes its own.)
//
//   SummaryWriter writer("logs", graph);
//   writer.AddSummary(session.Run(summaries), step);
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/formats/event_writer.h"
#include "sextant/graph/graph.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// Thread-safe. Throws what the file system throws.
class SEXTANT_API SummaryWriter {
 public:
  explicit SummaryWriter(const std::string& log_dir, EventWriterOptions options = {});
  // With the graph as its first event.
  SummaryWriter(const std::string& log_dir, const Graph& graph, EventWriterOptions options = {});

  // With the shapes of the tensors, which TensorBoard writes on the edges.
  void AddGraph(const Graph& graph, int64_t step = 0);
  // What a summary op gave. Throws INVALID_ARGUMENT when it is no summary.
  void AddSummary(const Tensor& summary, int64_t step);
  void AddScalar(const std::string& tag, float value, int64_t step);
  void Flush() { events_.Flush(); }
  // Closes the file and says what went wrong; the destructor does not.
  void Close() { events_.Close(); }

  EventWriter& events() { return events_; }

 private:
  EventWriter events_;
};

// A serialized GraphDef as event files hold it: every node with _output_shapes.
std::string GraphForEvents(const Graph& graph);

}  // namespace sextant::train

#pragma GCC visibility pop
