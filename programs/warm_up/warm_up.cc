// Two placeholders, a product, a session: the smallest program there is.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main(int argc, char** argv) {
  std::string device = "/gpu:0";
  bool log_device_placement = false;
  sx::Flags flags("A product of two matrices that are fed.");
  flags.Add("device", &device, "where the second product is computed");
  flags.Add("log_device_placement", &log_device_placement, "print the device of every node");
  return flags.Main(argc, argv, [&] {
    sx::Graph graph;
    sx::GraphScope use(graph);
    const sx::Output matrix1 = sx::Placeholder(sx::DType::kFloat, {}, "matrix1");
    const sx::Output matrix2 = sx::Placeholder(sx::DType::kFloat, {}, "matrix2");
    const sx::Output product = sx::MatMul(matrix1, matrix2);
    const sx::FeedMap feeds = {{matrix1, sx::Tensor::Of<float>({1, 2}, {3, 3})},
                               {matrix2, sx::Tensor::Of<float>({2, 1}, {6, 6})}};
    {
      sx::Session session(graph);
      fmt::print("{}\n", session.Run(feeds, product).ToString());
    }

    // On a device; one that is not there is replaced by /cpu:0.
    sx::DeviceScope on(device);
    const sx::Output there = sx::MatMul(matrix1, matrix2);
    sx::Session session(graph, {.log_device_placement = log_device_placement});
    fmt::print("{}\n", session.Run(feeds, there).ToString());
  });
}
