// What the tests of the sparse families share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/sparse/sparse_tensor.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {

class SparseTest : public testing::Test {
 protected:
  using Ints = std::initializer_list<int64_t>;

  Tensor Run(Output y) { return Session(graph_).Run(y); }
  // The message of the error that running gives, or "".
  std::string ErrorOf(Output y) {
    const Status status = StatusOf([&] { Run(y); });
    EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidArgument) << status.ToString();
    return status.message();
  }

  // Constants; rows of indices one after another.
  static SparseTensor Sparse(Ints shape, Ints indices, const Tensor& values) {
    const auto rank = static_cast<int64_t>(shape.size());
    return {Const(Tensor::Of<int64_t>({values.dim(0), rank}, indices)), Const(values),
            Const(Tensor::Of<int64_t>(shape))};
  }
  // [[0, 1, 0, 0], [0, 0, 0, 0], [2, 0, 0, 3]]
  static SparseTensor Sample() {
    return Sparse({3, 4}, {0, 1, 2, 0, 2, 3}, Tensor::Of<float>({1, 2, 3}));
  }
  void Expect(const SparseTensor& y, Ints shape, Ints indices, const Tensor& values) {
    const auto rank = static_cast<int64_t>(shape.size());
    const Tensor got_values = Run(y.values), got_indices = Run(y.indices);
    EXPECT_TRUE(got_values.Identical(values)) << got_values.ToString();
    EXPECT_TRUE(got_indices.Identical(Tensor::Of<int64_t>({values.dim(0), rank}, indices)))
        << got_indices.ToString();
    EXPECT_TRUE(Run(y.dense_shape).Identical(Tensor::Of<int64_t>(shape)));
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

}  // namespace sextant
