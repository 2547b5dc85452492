// Powers of two random matrices on one device and on two, or on two tasks of a cluster: how work is
// placed, and what a second device brings.
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <random>

#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  int64_t size = 10000, power = 10;
  int64_t seed = 1;
  bool log_device_placement = false;
  std::string tower_device = "gpu", sum_device = "/cpu:0", target;
  std::string logdir = "logs/matrix_powers";
};

// The product of n + 1 matrices.
sx::Output MatPow(sx::Output m, int64_t n) { return n < 1 ? m : sx::MatMul(m, MatPow(m, n - 1)); }

sx::Tensor RandomMatrix(std::mt19937_64& random, int64_t size) {
  sx::Tensor matrix(sx::DType::kFloat, sx::Shape{size, size});
  for (float& x : matrix.flat<float>()) x = static_cast<float>(random() >> 40) * 0x1p-24f;
  return matrix;
}

// As Python prints a timedelta: "0:00:11.277449".
std::string Duration(std::chrono::steady_clock::duration time) {
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  const int64_t s = us / 1000000;
  return fmt::format("{}:{:02}:{:02}.{:06}", s / 3600, s / 60 % 60, s % 60, us % 1000000);
}

// Runs the sum, and prints how long session and run took; the mean of its elements.
double Time(const char* what, const sx::Graph& graph, sx::Output sum, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  sx::Tensor value;
  {
    sx::Session session(graph, {.target = options.target,
                                .host_devices = 2,
                                .allow_soft_placement = options.tower_device == "gpu",
                                .log_device_placement = options.log_device_placement});
    value = session.Run(sum);
  }
  fmt::print("{} computation time: {}\n", what, Duration(std::chrono::steady_clock::now() - begin));
  double total = 0;
  for (const float x : value.flat<float>()) total += x;
  return total / static_cast<double>(value.num_elements());
}

// The power of each matrix on its device, and their sum.
sx::Output SumOfPowers(const std::array<sx::Tensor, 2>& matrices,
                       const std::array<std::string, 2>& devices, int64_t power,
                       const std::string& sum_device) {
  std::vector<sx::Output> powers;
  for (size_t i = 0; i < 2; ++i) {
    sx::DeviceScope on(devices[i]);
    powers.push_back(MatPow(sx::Const(matrices[i]), power));
  }
  sx::DeviceScope on(sum_device);
  return sx::AddN(powers);
}

void Compute(const Options& options) {
  const bool cluster = !options.target.empty();
  if (!options.logdir.empty()) {
    sx::FileSystem::ForPath(options.logdir).CreateDirectories(options.logdir);
  }
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  const sx::Tensor a = RandomMatrix(random, options.size);
  const std::array matrices = {a, RandomMatrix(random, options.size)};
  const std::string device = "/" + options.tower_device;
  sx::Graph graph;
  sx::GraphScope use(graph);
  const auto mean_on = [&](const char* what, const std::array<std::string, 2>& devices) {
    return Time(what, graph, SumOfPowers(matrices, devices, options.power, options.sum_device),
                options);
  };
  if (cluster) {
    const std::string second = options.tower_device == "gpu" ? ":1" : ":0";
    fmt::print("mean of the sum {:.6g}\n",
               mean_on("Multi node", {"/job:worker/task:0" + device + ":0",
                                      "/job:worker/task:1" + device + second}));
  } else {
    const double single = mean_on("Single GPU", {device + ":0", device + ":0"});
    const double multi = mean_on("Multi GPU", {device + ":0", device + ":1"});
    fmt::print("mean of the sum {:.6g} and {:.6g}\n", single, multi);
  }

  if (options.logdir.empty()) return;
  const auto joined = [](std::string name) {
    const size_t at = name.find('_');
    return at == std::string::npos ? name : name.erase(at, 1);
  };
  const sx::proto::GraphDef small = sx::ExportGraphDef(graph, {.max_constant_bytes = 32});
  sx::WriteGraphPage(sx::RenameNodes(small, joined), sx::JoinPath(options.logdir, "graph.html"));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Powers of two matrices on one device and on two.");
  flags.Add("size", &options.size,
            "rows and columns of both matrices; with --target 100 unless given", {.min = 1});
  flags.Add("power", &options.power, "number of products of each; with --target 4 unless given",
            {.min = 0, .max = 10000});
  flags.Add("seed", &options.seed, "of the matrices");
  flags.Add("tower_device", &options.tower_device,
            "kind of the devices of the powers; gpu: /cpu:0 where there is none",
            {.choices = {"gpu", "cpu"}});
  flags.Add("sum_device", &options.sum_device, "where the powers are added");
  flags.Add("target", &options.target,
            "task of a cluster, grpc://host:port; one power on worker 0, one on worker 1");
  flags.Add("log_device_placement", &options.log_device_placement,
            "print the device of every node; with --target the task does");
  flags.Add("logdir", &options.logdir, "folder of the graph page; none is written if empty");
  return flags.Main(argc, argv, [&] {
    // Of the lab's example on two nodes.
    if (!options.target.empty() && !flags.given("size")) options.size = 100;
    if (!options.target.empty() && !flags.given("power")) options.power = 4;
    Compute(options);
  });
}
