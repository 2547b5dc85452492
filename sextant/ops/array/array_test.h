// For the tests of this folder: a graph to build in and a session to run it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {

class ArrayTest : public testing::Test {
 protected:
  Tensor Run(Output y, const FeedMap& feeds = {}) {
    Session session(graph_);
    return session.Run(feeds, y);
  }
  // What running y with these feeds complains of: "CODE: message"; "OK" when it does not.
  std::string ErrorOf(Output y, const FeedMap& feeds = {}) {
    return StatusOf([&] { Run(y, feeds); }).ToString();
  }
  // A constant that shape functions cannot see.
  Output Hidden(const Tensor& value) { return PlaceholderWithDefault(Const(value), {}); }

  template <typename T>
  static void ExpectTensor(const Tensor& value, const Shape& shape, std::vector<T> elements) {
    EXPECT_EQ(value.shape().ToString(), shape.ToString());
    const auto flat = value.flat<T>();
    EXPECT_EQ(std::vector<T>(flat.begin(), flat.end()), elements);
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

}  // namespace sextant
