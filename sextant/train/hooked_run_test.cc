#include "sextant/train/hooked_run.h"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/check_numerics.h"
#include "sextant/ops/state/variable.h"

namespace sextant::train {
namespace {

// Steps that fail while a variable is no number, on batches of two: {0, 1}, {2}.
class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    const GraphScope use(graph_);
    const data::Dataset dataset =
        data::FromTensorSlices({{"x", Tensor::FromVector<float>({0, 1, 2})}}).Batch(2);
    const Output x = data::OneShotIterator(dataset).GetNext()["x"];
    scale_ = Variable("scale", Tensor(std::numeric_limits<float>::quiet_NaN()));
    checked_ = CheckNumerics(x * scale_, "scale");
    init_ = scale_.initializer();
    mend_ = scale_.Assign(Const(Tensor(10.0f)));
  }

  std::vector<float> Next(HookedRun& run) const {
    const Tensor value = run.Run({checked_})[0];
    return {value.flat<float>().begin(), value.flat<float>().end()};
  }

  Graph graph_;
  Variable scale_;
  Output checked_;
  Operation init_, mend_;
};

TEST_F(RecoveryTest, RunsAStepAgainWithTheSameData) {
  Session session(graph_);
  session.Run(init_);
  HookedRun run(session, {});
  int failures = 0;
  run.set_recovery([&](const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    if (++failures == 3) session.Run(mend_);
    return true;
  });
  EXPECT_EQ(Next(run), (std::vector<float>{0, 10}));
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(Next(run), (std::vector<float>{20}));
}

TEST_F(RecoveryTest, WhatIsNotRecoveredIsThrown) {
  Session session(graph_);
  session.Run(init_);
  HookedRun run(session, {});
  run.set_recovery([](const Error&) { return false; });
  EXPECT_THROW(run.Run({checked_}), Error);
  session.Run(mend_);
  EXPECT_EQ(Next(run), (std::vector<float>{20}));
}

}  // namespace
}  // namespace sextant::train
