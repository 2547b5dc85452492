// A net for MNIST that several workers train at the same time, with its variables on parameter
// servers. Between-graph: every worker builds the graph and runs it by itself. In-graph: one client
// builds a graph that holds a copy of the net for every worker.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <iostream>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> ps_hosts, worker_hosts;
  std::string job_name = "worker", data_dir, target;
  int task_index = 0, hidden_units = 100, batch_size = 100, train_steps = 200;
  double learning_rate = 0.01;
  bool in_graph = false;
};

sx::dist::ClusterSpec Cluster(const Options& options) {
  return {{"ps", options.ps_hosts}, {"worker", options.worker_hosts}};
}

// Weights, on the parameter servers when made inside a replica device scope.
struct Net {
  explicit Net(const Options& options) {
    const int64_t hidden = options.hidden_units;
    const auto weights = [](const char* name, sx::Shape shape, double stddev) {
      return sx::Variable(name, [=] { return sx::TruncatedNormal(shape, {.seed = 1}) * stddev; });
    };
    hid_w = weights("hid_w", {784, hidden}, 1.0 / 28);
    hid_b = sx::Variable("hid_b", sx::Tensor::Zeros(sx::DType::kFloat, {hidden}));
    sm_w = weights("sm_w", {hidden, 10}, 1.0 / std::sqrt(static_cast<double>(hidden)));
    sm_b = sx::Variable("sm_b", sx::Tensor::Zeros(sx::DType::kFloat, {10}));
  }

  // Mean over the batch.
  sx::Output CrossEntropy(sx::Output x, sx::Output labels) const {
    const sx::Output hidden = sx::Relu(sx::BiasAdd(sx::MatMul(x, hid_w), hid_b));
    const sx::Output logits = sx::BiasAdd(sx::MatMul(hidden, sm_w), sm_b);
    return sx::ReduceMean(sx::SoftmaxCrossEntropyWithLogits(logits, labels).loss);
  }

  sx::Variable hid_w, hid_b, sm_w, sm_b;
};

sx::Output Images(const std::string& name) {
  return sx::Placeholder(sx::DType::kFloat, sx::PartialShape({-1, 784}), name);
}
sx::Output Labels(const std::string& name) {
  return sx::Placeholder(sx::DType::kFloat, sx::PartialShape({-1, 10}), name);
}

struct Data {
  sx::datasets::ImageBatches train;
  sx::datasets::ImageBatches::Batch validation;
};

Data Read(const Options& options, int worker) {
  if (options.data_dir.empty()) {
    return {sx::datasets::ImageBatches(sx::datasets::SyntheticMnist(5000, 1, worker)),
            sx::datasets::ImageBatches(sx::datasets::SyntheticMnist(1000, 1, 100)).All()};
  }
  const sx::datasets::MnistSets sets = sx::datasets::ReadMnist(options.data_dir, std::cerr);
  return {sx::datasets::ImageBatches(sets.train, worker),
          sx::datasets::ImageBatches(sets.validation).All()};
}

void PrintValidation(double before, double after, int64_t steps, Clock::time_point start) {
  fmt::print("Training elapsed time: {:.2f} s\n",
             std::chrono::duration<double>(Clock::now() - start).count());
  fmt::print("Validation cross entropy = {:.4f} before, {:.4f} after {} training steps\n", before,
             after, steps);
}

void TrainBetweenGraph(const Options& options) {
  Data data = Read(options, options.task_index);
  const sx::dist::Server server(
      {.cluster = Cluster(options), .job = "worker", .task = options.task_index});
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::DeviceScope replica(sx::train::ReplicaDeviceSetter(Cluster(options)));
  const sx::Variable global_step = sx::train::GetOrCreateGlobalStep();
  const Net net(options);
  const sx::Output x = Images("x"), labels = Labels("labels");
  const sx::Output loss = net.CrossEntropy(x, labels);
  const sx::Operation train = sx::train::Adam({.learning_rate = options.learning_rate})
                                  .Minimize(loss, {.global_step = global_step});

  // The chief initialises the variables, the others wait until it has.
  sx::train::MonitoredSession session(graph,
                                      {.target = server.target(),
                                       .is_chief = options.task_index == 0,
                                       .hooks = {sx::train::StopAtStep(options.train_steps)}});
  fmt::print("Worker {}: Session initialization complete.\n", options.task_index);
  const sx::FeedMap validation = {{x, data.validation.images}, {labels, data.validation.labels}};
  const double before = session.session().Run(validation, loss).AsDouble();
  const auto start = Clock::now();
  for (int local = 1; !session.ShouldStop(); ++local) {
    const auto batch = data.train.Next(options.batch_size);
    session.Run({}, {{x, batch.images}, {labels, batch.labels}}, {train});
    if (local > 1 && local % 20 != 0) continue;
    fmt::print("Worker {}: training step {} done (global step: {})\n", options.task_index, local,
               session.global_step());
    std::fflush(stdout);
  }
  PrintValidation(before, session.session().Run(validation, loss).AsDouble(), session.global_step(),
                  start);
}

