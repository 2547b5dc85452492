// Chapter 15: a parameter server and a worker, here in one process.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::dist::Server ps({.cluster = sx::dist::ParseClusterSpec("ps|127.0.0.1:0"), .job = "ps"});
  sx::dist::Server worker({.cluster = sx::dist::ParseClusterSpec(
                               fmt::format("ps|127.0.0.1:{},worker|127.0.0.1:0", ps.port())),
                           .job = "worker"});

  sx::Graph graph;
  sx::GraphScope use(graph);
  sx::Variable w;
  {
    sx::DeviceScope on("/job:ps/task:0");
    w = sx::Variable("w", sx::Tensor(0.0f));
  }
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, {}, "x");
  const sx::Output loss = sx::Square(w * x - 6.0);
  const sx::Operation step = sx::train::GradientDescent({.learning_rate = 0.05}).Minimize(loss);

  sx::Session session(graph, {.target = worker.target()});
  session.Run(w.initializer());
  for (int i = 0; i < 50; ++i) session.Run({{x, sx::Tensor(2.0f)}}, step);
  fmt::print("w = {:.3f} on {}\n", session.Run(w.Read()).AsDouble(), w.handle().node()->device());

  sx::Session other(graph, {.target = ps.target()});
  fmt::print("another session sees {:.3f}\n", other.Run(w.Read()).AsDouble());

  try {
    sx::DeviceScope on("/job:ps/task:1");
    session.Run(sx::Const(sx::Tensor(1.0f)) * 2.0);
  } catch (const sx::Error& error) {
    fmt::print("{}\n", sx::CodeName(error.code()));
  }
}
