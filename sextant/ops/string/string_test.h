// What the tests of the string families share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {

class StringTest : public testing::Test {
 protected:
  using Strings = std::vector<std::string>;
  using Ints = std::vector<int64_t>;

  static Output Text(const Strings& values) { return Const(Tensor::FromVector(values)); }
  static Output One(const char* value) { return Const(Tensor(value)); }
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Strings RunStrings(Output y) {
    const Tensor value = Run(y);
    return Strings(value.data<std::string>(), value.data<std::string>() + value.num_elements());
  }
  Ints RunInts(Output y) {
    const Tensor value = Run(y);
    return Ints(value.data<int64_t>(), value.data<int64_t>() + value.num_elements());
  }
  Code CodeOf(Output y) {
    try {
      Run(y);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

}  // namespace sextant
