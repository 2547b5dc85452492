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

class ImageOpsTest : public testing::Test {
 protected:
  Tensor Run(Output y, const FeedMap& feeds = {}) {
    Session session(graph_);
    return session.Run(feeds, y);
  }
  // What running y complains of: "CODE: message"; "OK" when it does not.
  std::string ErrorOf(Output y) {
    return StatusOf([&] { Run(y); }).ToString();
  }
  template <typename T>
  static std::vector<T> Elements(const Tensor& value) {
    const auto flat = value.flat<T>();
    return {flat.begin(), flat.end()};
  }
  static void ExpectNear(const Tensor& value, const std::vector<float>& expected) {
    ASSERT_EQ(value.num_elements(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(value.data<float>()[i], expected[i], 1e-5) << i;
    }
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

}  // namespace sextant