void TrainInGraph(const Options& options) {
  const auto workers = static_cast<int>(options.worker_hosts.size());
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const auto on = [&](int worker) {
    return sx::train::ReplicaDeviceSetter(
        Cluster(options), {.worker_device = fmt::format("/job:worker/task:{}", worker)});
  };
  const sx::DeviceScope first(on(0));
  const Net net(options);
  std::vector<sx::Output> xs, ys, losses;
  for (int worker = 0; worker < workers; ++worker) {
    const sx::DeviceScope replica(on(worker));
    xs.push_back(Images(fmt::format("x_{}", worker)));
    ys.push_back(Labels(fmt::format("labels_{}", worker)));
    losses.push_back(net.CrossEntropy(xs.back(), ys.back()));
  }
  const sx::Output loss = sx::AddN(losses) * (1.0 / workers);
  const sx::Operation train =
      sx::train::Adam({.learning_rate = options.learning_rate}).Minimize(loss);
  const sx::Operation init = sx::GlobalVariablesInitializer();

  std::vector<Data> data;
  for (int worker = 0; worker < workers; ++worker) data.push_back(Read(options, worker));
  sx::Session session(graph, {.target = options.target});
  session.Run(init);
  const sx::FeedMap validation = {{xs[0], data[0].validation.images},
                                  {ys[0], data[0].validation.labels}};
  const double before = session.Run(validation, losses[0]).AsDouble();
  const auto start = Clock::now();
  for (int step = 0; step < options.train_steps; ++step) {
    sx::FeedMap feeds;
    for (size_t worker = 0; worker < data.size(); ++worker) {
      const auto batch = data[worker].train.Next(options.batch_size);
      feeds.emplace_back(xs[worker], batch.images);
      feeds.emplace_back(ys[worker], batch.labels);
    }
    session.Run(feeds, train);
  }
  PrintValidation(before, session.Run(validation, losses[0]).AsDouble(), options.train_steps,
                  start);
}

// Until a signal comes.
void Serve(const Options& options) {
  const sx::InterruptScope signals;
  sx::dist::Server server(
      {.cluster = Cluster(options), .job = options.job_name, .task = options.task_index});
  const auto stop = signals.token()->OnCancel([&] { server.Stop(); });
  server.Join();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains a net for MNIST with several workers and parameter servers.");
  flags.Add("ps_hosts", &options.ps_hosts, "host:port of the parameter servers",
            {.required = true});
  flags.Add("worker_hosts", &options.worker_hosts, "host:port of the workers", {.required = true});
  flags.Add("job_name", &options.job_name, "what this process is; client: of the in-graph form",
            {.choices = {"ps", "worker", "client"}});
  flags.Add("task_index", &options.task_index, "its number in the job", {.min = 0});
  flags.Add("in_graph", &options.in_graph, "workers only serve; a client trains with all of them");
  flags.Add("target", &options.target, "of the client: grpc://host:port of a task");
  flags.Add("data_dir", &options.data_dir, "folder of the idx files; none: made-up digits");
  flags.Add("hidden_units", &options.hidden_units, "of the hidden layer", {.min = 1});
  flags.Add("batch_size", &options.batch_size, "of each worker", {.min = 1});
  flags.Add("train_steps", &options.train_steps, "of all workers together", {.min = 1});
  flags.Add("learning_rate", &options.learning_rate, "of Adam");
  return flags.Main(argc, argv, [&] {
    if (options.job_name == "client") {
      TrainInGraph(options);
    } else if (options.job_name == "ps" || options.in_graph) {
      Serve(options);
    } else {
      TrainBetweenGraph(options);
    }
  });
}
