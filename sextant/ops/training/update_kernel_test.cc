// One step of every optimizer but those of apply_sgd_test.cc, worked by hand.
#include "sextant/ops/training/update_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/ops/state/variable.h"
#include "sextant/ops/training/apply_adadelta.h"
#include "sextant/ops/training/apply_adagrad.h"
#include "sextant/ops/training/apply_adam.h"
#include "sextant/ops/training/apply_ftrl.h"
#include "sextant/ops/training/apply_proximal.h"
#include "sextant/ops/training/apply_rms_prop.h"
#include "sextant/ops/training/apply_sgd.h"
#include "sextant/ops/training/apply_sign.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

Output D(double value) { return Const(Tensor(value)); }

class UpdateKernelTest : public testing::Test {
 protected:
  // A variable of two rows of one number: the second row is for the sparse ops.
  Output Var(double value) {
    return variables_.emplace_back("v", Tensor::Of<double>({2, 1}, {value, value})).handle();
  }
  Output Whole(double grad) { return Const(Tensor::Of<double>({2, 1}, {grad, grad})); }
  Output Row(double grad) { return Const(Tensor::Of<double>({1, 1}, {grad})); }

  // The update makes these of the variables, in the order they were made.
  void Expect(Operation update, const std::vector<double>& values, bool sparse = false) {
    Session session(graph_);
    for (const Variable& v : variables_) session.Run(v.initializer());
    std::vector<Tensor> before;
    for (const Variable& v : variables_) before.push_back(session.Run(v.value()));
    session.Run(update);
    for (size_t i = 0; i < values.size(); ++i) {
      const Tensor after = session.Run(variables_[i].value());
      EXPECT_NEAR(after.data<double>()[1], values[i], 1e-15) << "variable " << i;
      EXPECT_NEAR(after.data<double>()[0], sparse ? before[i].data<double>()[0] : values[i], 1e-15)
          << "variable " << i;
    }
  }
  void ExpectError(Operation update, const std::string& part) {
    Session session(graph_);
    for (const Variable& v : variables_) session.Run(v.initializer());
    try {
      session.Run(update);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }

  Graph graph_;
  GraphScope scope_{graph_};
  std::vector<Variable> variables_;
  Output second_ = ConstInts({1});
};

TEST_F(UpdateKernelTest, Adam) {
  const Output var = Var(1), m = Var(0), v = Var(0);
  // m = 1, v = 1, rate = 0.1 * sqrt(1 - 0.75) / (1 - 0.5) = 0.1
  const auto step = [&](bool nesterov) {
    return ResourceApplyAdam(var, m, v, D(0.5), D(0.75), D(0.1), D(0.5), D(0.75), D(0), Whole(2),
                             {.use_nesterov = nesterov});
  };
  Expect(step(false), {0.9, 1, 1});
  Expect(step(true), {0.85, 1, 1});  // 0.5 * 1 + 0.5 * 2 = 1.5
}

TEST_F(UpdateKernelTest, AdamWithAmsgrad) {
  const Output var = Var(1), m = Var(0), v = Var(0), vhat = Var(4);
  Expect(ResourceApplyAdamWithAmsgrad(var, m, v, vhat, D(0.5), D(0.75), D(0.1), D(0.5), D(0.75),
                                      D(0), Whole(2)),
         {0.95, 1, 1, 4});
}

TEST_F(UpdateKernelTest, AdaMax) {
  const Output var = Var(1), m = Var(0), v = Var(8);
  Expect(ResourceApplyAdaMax(var, m, v, D(0.5), D(0.1), D(0.5), D(0.5), D(0), Whole(2)),
         {1 - 0.2 * 0.25, 1, 4});
}

TEST_F(UpdateKernelTest, Adagrad) {
  const Output var = Var(1), accum = Var(5);
  Expect(ResourceApplyAdagrad(var, accum, D(0.3), Whole(2)), {0.8, 9});
  Expect(ResourceSparseApplyAdagrad(var, accum, D(0.3), Row(2), second_), {0.8, 9}, true);
  Expect(ResourceApplyAdagradV2(var, accum, D(0.3), D(1), Whole(2)), {0.85, 9});
  Expect(ResourceApplyAdagradV2(var, accum, D(0.3), D(1 - std::sqrt(5)), Whole(2),
                                {.update_slots = false}),
         {0.4, 5});
}

TEST_F(UpdateKernelTest, AdagradDA) {
  const Output var = Var(7), sum = Var(1), squares = Var(5);
  const Output step = Const(Tensor(int64_t{2}));
  // -0.5 * (|3| - 0.5 * 2) / (1 * 2 * 0.5 + 3)
  Expect(ResourceApplyAdagradDA(var, sum, squares, Whole(2), D(0.5), D(0.5), D(1), step),
         {-0.25, 3, 9});
  Expect(ResourceSparseApplyAdagradDA(var, sum, squares, Row(2), second_, D(0.5), D(0), D(1), step),
         {-0.375, 3, 9}, true);
}

TEST_F(UpdateKernelTest, ProximalGradientDescent) {
  const Output var = Var(1);
  // 1 - 0.5 * 4 = -1; (|-1| - 0.5 * 1) / (1 + 2 * 0.5)
  Expect(ResourceApplyProximalGradientDescent(var, D(0.5), D(1), D(2), Whole(4)), {-0.25});
  Expect(ResourceSparseApplyProximalGradientDescent(var, D(0.5), D(0), D(2), Row(4), second_),
         {-0.5}, true);
}

TEST_F(UpdateKernelTest, ProximalAdagrad) {
  const Output var = Var(3), accum = Var(5);
  // The rate is 1.5 / 3; 3 - 0.5 * 2 = 2; (2 - 0.5 * 1) / (1 + 2 * 0.5)
  Expect(ResourceApplyProximalAdagrad(var, accum, D(1.5), D(1), D(2), Whole(2)), {0.75, 9});
  ExpectError(ResourceApplyProximalAdagrad(var, accum, D(0), D(1), D(2), Whole(2)),
              "lr must be positive, got 0");
}

TEST_F(UpdateKernelTest, Adadelta) {
  const Output var = Var(1), accum = Var(4), accum_update = Var(9);
  Expect(ResourceApplyAdadelta(var, accum, accum_update, D(0.5), D(0.5), D(0), Whole(2)),
         {-0.5, 4, 9});
  Expect(
      ResourceSparseApplyAdadelta(var, accum, accum_update, D(0.5), D(0.5), D(0), Row(2), second_),
      {-0.5, 4, 9}, true);
}

TEST_F(UpdateKernelTest, RmsProp) {
  const Output var = Var(1), ms = Var(4), mom = Var(1);
  Expect(ResourceApplyRMSProp(var, ms, mom, D(0.1), D(0.5), D(0.5), D(0), Whole(2)), {0.4, 4, 0.6});
}

TEST_F(UpdateKernelTest, CenteredRmsProp) {
  const Output var = Var(1), mg = Var(0), ms = Var(6), mom = Var(1);
  Expect(ResourceApplyCenteredRMSProp(var, mg, ms, mom, D(0.1), D(0.5), D(0.5), D(0), Whole(2)),
         {0.4, 1, 5, 0.6});
}

TEST_F(UpdateKernelTest, Ftrl) {
  const Output var = Var(1), accum = Var(0), linear = Var(0);
  // linear = 3 - 3 / 0.5 * 1 = -3; (-1 + 3) / (3 / 0.5 + 2 * 1)
  Expect(ResourceApplyFtrl(var, accum, linear, Whole(3), D(0.5), D(1), D(1), D(-0.5)),
         {0.25, 9, -3});
  Expect(ResourceApplyFtrl(var, accum, linear, Whole(3), D(0.5), D(1), D(1), D(-0.5),
                           {.multiply_linear_by_lr = true}),
         {0.25, 9, -1.5});
  // The power is 1: linear = 3 - 9 / 0.5 * 1 = -15; (-1 + 15) / (9 / 0.5 + 2 * 1)
  Expect(ResourceSparseApplyFtrl(var, accum, linear, Row(3), second_, D(0.5), D(1), D(1), D(-1)),
         {0.7, 9, -15}, true);
  Expect(ResourceApplyFtrlV2(var, accum, linear, Whole(3), D(0.5), D(1), D(1), D(0.5), D(-0.5)),
         {0.125, 9, -2});
  Expect(ResourceApplyFtrl(var, accum, linear, Whole(3), D(0.5), D(4), D(1), D(-0.5)), {0, 9, -3});
  ExpectError(
      ResourceSparseApplyFtrl(var, accum, linear, Row(3), second_, D(0.5), D(1), D(1), D(0.5)),
      "lr_power must not be positive, got 0.5");
}

TEST_F(UpdateKernelTest, Signs) {
  const Output var = Var(1), m = Var(0), opposed = Var(-8);
  Expect(ResourceApplyAddSign(var, m, D(0.1), D(1), D(0.5), D(0.5), Whole(2)), {0.7, 1, -8});
  Expect(ResourceApplyAddSign(var, opposed, D(0.1), D(1), D(0.5), D(0.5), Whole(2)), {0.9, 0, -3});
  Expect(ResourceApplyPowerSign(var, m, D(0.1), D(std::log(2)), D(1), D(0.5), Whole(2)), {0.6, 1});
}

TEST_F(UpdateKernelTest, RepeatedRowsAreUpdatedInOrder) {
  const Output var = Var(1), accum = Var(0);
  // accum = 9, then 25: 1 - 0.3 * 3 / 3 - 0.3 * 4 / 5
  const Output grads = Const(Tensor::Of<double>({2, 1}, {3, 4}));
  Expect(ResourceSparseApplyAdagrad(var, accum, D(0.3), grads, ConstInts({1, 1}, DType::kInt64)),
         {0.46, 25}, true);
}

TEST_F(UpdateKernelTest, RejectsWhatDoesNotFit) {
  const Output var = Var(1), accum = Var(0);
  ExpectError(ResourceSparseApplyAdagrad(var, accum, D(0.3), Row(3), ConstInts({2})),
              "indices[0] = 2 is not in [0, 2)");
  ExpectError(ResourceApplyAdagrad(var, var, D(0.3), Whole(2)), "is given twice");
  const Output unknown = OpBuilder("Placeholder").Attr("dtype", DType::kDouble).Build();
  const auto run = [&](Operation update, const Tensor& value) {
    Session session(graph_);
    for (const Variable& v : variables_) session.Run(v.initializer());
    session.Run({{unknown, value}}, update);
  };
  EXPECT_THROW(run(ResourceApplyAdagrad(var, accum, unknown, Whole(2)), Tensor::Of<double>({1.0})),
               Error);
  EXPECT_THROW(run(ResourceApplyAdagrad(var, accum, D(1), unknown), Tensor::Of<double>({1.0})),
               Error);
  EXPECT_THROW(run(ResourceSparseApplyAdagrad(var, accum, D(1), unknown, second_),
                   Tensor::Of<double>({1.0})),
               Error);
}

}  // namespace
}  // namespace sextant
