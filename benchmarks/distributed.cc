// sextant-distributed-bench: training in clusters of processes on this machine, what
// peers/distributed_tf.py measures of TensorFlow, and how two workers compare with two processes.
//
// Every measurement starts a cluster: a parameter server, a chief and, where it says so, a worker.
// A program of its own, for it makes certificates.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "benchmarks/census_job.h"
#include "benchmarks/distributed_task.h"
#include "benchmarks/program_main.h"
#include "benchmarks/report.h"
#include "sextant/base/child_process.h"
#include "sextant/base/error.h"
#include "sextant/base/free_ports.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/certificates.h"

namespace sextant::bench {
namespace {

using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;
constexpr std::chrono::minutes kLongest(30);
constexpr const char* kOneProcess = "one process";

struct DistributedOptions {
  std::vector<std::string> models = {"mlp", "census", "resnet44"};
  std::vector<int64_t> batches = {128, 8};  // of resnet44
  std::string data = {};                    // folder with adult.data
  int64_t steps = 1500;                     // of mlp and census
  double seconds = 30;                      // of one run of resnet44
  int threads = 0;                          // of each process, of mlp and census
  int repeats = 1;
  bool tcp = false;  // without shared frames
};

// Which processes there are.
struct Cluster {
  int workers = -1;  // beside a chief and a parameter server; -1: one process, no cluster
  bool pinned = false;
  Environment environment = {};
};

class Clusters {
 public:
  // Global steps per second.
  double Measure(DistributedTask task, const Cluster& cluster) {
    const TemporaryDirectory folder;
    task.model_dir = folder.path() + "/model";
    if (cluster.workers < 0) return RateOf(Start(task, cluster, "", 0));
    ports_ = FreePorts(cluster.workers + 2);
    std::vector<ChildProcess> others;
    DistributedTask server = task;
    server.core = -1;
    others.push_back(Start(server, cluster, "ps", 0));
    for (int i = 0; i < cluster.workers; ++i) {
      DistributedTask worker = task;
      if (cluster.pinned) worker.core = i + 1;
      others.push_back(Start(worker, cluster, "worker", i));
    }
    if (cluster.pinned) task.core = 0;
    const double rate = RateOf(Start(task, cluster, "chief", 0));
    for (ChildProcess& other : others) {
      if (!other.WaitFor(std::chrono::seconds(60)))
        throw Internal("a task of the cluster did not end with its chief");
    }
    return rate;
  }

  // Images per second of two processes that train at the same time and know nothing of each other.
  double MeasureTwo(DistributedTask task) {
    const TemporaryDirectory first, second;
    task.model_dir = first.path() + "/model";
    task.core = 0;
    ChildProcess a = Start(task, {}, "", 0);
    task.model_dir = second.path() + "/model";
    task.core = 1;
    ChildProcess b = Start(task, {}, "", 0);
    const double rate = RateOf(std::move(a));
    return rate + RateOf(std::move(b));
  }

 private:
  ChildProcess Start(const DistributedTask& task, const Cluster& cluster, const std::string& job,
                     int index) {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::vector<std::string> arguments = {(here / "sextant-distributed-task").string(), "--model",
                                          task.model};
    const auto add = [&](const char* name, const auto& value) {
      arguments.push_back(fmt::format("--{}={}", name, value));
    };
    add("batch", task.batch);
    add("steps", task.steps);
    add("threads", task.threads);
    add("core", task.core);
    add("look-every", task.look_every);
    add("model-dir", task.model_dir);
    if (!task.csv.empty()) add("csv", task.csv);
    if (task.sync) arguments.push_back("--sync");
    Environment environment = cluster.environment;
    environment.emplace_back("TF_CONFIG", std::nullopt);
    if (!job.empty()) environment.back().second = TfConfig(job, index);
    return ChildProcess(
        {.arguments = arguments, .environment = environment, .output = Stream::kPipe});
  }

  std::string TfConfig(const std::string& job, int index) const {
    nlohmann::json cluster;
    const auto address = [&](size_t i) { return fmt::format("localhost:{}", ports_[i]); };
    cluster["ps"] = {address(0)};
    cluster["chief"] = {address(1)};
    for (size_t i = 2; i < ports_.size(); ++i) cluster["worker"].push_back(address(i));
    return nlohmann::json{{"cluster", cluster}, {"task", {{"type", job}, {"index", index}}}}.dump();
  }

  static double RateOf(ChildProcess process) {
    double rate = 0;
    while (const auto line = process.ReadLine(kLongest))
      std::sscanf(line->c_str(), "rate %lf", &rate);
    if (const ExitStatus status = process.Wait(); !status.ok() || rate == 0)
      throw Internal("a task gave no rate ({}): are there too few steps?", status.ToString());
    return rate;
  }

