// Cost of Session::Run itself: a scalar addition, a chain of scalar additions, linear regression;
// and of building, differentiating and planning large graphs.
#include <cmath>

#include "benchmarks/report.h"
#include "benchmarks/timing.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

void Report(const Options& options, const std::string& metric, const std::vector<double>& rates,
            double scale, const std::string& mode) {
  std::vector<double> values;
  for (const double rate : rates) values.push_back(scale / rate);
  Emit("session_overhead", metric, values, true,
       {{"mode", Quote(mode)}, {"threads", std::to_string(options.threads)}});
}

void Addition(const Options& options) {
  Graph graph;
  GraphScope use(graph);
  const Output a = Placeholder(DType::kFloat, PartialShape{});
  const Output b = Placeholder(DType::kFloat, PartialShape{});
  const Output c = a + b;
  Session session(graph, {.threads = options.threads});
  const Tensor one(1.0f), two(2.0f);
  const FeedMap feeds = {{a, one}, {b, two}};
  Report(options, "us/run", Repeat([&] { session.Run(feeds, c); }, options), 1e6,
         "a+b, Session.run with feed_dict");
  const Callable call = session.MakeCallable({a, b}, {c});
  const Tensor values[] = {one, two};
  Tensor result;
  Report(options, "us/run", Repeat([&] { call.Call(values, std::span(&result, 1)); }, options), 1e6,
         "a+b, make_callable");
}

void WithoutFeeds(const Options& options) {
  Graph graph;
  GraphScope use(graph);
  const Output c = Const(Tensor(1.0f)) + Const(Tensor(2.0f));
  const Operation no_op = OpBuilder("NoOp").BuildOperation();
  Session session(graph, {.threads = options.threads});
  Report(options, "us/run", Repeat([&] { session.Run(c); }, options), 1e6,
         "a+b of constants, no feed");
  Report(options, "us/run", Repeat([&] { session.Run(no_op); }, options), 1e6, "no_op");
  const Callable call = session.MakeCallable({}, {}, {no_op});
  Report(options, "us/run", Repeat([&] { call.Call({}, {}); }, options), 1e6,
         "no_op, make_callable");
}

// Seconds per run of "count" additions one after another, every one of them executed.
std::vector<double> Chain(const Options& options, int count) {
  Graph graph;
  GraphScope use(graph);
  const Output a = Placeholder(DType::kFloat, PartialShape{});
  Output x = a;
  for (int i = 0; i < count; ++i) x = x + a;
  Session session(
      graph,
      {.threads = options.threads,
       .optimizer = {.fold_constants = false, .merge_common = false, .fuse_elementwise = false}});
  const FeedMap feeds = {{a, Tensor(1.0f)}};
  std::vector<double> seconds;
  for (const double rate : Repeat([&] { session.Run(feeds, x); }, options))
    seconds.push_back(1 / rate);
  return seconds;
}

void PerNode(const Options& options, int count) {
  std::vector<double> one = Chain(options, 1);
  std::sort(one.begin(), one.end());
  std::vector<double> values;
  for (const double seconds : Chain(options, count)) {
    values.push_back((seconds - one[one.size() / 2]) / count * 1e9);
  }
  Emit("session_overhead", "ns/node", values, true,
       {{"mode",
         Quote("chain of " + std::to_string(count) + " scalar additions, graph optimisation off")},
        {"threads", std::to_string(options.threads)}});
}

void Regression(const Options& options) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{-1});
  const Output y = Placeholder(DType::kFloat, PartialShape{-1});
  const Variable w("w", Tensor(0.5f));
  const Output cost = Mean(Square(w * x - y), {0});
  const auto gradients = Gradients(cost, {w.handle()});
  const Operation train =
      ResourceApplyGradientDescent(w.handle(), Const(Tensor(0.1f)), gradients[0]);
  Session session(graph, {.threads = options.threads});
  session.Run(GlobalVariablesInitializer());
  Tensor xs(DType::kFloat, Shape{101}), ys(DType::kFloat, Shape{101});
  for (int i = 0; i < 101; ++i) {
    xs.data<float>()[i] = -1.0f + 0.02f * static_cast<float>(i);
    ys.data<float>()[i] = 2 * xs.data<float>()[i] + 0.3f * std::sin(static_cast<float>(7 * i));
  }
  const FeedMap feeds = {{x, xs}, {y, ys}};
  const std::vector<Output> fetches = {cost};
  const std::vector<Operation> targets = {train};
  Report(options, "us/step", Repeat([&] { session.Run(feeds, fetches, targets); }, options), 1e6,
         "linear regression, 101 points, cost and update");
}

// From nothing to the first values of a graph and its gradients, which double it.
void LargeGraph(const Options& options, int count) {
  const auto first_run = [&] {
    Graph graph;
    GraphScope use(graph);
    const Output x = Placeholder(DType::kFloat, PartialShape(Shape()));
    const Output a = Placeholder(DType::kFloat, PartialShape(Shape()));
    Output y = x;
    while (graph.num_nodes() < count / 2) y = Tanh(y * a + x);
    const auto gradients = Gradients(y, {x, a});
    Session session(graph, {.threads = options.threads});
    session.Run({{x, Tensor(0.1f)}, {a, Tensor(0.9f)}}, {y, gradients[0], gradients[1]});
  };
  std::vector<double> values;
  for (int i = 0; i < options.repeats; ++i) values.push_back(Seconds(first_run));
  Emit("session_overhead", "seconds", values, true,
       {{"mode", Quote(std::to_string(count) + " nodes, half of them gradients, to the first run")},
        {"threads", std::to_string(options.threads)}});
}

}  // namespace

void SessionOverhead(const Options& options, int chain) {
  Addition(options);
  WithoutFeeds(options);
  PerNode(options, chain);
  Regression(options);
  for (const int count : {50'000, 100'000, 200'000}) LargeGraph(options, count);
}

}  // namespace sextant::bench
