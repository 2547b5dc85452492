// For the tests of this folder: a graph to build in and a session to run it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {

class ControlFlowTest : public testing::Test {
 protected:
  using Vars = std::vector<Output>;

  Tensor Run(Output y, const FeedMap& feeds = {}) { return Session(graph_).Run(feeds, y); }
  std::vector<float> Floats(Output y, const FeedMap& feeds = {}) {
    const Tensor value = Run(y, feeds);
    return {value.flat<float>().begin(), value.flat<float>().end()};
  }
  // What running y complains of: "CODE: message"; "OK" when it does not.
  std::string ErrorOf(Output y, const FeedMap& feeds = {}) {
    return StatusOf([&] { Run(y, feeds); }).ToString();
  }
  void ExpectError(Output y, const std::string& code, const std::string& part) {
    const std::string error = ErrorOf(y);
    EXPECT_TRUE(error.starts_with(code)) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

}  // namespace sextant
