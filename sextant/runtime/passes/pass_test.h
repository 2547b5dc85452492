// What the tests of passes share. The graph of a test is copied as a Plan copies it, a pass
// rewrites the copy, and both forms run step by step without any optimisation: they must give the
// same.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sextant/device/device.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/factor_products.h"
#include "sextant/runtime/passes/pass.h"
#include "sextant/sextant.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {

class PassTest : public testing::Test {
 protected:
  using OpCounts = std::map<std::string, int>;

  // A placeholder that is fed pseudo-random numbers.
  Output Feed(const Shape& shape) {
    const Output x = Placeholder(DType::kFloat, PartialShape(shape));
    feeds_.emplace_back(x.name(), PseudoRandom(shape, static_cast<uint32_t>(feeds_.size()) + 1));
    return x;
  }
  // One that is fed 0, 3, 6, ... modulo "limit".
  Output FeedIds(int64_t count, int32_t limit) {
    const Output x = Placeholder(DType::kInt32, PartialShape{count});
    Tensor ids(DType::kInt32, Shape{count});
    for (int32_t i = 0; i < count; ++i) ids.data<int32_t>()[i] = 3 * i % limit;
    feeds_.emplace_back(x.name(), ids);
    return x;
  }

  Output FeedValue(const Tensor& value) {
    const Output x = Placeholder(value.dtype(), PartialShape(value.shape()));
    feeds_.emplace_back(x.name(), value);
    return x;
  }

  // Copies what "fetches" need; all passes applied later work on this copy.
  void Copy(const std::vector<Output>& fetches) {
    const Operation initializer = GlobalVariablesInitializer();
    std::vector<Output> kept;
    // As the "_Sink" of a Plan: a reader that no pass rewrites.
    for (const Output& fetch : fetches) kept.push_back(Pack({fetch}));
    subgraph_ = CopySubgraph(graph_, {}, kept, {initializer});
    initializer_ = initializer.node()->name();
    before_ = after_ = Ops();
  }

  // Applies the pass and compares. "tolerance" is relative to the largest value; 0: the same bits.
  void Apply(void (*pass)(Graph&, const Device&), double tolerance = 0) {
    const std::vector<Tensor> expected = Run();
    before_ = Ops();
    pass(graph(), device());
    std::vector<Node*> needed = subgraph_.targets;
    for (const Output& fetch : subgraph_.fetches) needed.push_back(fetch.node());
    for (const auto& [name, value] : feeds_) needed.push_back(graph().FindOutput(name).node());
    RemoveUnneeded(graph(), needed);
    after_ = Ops();
    const std::vector<Tensor> values = Run();
    for (size_t i = 0; i < values.size(); ++i) ExpectClose(values[i], expected[i], tolerance);
  }

  Graph& graph() { return *subgraph_.graph; }
  const Device& device() const { return *devices_[0]; }
  static int Count(const OpCounts& ops, const std::string& op) {
    const auto found = ops.find(op);
    return found == ops.end() ? 0 : found->second;
  }
  int Before(const std::string& op) const { return Count(before_, op); }
  int After(const std::string& op) const { return Count(after_, op); }
  // The shapes of the first outputs of all nodes of a type.
  std::vector<PartialShape> ShapesOf(std::string_view op) {
    std::vector<PartialShape> shapes;
    for (int id = 0; id < graph().num_nodes(); ++id) {
      if (graph().node(id)->type() == op) shapes.push_back(graph().node(id)->output_shape(0));
    }
    return shapes;
  }

  Graph graph_;
  GraphScope scope_{graph_};

 private:
  OpCounts Ops() {
    OpCounts ops;
    for (int id = 0; id < graph().num_nodes(); ++id) ++ops[graph().node(id)->type()];
    return ops;
  }

  std::vector<Tensor> Run() {
    SessionOptions options;
    options.optimizer = {.fold_constants = false,
                         .merge_common = false,
                         .fuse_updates = false,
                         .block_images = false,
                         .fuse_images = false,
                         .winograd = false,
                         .fuse_products = false,
                         .fuse_elementwise = false,
                         .parallel_steps = ParallelSteps::kNever};
    Session session(graph(), options);
    session.Run(NamedFeeds{}, {}, {initializer_});
    std::vector<std::string> names;
    for (const Output& fetch : subgraph_.fetches) names.push_back(fetch.name());
    return session.Run(feeds_, names);
  }

  static void ExpectClose(const Tensor& value, const Tensor& expected, double tolerance) {
    if (tolerance == 0) {
      EXPECT_TRUE(value.Identical(expected)) << value.ToString() << "\n" << expected.ToString();
      return;
    }
    ASSERT_EQ(value.shape(), expected.shape());
    double largest = 1, difference = 0;
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const double e = expected.data<float>()[i];
      largest = std::max(largest, std::abs(e));
      difference = std::max(difference, std::abs(value.data<float>()[i] - e));
    }
    EXPECT_LE(difference, tolerance * largest);
  }

  const std::vector<std::unique_ptr<Device>> devices_ = MakeHostDevices(1);
  NamedFeeds feeds_;
  Subgraph subgraph_;
  std::string initializer_;
  OpCounts before_, after_;
};

}  // namespace sextant
