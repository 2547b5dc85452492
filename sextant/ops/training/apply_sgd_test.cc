#include "sextant/ops/training/apply_sgd.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class ApplySgdTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
  Variable var_{"var", Tensor::Of<double>({2, 1}, {1, 2})};
  Variable accum_{"accum", Tensor::Of<double>({2, 1}, {4, 8})};
  Output lr_ = Const(Tensor(0.5)), momentum_ = Const(Tensor(0.25));
  Output grad_ = Const(Tensor::Of<double>({2, 1}, {10, 20}));
  Output row_ = Const(Tensor::Of<double>({1, 1}, {20})), index_ = ConstInts({1});

  void Expect(Operation update, std::initializer_list<double> var,
              std::initializer_list<double> accum) {
    Session session(graph_);
    session.Run(var_.initializer());
    session.Run(accum_.initializer());
    session.Run(update);
    EXPECT_TRUE(session.Run(var_.value()).Identical(Tensor::Of<double>({2, 1}, var)));
    EXPECT_TRUE(session.Run(accum_.value()).Identical(Tensor::Of<double>({2, 1}, accum)));
  }
};

TEST_F(ApplySgdTest, GradientDescent) {
  Expect(ResourceApplyGradientDescent(var_.handle(), lr_, grad_), {-4, -8}, {4, 8});
}

TEST_F(ApplySgdTest, Momentum) {
  // accum = 4 * 0.25 + 10 = 11
  Expect(ResourceApplyMomentum(var_.handle(), accum_.handle(), lr_, grad_, momentum_),
         {1 - 5.5, 2 - 11}, {11, 22});
  Expect(ResourceApplyMomentum(var_.handle(), accum_.handle(), lr_, grad_, momentum_,
                               {.use_nesterov = true}),
         {1 - (5 + 1.375), 2 - (10 + 2.75)}, {11, 22});
}

TEST_F(ApplySgdTest, KerasMomentum) {
  // accum = 4 * 0.25 - 10 * 0.5 = -4
  Expect(ResourceApplyKerasMomentum(var_.handle(), accum_.handle(), lr_, grad_, momentum_),
         {-3, -6}, {-4, -8});
  Expect(ResourceApplyKerasMomentum(var_.handle(), accum_.handle(), lr_, grad_, momentum_,
                                    {.use_nesterov = true}),
         {1 + (-1 - 5), 2 + (-2 - 10)}, {-4, -8});
}

TEST_F(ApplySgdTest, OnlyTheNamedRowsMove) {
  Expect(ResourceSparseApplyMomentum(var_.handle(), accum_.handle(), lr_, row_, index_, momentum_),
         {1, 2 - 11}, {4, 22});
  Expect(ResourceSparseApplyKerasMomentum(var_.handle(), accum_.handle(), lr_, row_, index_,
                                          momentum_),
         {1, -6}, {4, -8});
}

TEST_F(ApplySgdTest, RejectsRowsThatAreNotThere) {
  const Operation update = ResourceSparseApplyMomentum(var_.handle(), accum_.handle(), lr_, row_,
                                                       ConstInts({2}), momentum_);
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  EXPECT_THROW(session.Run(update), Error);
}

}  // namespace
}  // namespace sextant
