// Powers of two random matrices on one device and on two: how work is placed, and what a second
// device brings.
#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// m, m², ... : the product of n + 1 matrices.
sx::Output Power(sx::Output m, int n) { return n < 1 ? m : sx::MatMul(m, Power(m, n - 1)); }

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}.{:06}", whole / 3600, whole / 60 % 60, whole % 60,
                     static_cast<int64_t>((seconds - static_cast<double>(whole)) * 1e6));
}

struct Result {
  double seconds;
  double mean;
};

Result Compute(const std::string& first, const std::string& second, const sx::Tensor& a,
               const sx::Tensor& b, int n, bool log) {
  const auto start = std::chrono::steady_clock::now();
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::PartialShape shape = a.shape();
  sx::Output x, y, power_x, power_y, sum;
  {
    sx::DeviceScope on(first);
    x = sx::Placeholder(sx::DType::kFloat, shape, "a");
    power_x = Power(x, n);
  }
  {
    sx::DeviceScope on(second);
    y = sx::Placeholder(sx::DType::kFloat, shape, "b");
    power_y = Power(y, n);
  }
  {
    sx::DeviceScope on("/cpu:0");
    sum = power_x + power_y;
  }
  const sx::Output mean = sx::Mean(sum, {0, 1});
  sx::Session session(graph, {.host_devices = 2, .log_device_placement = log});
  const sx::Tensor value = session.Run({{x, a}, {y, b}}, mean);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {seconds, value.scalar<float>()};
}

void ComputeBoth(int64_t size, int power, bool log) {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output a = sx::RandomUniform({size, size}, {.seed = 1});
  const sx::Output b = sx::RandomUniform({size, size}, {.seed = 2});
  sx::Session session(graph);
  const auto matrices = session.Run({a, b});

  const Result single = Compute("/cpu:0", "/cpu:0", matrices[0], matrices[1], power, log);
  const Result multi = Compute("/cpu:0", "/cpu:1", matrices[0], matrices[1], power, log);
  fmt::print("Single device computation time: {}\n", Duration(single.seconds));
  fmt::print("Multi device computation time: {}\n", Duration(multi.seconds));
  fmt::print("mean entry {:.3e} on one device, {:.3e} on two; expected about {:.3e}\n", single.mean,
             multi.mean, std::pow(size / 2.0, power));
  if (single.mean != multi.mean) throw sx::Internal("one device and two give different sums");
}

}  // namespace

int main(int argc, char** argv) {
  int64_t size = 1000;
  int power = 10;
  bool log_device_placement = false;
  sx::Flags flags("Powers of two matrices on one device and on two.");
  flags.Add("size", &size, "rows and columns of both matrices", {.min = 1});
  flags.Add("power", &power, "number of products of each", {.min = 0});
  flags.Add("log_device_placement", &log_device_placement, "print the device of every node");
  return flags.Main(argc, argv, [&] { ComputeBoth(size, power, log_device_placement); });
}
