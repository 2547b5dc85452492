// LocalClusterFixture: for tests of graphs that run on a worker and two parameter servers, all
// inside this process.
//
//   class LoopsTest : public LocalClusterFixture {};
//   TEST_F(LoopsTest, Compute) {
//     const Variable w = VariableOn(kPs0, "w", 3);
//     const Output y = On(kPs1, [&] { return Square(w.value()); });
//     Session session(graph_, {}, cluster_.environment(0));    // runs on kHere, calls the servers
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/local_task.h"

namespace sextant {

class LocalClusterFixture : public ::testing::Test {
 protected:
  static constexpr char kHere[] = "/job:worker/replica:0/task:0";
  static constexpr char kPs0[] = "/job:ps/replica:0/task:0";
  static constexpr char kPs1[] = "/job:ps/replica:0/task:1";

  // The tasks are those three, then "others".
  explicit LocalClusterFixture(const std::vector<std::string>& others = {})
      : use_(graph_), cluster_(TasksWith(others)) {}

  static Output On(const char* task, const std::function<Output()>& build) {
    const DeviceScope on(task);
    return build();
  }
  static Variable VariableOn(const char* task, const std::string& name, const Tensor& initial) {
    const DeviceScope on(task);
    return Variable(name, initial);
  }
  static Variable VariableOn(const char* task, const std::string& name, float initial) {
    return VariableOn(task, name, Tensor(initial));
  }

  Graph graph_;
  const GraphScope use_;  // what the test builds goes to graph_
  LocalCluster cluster_;

 private:
  static std::vector<std::string> TasksWith(const std::vector<std::string>& others) {
    std::vector<std::string> tasks = {kHere, kPs0, kPs1};
    tasks.insert(tasks.end(), others.begin(), others.end());
    return tasks;
  }
};

}  // namespace sextant
