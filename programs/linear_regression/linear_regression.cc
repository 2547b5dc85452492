// Fits y = w x to 101 noisy points by gradient descent; prints the cost before each update and
// draws the data, the first line and the fitted one.
#include <fmt/core.h>

#include <random>

#include "linear_regression/figure.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// The first "_" of a name becomes a scope, which the page folds.
std::string FirstScope(const std::string& name) {
  const size_t at = name.find('_');
  return at == std::string::npos ? name : name.substr(0, at) + "/" + name.substr(at + 1);
}

void Fit(int64_t steps, int64_t seed, const std::string& logdir) {
  // 101 points on the line y = 2x, with noise.
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::normal_distribution<float> normal;
  sx::Tensor x_batch(sx::DType::kFloat, {101}), y_batch(sx::DType::kFloat, {101});
  for (int i = 0; i < 101; ++i) {
    x_batch.data<float>()[i] = static_cast<float>(i - 50) / 50;
    y_batch.data<float>()[i] = x_batch.data<float>()[i] * 2 + normal(random) * 0.3f;
  }
  DrawFigure(sx::JoinPath(logdir, "data.svg"), x_batch, y_batch);

  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "x");
  const sx::Output y = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "y");
  const sx::Variable w("W", sx::Tensor(normal(random)));
  const sx::Output y_pred = w * x;

  const sx::Output cost = sx::Mean(sx::Square(y_pred - y), {0});
  const sx::Output summary_op = sx::summaries::Scalar("cost", cost);
  const sx::Operation train_op = sx::train::GradientDescent({.learning_rate = 0.1}).Minimize(cost);

  sx::Session session(graph);
  session.Run(sx::GlobalVariablesInitializer());
  DrawFigure(sx::JoinPath(logdir, "first_line.svg"), x_batch, y_batch,
             session.Run({{x, x_batch}}, y_pred));

  sx::train::SummaryWriter summary_writer(logdir, graph);
  for (int64_t t = 0; t < steps; ++t) {
    const auto results =
        session.Run({{x, x_batch}, {y, y_batch}}, std::vector{cost, summary_op}, {train_op});
    summary_writer.AddSummary(results[1], t);
    fmt::print("{:g}\n", results[0].scalar<float>());
  }
  summary_writer.Close();
  DrawFigure(sx::JoinPath(logdir, "fitted_line.svg"), x_batch, y_batch,
             session.Run({{x, x_batch}}, y_pred));

  const sx::proto::GraphDef renamed = sx::RenameNodes(sx::ExportGraphDef(graph), FirstScope);
  sx::WriteGraphPage(sx::StripConstants(renamed), sx::JoinPath(logdir, "graph.html"));
}

}  // namespace

int main(int argc, char** argv) {
  int64_t steps = 30, seed = 3;
  std::string logdir = "logs/linear_regression";
  sx::Flags flags("Fits a line to noisy points by gradient descent.");
  flags.Add("steps", &steps, "number of updates", {.min = 0});
  flags.Add("seed", &seed, "of the noise and of the first weight");
  flags.Add("logdir", &logdir, "folder of the events, figures and graph page");
  return flags.Main(argc, argv, [&] {
    if (logdir.empty()) throw sx::InvalidArgument("--logdir must name a folder, not ''");
    sx::FileSystem::ForPath(logdir).CreateDirectories(logdir);
    Fit(steps, seed, logdir);
  });
}
