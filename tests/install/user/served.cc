// served DIRECTORY TARGET: exports x / 2 + 2, serves it, asks by gRPC and by REST; and runs on the
// task TARGET, so that the process holds the libraries of serving and of clusters.
#include <sextant/serving/client.h>
#include <sextant/serving/server.h>
#include <sextant/sextant.h>

#include <chrono>
#include <cstdio>
namespace sx = sextant;

static void Export(const std::string& directory) {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "x");
  const sx::Variable half("half", sx::Tensor(0.5f));
  const sx::Output y = half * x + sx::Const(sx::Tensor(2.0f));
  sx::Session session(graph);
  session.Run(sx::GlobalVariablesInitializer());
  sx::SavedModelBuilder builder(directory);
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  builder.Save();
}

static bool Answers(const std::string& address) {
  const sx::serving::Client client({.address = address});
  const auto answer =
      client.Predict({.model = "half_plus_two"}, {{"x", sx::Tensor::Of<float>({1, 2, 5})}});
  const auto y = answer.outputs.at("y").flat<float>();
  return y.size() == 3 && y[0] == 2.5f && y[1] == 3.0f && y[2] == 4.5f;
}

int main(int, char** argv) {
  const std::string base = argv[1];
  Export(base + "/1");
  sx::serving::Server server(
      {.grpc_port = 0, .rest_port = 0, .models = {{.name = "half_plus_two", .base_path = base}}});
  if (!server.WaitUntilReady(std::chrono::seconds(60))) return 1;
  if (!Answers("127.0.0.1:" + std::to_string(server.grpc_port()))) return 2;
  if (!Answers("http://127.0.0.1:" + std::to_string(server.rest_port()))) return 3;

  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output text = sx::Const(sx::Tensor("Hello, task!"));
  sx::Session session(graph, {.target = argv[2]});
  std::puts(session.Run(text).scalar<std::string>().c_str());
  server.Drain(std::chrono::seconds(10));
}
