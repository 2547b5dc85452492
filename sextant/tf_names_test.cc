// The names a port from TensorFlow 1 begins with, through the public header.
#include <gtest/gtest.h>

#include "sextant/sextant.h"

namespace sextant {
namespace {

class TfNamesTest : public testing::Test {
 protected:
  using Floats = std::vector<float>;

  Floats Run(Output y) {
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    const Tensor value = session.Run(Cast(y, DType::kFloat));
    return Floats(value.data<float>(), value.data<float>() + value.num_elements());
  }

  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Tensor::Of<float>({2, 2}, {1, -2, 3, 0}));
};

TEST_F(TfNamesTest, Reductions) {
  EXPECT_EQ(Run(ReduceSum(x_)), Floats{2});
  EXPECT_EQ(Run(ReduceSum(x_, 0)), (Floats{4, -2}));
  EXPECT_EQ(Run(ReduceMean(x_)), Floats{0.5F});
  EXPECT_EQ(Run(ReduceMean(x_, 1, {.keep_dims = true})), (Floats{-0.5F, 1.5F}));
  EXPECT_EQ(Run(ReduceProd(x_, 1)), (Floats{-2, 0}));
  EXPECT_EQ(Run(ReduceMax(x_)), Floats{3});
  EXPECT_EQ(Run(ReduceMin(x_, {0})), (Floats{1, -2}));
  EXPECT_EQ(Run(ReduceAll(Greater(x_, -5))), Floats{1});
  EXPECT_EQ(Run(ReduceAny(Greater(x_, 2), 1)), (Floats{0, 1}));
  EXPECT_EQ(Run(CountNonzero(x_)), Floats{3});
  EXPECT_NEAR(Run(ReduceLogsumexp(x_ + 1000))[0], 1003.1754F, 1e-3F);  // log(e + e^-2 + e^3 + 1)
}

TEST_F(TfNamesTest, ArithmeticWithNumbersOnEitherSide) {
  EXPECT_EQ(Run(Maximum(x_, 0)), (Floats{1, 0, 3, 0}));
  EXPECT_EQ(Run(Minimum(1, x_)), (Floats{1, -2, 1, 0}));
  EXPECT_EQ(Run(Pow(x_, 2)), (Floats{1, 4, 9, 0}));
  EXPECT_EQ(Run(Subtract(1, x_)), (Floats{0, 3, -2, 1}));
  EXPECT_EQ(Run(Multiply(x_, 0.5)), (Floats{0.5F, -1, 1.5F, 0}));
  EXPECT_EQ(Run(Divide(x_, 2)), (Floats{0.5F, -1, 1.5F, 0}));
  EXPECT_EQ(Run(Negative(x_)), (Floats{-1, 2, -3, 0}));
  EXPECT_EQ(Run(LessEqual(x_, 0)), (Floats{0, 1, 0, 1}));
  EXPECT_EQ(Run(Equal(3, x_)), (Floats{0, 0, 1, 0}));
  EXPECT_EQ(Run(LogicalOr(Greater(x_, 0), true)), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(Run(FloorMod(x_, 2)), (Floats{1, 0, 1, 0}));
  EXPECT_EQ(Run(ClipByValue(x_, -1, 2)), (Floats{1, -1, 2, 0}));
  EXPECT_EQ(Run(SelectV2(Greater(x_, 0), x_, -7)), (Floats{1, -7, 3, -7}));
  const Output whole = Const(Tensor::Of<int64_t>({5}));
  EXPECT_EQ(Session(graph_).Run(whole + ((int64_t{1} << 60) + 1)).data<int64_t>()[0],
            (int64_t{1} << 60) + 6);
  EXPECT_THROW(Maximum(whole, 0.5), Error);  // no fraction is cut off
  EXPECT_THROW(Const(Tensor::Of<uint8_t>({1})) + 256, Error);
  EXPECT_THROW(Const(Tensor(std::string("a"))) + 1, Error);
}

TEST_F(TfNamesTest, Arrays) {
  EXPECT_EQ(Run(Where(Greater(x_, 0), x_, ZerosLike(x_))), (Floats{1, 0, 3, 0}));
  EXPECT_EQ(Run(BooleanMask(x_, Const(Tensor::Of<bool>({false, true})))), (Floats{3, 0}));
  EXPECT_EQ(Run(SequenceMask(Const(Tensor::Of<int32_t>({1, 3})), 3)), (Floats{1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(Run(Eye(2)), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(Run(Argmax(x_, 1)), (Floats{0, 0}));
  EXPECT_EQ(Run(Matmul(x_, x_)), (Floats{-5, -2, 3, -6}));
  EXPECT_EQ(Run(GetShape(x_)), (Floats{2, 2}));
  EXPECT_EQ(ToInt64(x_).dtype(), DType::kInt64);
  EXPECT_EQ(Run(EmbeddingLookup(x_, Const(Tensor::Of<int32_t>({1})))), (Floats{3, 0}));
  EXPECT_EQ(Run(ZeroFraction(x_)), Floats{0.25F});
  EXPECT_NEAR(Run(LogSigmoid(x_))[0], -0.31326169F, 1e-6F);
}

TEST_F(TfNamesTest, LayersLossesAndTraining) {
  const Output ids = Const(Tensor::Of<int32_t>({1, 3}, {0, 4, 2}));
  EXPECT_EQ(layers::EmbedSequence(ids, 5, 3).shape().ToString(), "[1,3,3]");
  const Output image = Ones({1, 4, 4, 2});
  EXPECT_EQ(layers::MaxPooling2D(image).shape().ToString(), "[1,2,2,2]");
  EXPECT_EQ(layers::AveragePooling2D(image).shape().ToString(), "[1,2,2,2]");
  EXPECT_EQ(layers::BatchNormalization(image).shape().ToString(), "[1,4,4,2]");
  const Output logits = layers::FullyConnected(x_, {.units = 2});
  losses::SoftmaxCrossEntropy(Eye(2), logits);
  const Output loss = losses::GetTotalLoss();
  for (const train::Optimizer& optimizer :
       {train::GradientDescentOptimizer(0.1), train::AdamOptimizer(), train::AdagradOptimizer(),
        train::RMSPropOptimizer(), train::FtrlOptimizer(), train::AdadeltaOptimizer(),
        train::MomentumOptimizer({})}) {
    Session session(graph_);
    const Operation step = optimizer.Minimize(loss);
    session.Run(GlobalVariablesInitializer());
    session.Run(step);
  }
  EXPECT_EQ(TrainableVariables().size(), 5U);  // a table, beta, gamma, kernel, bias
  EXPECT_FALSE(train::LatestCheckpoint(testing::TempDir() + "/nothing_here"));
  const rnn::LSTMStateTuple state(x_, logits);
  EXPECT_EQ(state.h, logits);
  EXPECT_TRUE(summary::Scalar("loss", loss));
}

TEST_F(TfNamesTest, NumPyFilesAreReadByThePublicHeader) {
  const std::string path = testing::TempDir() + "/array.npy";
  WriteNpy(path, Tensor::Of<float>({1, 2}));
  EXPECT_EQ(ReadNpy(path).data<float>()[1], 2);
}

}  // namespace
}  // namespace sextant
