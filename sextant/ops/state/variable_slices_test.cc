#include "sextant/ops/state/variable_slices.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class VariableSlicesTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
  Variable v_{"v", Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})};

  Tensor After(Operation update) {
    Session session(graph_);
    session.Run(v_.initializer());
    session.Run(update);
    return session.Run(v_.value());
  }
};

TEST_F(VariableSlicesTest, GathersRowsAndSlices) {
  const Output rows = ResourceGather(v_.handle(), ConstInts({2, 0}));
  const Output cells =
      ResourceGatherNd(v_.handle(), Const(Tensor::Of<int32_t>({2, 2}, {0, 1, 2, 0})));
  Session session(graph_);
  session.Run(v_.initializer());
  EXPECT_TRUE(session.Run(rows).Identical(Tensor::Of<float>({2, 2}, {5, 6, 1, 2})));
  EXPECT_TRUE(session.Run(cells).Identical(Tensor::Of<float>({2, 5})));
}

TEST_F(VariableSlicesTest, OutOfRangeIndicesNameThemselves) {
  const Output rows = ResourceGather(v_.handle(), ConstInts({2, 3}));
  Session session(graph_);
  session.Run(v_.initializer());
  try {
    session.Run(rows);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("indices[1] = 3 is not in [0, 3)"), std::string::npos) << e.what();
  }
}

TEST_F(VariableSlicesTest, RepeatedIndicesAddUp) {
  const Output updates = Const(Tensor::Of<float>({2, 2}, {10, 20, 100, 200}));
  EXPECT_TRUE(After(ResourceScatterAdd(v_.handle(), ConstInts({1, 1}), updates))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 113, 224, 5, 6})));
}

TEST_F(VariableSlicesTest, AScalarUpdatesAllChosenRows) {
  EXPECT_TRUE(After(ResourceScatterMul(v_.handle(), ConstInts({0, 2}), Const(Tensor(2.0f))))
                  .Identical(Tensor::Of<float>({3, 2}, {2, 4, 3, 4, 10, 12})));
}

TEST_F(VariableSlicesTest, MinMaxDivUpdateAndNd) {
  const Output one = ConstInts({1});
  const Output row = Const(Tensor::Of<float>({1, 2}, {2, 8}));
  EXPECT_TRUE(After(ResourceScatterMin(v_.handle(), one, row))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 2, 4, 5, 6})));
  EXPECT_TRUE(After(ResourceScatterMax(v_.handle(), one, row))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 3, 8, 5, 6})));
  EXPECT_TRUE(After(ResourceScatterDiv(v_.handle(), one, row))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 1.5, 0.5, 5, 6})));
  EXPECT_TRUE(After(ResourceScatterUpdate(v_.handle(), one, row))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 2, 8, 5, 6})));
  const Output cell = Const(Tensor::Of<int32_t>({1, 2}, {2, 1}));
  EXPECT_TRUE(After(ResourceScatterNdSub(v_.handle(), cell, Const(Tensor::Of<float>({1}))))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 5})));
}

TEST_F(VariableSlicesTest, DividingIntegersByZeroIsAnError) {
  const Variable n("n", Tensor::Of<int32_t>({1, 2}));
  const Operation divide = ResourceScatterDiv(n.handle(), ConstInts({0}), Const(Tensor(0)));
  Session session(graph_);
  session.Run(n.initializer());
  EXPECT_THROW(session.Run(divide), Error);
}

}  // namespace
}  // namespace sextant