  std::vector<int> ports_;
};

Environment SharedFrames(bool on) { return {{"SEXTANT_SHARED_FRAMES", on ? "1" : "0"}}; }

void EmitRate(const std::string& mode, const std::string& metric,
              const std::vector<double>& values) {
  Emit("distributed", metric, values, false, {{"mode", Quote(mode)}});
}

// The models that TensorFlow runs too, in processes that each use all cores.
void MeasureBesidePeers(const DistributedOptions& options, const std::string& model,
                        const std::string& csv) {
  const DistributedTask task{.model = model,
                             .batch = model == "census" ? 40 : 100,
                             .steps = options.steps,
                             .threads = options.threads,
                             .look_every = std::clamp<int64_t>(options.steps / 40, 1, 25),
                             .model_dir = {},
                             .csv = csv};
  Clusters clusters;
  const std::pair<int, const char*> kinds[] = {
      {-1, kOneProcess}, {0, "chief + ps"}, {1, "chief + worker + ps"}};
  for (const auto& [workers, name] : kinds) {
    if (options.tcp && workers < 0) continue;  // the same as with shared frames
    std::vector<double> rates;
    for (int i = 0; i < options.repeats; ++i) {
      rates.push_back(
          clusters.Measure(task, {.workers = workers, .environment = SharedFrames(!options.tcp)}));
    }
    EmitRate(fmt::format("{}, {}", model, name), "global steps/s", rates);
  }
}

Environment Tls(const std::string& folder) {
  const CertificateAuthority authority("benchmark");
  const auto pair = authority.Issue("task");
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << text;
    return path;
  };
  return {{"SEXTANT_TLS_CA", write("ca.pem", authority.certificate())},
          {"SEXTANT_TLS_CERT", write("task.pem", pair.certificate)},
          {"SEXTANT_TLS_KEY", write("task.key", pair.key)},
          {"SEXTANT_SHARED_FRAMES", "0"}};
}

// Two workers of one thread, each on a core of its own, and a parameter server, against twice one
// such process.
void MeasureScaling(const DistributedOptions& options, int64_t batch) {
  Clusters clusters;
  DistributedTask task{.model = "resnet44", .batch = batch, .threads = 1, .core = 0};
  task.look_every = 1;
  task.steps = 6;
  const double guess = clusters.Measure(task, {});
  const auto steps_of = [&](double processes) {
    return std::max<int64_t>(9, static_cast<int64_t>(options.seconds * guess * processes));
  };
  task.look_every = std::max<int64_t>(1, steps_of(1) / 30);
  const TemporaryDirectory secrets;
  struct Kind {
    const char* name;
    bool sync;
    Environment environment;
    std::vector<double> images = {};
  };
  Kind kinds[] = {{"async", false, SharedFrames(true)},
                  {"sync", true, SharedFrames(true)},
                  {"async tcp", false, SharedFrames(false)},
                  {"sync tcp", true, SharedFrames(false)},
                  {"async tls", false, Tls(secrets.path())}};
  std::vector<double> one, two;
  for (int i = 0; i < options.repeats; ++i) {
    task.sync = false;
    task.steps = steps_of(1);
    one.push_back(clusters.Measure(task, {}) * static_cast<double>(batch));
    two.push_back(clusters.MeasureTwo(task) * static_cast<double>(batch));
    for (Kind& kind : kinds) {
      task.sync = kind.sync;
      task.steps = steps_of(kind.sync ? 1 : 2);
      const double rate =
          clusters.Measure(task, {.workers = 1, .pinned = true, .environment = kind.environment});
      kind.images.push_back(rate * static_cast<double>(batch) * (kind.sync ? 2 : 1));
    }
  }
  const std::string model = fmt::format("resnet44 b{}", batch);
  const auto ratio = [&](const std::string& name, const std::vector<double>& a,
                         const std::vector<double>& b, double times) {
    std::vector<double> ratios;
    for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / (times * b[i]));
    EmitRate(fmt::format("{}, {}", model, name), "ratio", ratios);
  };
  EmitRate(fmt::format("{}, {}", model, kOneProcess), "images/s", one);
  EmitRate(fmt::format("{}, 2 processes at once", model), "images/s", two);
  for (const Kind& kind : kinds)
    EmitRate(fmt::format("{}, 2 workers, {}", model, kind.name), "images/s", kind.images);
  ratio("2 processes / 2 x one", two, one, 2);
  for (const Kind& kind : kinds) {
    ratio(fmt::format("{} / 2 x one", kind.name), kind.images, one, 2);
    ratio(fmt::format("{} / 2 processes", kind.name), kind.images, two, 1);
  }
  ratio("async tls / tcp", kinds[4].images, kinds[2].images, 1);
}

void MeasureDistributed(const DistributedOptions& options) {
  std::optional<CensusFiles> files;
  for (const std::string& model : options.models) {
    if (model == "resnet44") {
      for (const int64_t batch : options.batches) MeasureScaling(options, batch);
      continue;
    }
    if (model == "census") {
      if (options.data.empty())
        throw InvalidArgument("the census model needs --data DIR, with adult.data and adult.test");
      files.emplace(options.data);
    }
    MeasureBesidePeers(options, model, files ? files->train() : "");
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Measures training in clusters of processes; prints one JSON line per measurement.");
  DistributedOptions options;
  options.threads = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--model", options.models, "mlp, census, resnet44")->capture_default_str();
  app.add_option("--data", options.data, "folder with adult.data and adult.test");
  app.add_option("--batch", options.batches, "of resnet44")->capture_default_str();
  app.add_option("--steps", options.steps, "of mlp and census")->capture_default_str();
  app.add_option("--seconds", options.seconds, "of a run of resnet44")->capture_default_str();
  app.add_option("--threads", options.threads, "of each process, of mlp and census");
  app.add_option("--repeats", options.repeats, "runs of each kind")->capture_default_str();
  app.add_flag("--tcp", options.tcp, "without shared frames");
  CLI11_PARSE(app, argc, argv);
  MeasureDistributed(options);
  return 0;
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) {
  return sextant::bench::RunProgram("sextant-distributed-bench", sextant::bench::Main, argc, argv);
}
