// The time of each case of the op case tables: one run of a graph of that op through a Callable,
// its inputs fed.
#include <fmt/format.h>

#include "benchmarks/report.h"
#include "sextant/base/error.h"
#include "sextant/testing/case_graph.h"

namespace sextant::bench {
namespace {

void MeasureCase(const Options& options, const testing::OpCase& op_case) {
  testing::CaseGraph graph(op_case, testing::StaticShapes::kFull);
  Session session(graph.graph(), {.threads = options.threads});
  graph.Run(session, graph.outputs());  // gives the variables their values
  std::vector<Output> feeds;
  std::vector<Tensor> values, results(graph.outputs().size());
  for (const testing::CaseGraph::Input& input : graph.inputs()) {
    feeds.push_back(input.feed);
    values.push_back(input.value);
  }
  const Callable call = session.MakeCallable(feeds, graph.outputs(), {graph.node()});
  std::vector<double> times;
  for (const double rate : Repeat([&] { call.Call(values, results); }, options)) {
    times.push_back(1e6 / rate);
  }
  Emit("ops", "us", times, true,
       {{"op", Quote(op_case.call.op)},
        {"case", Quote(op_case.text)},
        {"threads", std::to_string(options.threads)}});
}

}  // namespace

void MeasureOps(const Options& options, const OpsOptions& ops) {
  bool any = false;
  for (const testing::OpCase& op_case : testing::ReadOpCases(ops.folder)) {
    if (op_case.text.find(ops.filter) == std::string::npos) continue;
    any = true;
    try {
      MeasureCase(options, op_case);
    } catch (const Error& e) {  // a queue that is full, a file that is there already
      fmt::print(stderr, "sextant-bench: {} cannot be run again and again: {}\n", op_case.text,
                 e.what());
    }
  }
  if (!any) throw NotFound("no case of {} contains \"{}\"", ops.folder, ops.filter);
}

}  // namespace sextant::bench
