// What sextant-distributed-bench tells the processes that it starts.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::bench {

struct DistributedTask {
  // "mlp": 784-1600-800-10, 10 MB of variables; "census": wide & deep; "resnet44": images in
  // memory, momentum, weight decay, running statistics.
  std::string model;
  int64_t batch = 100;
  int64_t steps = 1500;  // of the global step
  int threads = 1;
  bool sync = false;
  int core = -1;            // that all its threads stay on; -1: any
  int64_t look_every = 25;  // steps between two looks at the global step
  std::string model_dir;
  std::string csv = {};  // of census
};

}  // namespace sextant::bench
