// Powers of two random matrices on one device and on two: how work is placed, and what a second
// device brings.
#include <fmt/core.h>

#include <chrono>
#include <random>

#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  int64_t size = 10000, seed = 1;
  int power = 10;
  bool log_device_placement = false;
  std::string tower_device = "gpu", sum_device = "/cpu:0", logdir;
};

// The product of n + 1 matrices.
sx::Output MatPow(sx::Output m, int n) { return n < 1 ? m : sx::MatMul(m, MatPow(m, n - 1)); }

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
    sx::Session session(graph, {.host_devices = 2,
                                .allow_soft_placement = options.tower_device == "gpu",
                                .log_device_placement = options.log_device_placement});
    value = session.Run(sum);
  }
  fmt::print("{} GPU computation time: {}\n", what,
             Duration(std::chrono::steady_clock::now() - begin));
  double total = 0;
  for (const float x : value.flat<float>()) total += x;
  return total / static_cast<double>(value.num_elements());
}

void ComputeBoth(const Options& options) {
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  const sx::Tensor a_value = RandomMatrix(random, options.size);
  const sx::Tensor b_value = RandomMatrix(random, options.size);
  const auto device = [&](int i) { return fmt::format("/{}:{}", options.tower_device, i); };
  sx::Graph graph;
  sx::GraphScope use(graph);

  std::vector<sx::Output> c1;
  {
    sx::DeviceScope on(device(0));
    c1.push_back(MatPow(sx::Const(a_value), options.power));
    c1.push_back(MatPow(sx::Const(b_value), options.power));
  }
  sx::Output sum;
  {
    sx::DeviceScope on(options.sum_device);
    sum = sx::AddN(c1);
  }
  const double single = Time("Single", graph, sum, options);

  std::vector<sx::Output> c2;
  for (int i = 0; i < 2; ++i) {
    sx::DeviceScope on(device(i));
    c2.push_back(MatPow(sx::Const(i == 0 ? a_value : b_value), options.power));
  }
  {
    sx::DeviceScope on(options.sum_device);
    sum = sx::AddN(c2);
  }
  const double multi = Time("Multi", graph, sum, options);
  fmt::print("mean of the sum {:.6g} and {:.6g}\n", single, multi);

  if (options.logdir.empty()) return;
  sx::FileSystem::ForPath(options.logdir).CreateDirectories(options.logdir);
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
  flags.Add("size", &options.size, "rows and columns of both matrices", {.min = 1});
  flags.Add("power", &options.power, "number of products of each", {.min = 0});
  flags.Add("seed", &options.seed, "of the matrices");
  flags.Add("tower_device", &options.tower_device,
            "kind of the devices of the powers; gpu: /cpu:0 where there is none",
            {.choices = {"gpu", "cpu"}});
  flags.Add("sum_device", &options.sum_device, "where the powers are added");
  flags.Add("log_device_placement", &options.log_device_placement,
            "print the device of every node");
  flags.Add("logdir", &options.logdir, "folder of the graph page; none is written if empty");
  return flags.Main(argc, argv, [&] { ComputeBoth(options); });
}
