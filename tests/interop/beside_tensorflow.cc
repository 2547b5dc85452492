// A module for a process that also holds TensorFlow: what beside_tensorflow_test.py calls of
// libsextant, by C functions.
#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>

#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// Bytes of the last answer, or of the last error.
std::string answer;

template <typename Function>
int Answered(Function function) {
  try {
    answer = function();
    return 0;
  } catch (const std::exception& error) {
    answer = error.what();
    return 1;
  }
}

// Fits w * x = 3 * x by gradient descent and returns w.
std::string Train() {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "x");
  const sx::Variable w("w", sx::Tensor(0.0f));
  const sx::Output loss = sx::Mean(sx::Square(w * x - x * 3.0), {0});
  const sx::Operation step = sx::train::GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  const sx::Operation init = sx::GlobalVariablesInitializer();
  sx::Session session(graph);
  session.Run(init);
  for (int i = 0; i < 100; ++i) session.Run({{x, sx::Tensor::Of<float>({1, 2})}}, step);
  return fmt::format("{:.3f}", session.Run(w.value()).scalar<float>());
}

}  // namespace

extern "C" {

SEXTANT_API const char* beside_answer() { return answer.data(); }
SEXTANT_API size_t beside_answer_size() { return answer.size(); }
SEXTANT_API int beside_train() { return Answered(Train); }

// A GraphDef of y = x * 2 + 1, by our own messages.
SEXTANT_API int beside_export() {
  return Answered([] {
    sx::Graph graph;
    sx::GraphScope use(graph);
    const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "x");
    sx::Identity(x * 2.0 + 1.0, "y");
    const sx::proto::GraphDef def = sx::ExportGraphDef(graph);
    sx::proto::GraphDef copy;
    copy.MergeFrom(def);
    return copy.SerializeAsString();
  });
}

// Runs y of a GraphDef with x = [1, 2].
SEXTANT_API int beside_import(const char* bytes, size_t size) {
  return Answered([&] {
    sx::Graph graph;
    sx::ImportGraphDef(std::string_view(bytes, size), graph);
    sx::Session session(graph);
    return session.Run({{"x:0", sx::Tensor::Of<float>({1, 2})}}, {"y:0"})[0].ToString();
  });
}

}  // extern "C"
