#include "sextant/nn/initializers.h"

#include <map>

#include "sextant/nn/get_variable.h"
#include "sextant/nn/golden_values.h"
#include "sextant/ops/math/cast.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

const std::map<std::string, Initializer> kInitializers = {
    {"zeros", initializers::Zeros()},
    {"ones", initializers::Ones()},
    {"constant", initializers::Constant(1.5)},
    {"identity", initializers::Identity(2)},
    {"random_uniform", initializers::RandomUniform(-0.1, 0.2, 3)},
    {"random_normal", initializers::RandomNormal(0.5, 2, 3)},
    {"truncated_normal", initializers::TruncatedNormal(0.5, 2, 3)},
    {"variance_scaling", initializers::VarianceScaling({.seed = 3})},
    {"variance_scaling_out",
     initializers::VarianceScaling(
         {.scale = 2, .mode = "fan_out", .distribution = "uniform", .seed = 3})},
    {"variance_scaling_avg",
     initializers::VarianceScaling(
         {.scale = 3, .mode = "fan_avg", .distribution = "untruncated_normal", .seed = 3})},
    {"glorot_uniform", initializers::GlorotUniform(3)},
    {"glorot_normal", initializers::GlorotNormal(3)},
    {"he_uniform", initializers::HeUniform(3)},
    {"he_normal", initializers::HeNormal(3)},
    {"lecun_uniform", initializers::LecunUniform(3)},
    {"lecun_normal", initializers::LecunNormal(3)},
    {"uniform_unit_scaling", initializers::UniformUnitScaling(1.5, 3)},
    {"orthogonal", initializers::Orthogonal(1.5, 3)},
};

// The seed of the graph is 5, as in the recording.
TEST(InitializersTest, AsTensorFlow) {
  for (const auto& initializer : GoldenValues("initializers")) {
    const std::string name = initializer.at("name");
    Graph graph;
    graph.set_seed(5);
    const GraphScope scope(graph);
    const Shape shape(initializer.at("value").at("shape").get<std::vector<int64_t>>());
    const Output value = kInitializers.at(name)(shape, DType::kFloat);
    ExpectGolden(Session(graph).Run(value), initializer.at("value"), name + shape.ToString());
  }
}

TEST(InitializersTest, ValuesMustFit) {
  Graph graph;
  const GraphScope scope(graph);
  const Initializer value = initializers::Value(Tensor::Of<float>({1, 2, 3}));
  EXPECT_EQ(Session(graph).Run(value({3, 1}, DType::kFloat)).shape().ToString(), "[3,1]");
  EXPECT_THROW(value({2}, DType::kFloat), Error);
  EXPECT_THROW(initializers::Orthogonal()({3}, DType::kFloat), Error);
  EXPECT_THROW(initializers::VarianceScaling({.mode = "fan"})({3, 2}, DType::kFloat), Error);
}

// Recorded from TensorFlow 2.15 with the graph's seed 5: whole numbers, and more columns than rows.
TEST(InitializersTest, OtherTypesAndShapesAsTensorFlow) {
  Graph graph;
  graph.set_seed(5);
  const GraphScope scope(graph);
  Session session(graph);
  const Initializer uniform = initializers::RandomUniform(-3, 8, 3);
  const Tensor numbers = session.Run(uniform({2, 3}, DType::kInt32));
  EXPECT_TRUE(numbers.Identical(Tensor::Of<int32_t>({2, 3}, {2, 7, -3, -2, -2, 2})))
      << numbers.ToString();
  const Tensor longs = session.Run(uniform({2, 3}, DType::kInt64));
  EXPECT_TRUE(longs.Identical(Tensor::Of<int64_t>({2, 3}, {-2, 1, 7, -1, 5, 7})))
      << longs.ToString();
  const Tensor wide = session.Run(initializers::Orthogonal(1.5, 3)({2, 4}, DType::kFloat));
  const float expected[] = {-1.29977250F, 0.43823719F, -0.60670209F, -0.02126159F,
                            0.64415091F,  0.33810678F, -1.15741313F, 0.61737186F};
  ASSERT_EQ(wide.shape(), Shape({2, 4}));
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(wide.data<float>()[i], expected[i], 1e-6F) << i;
}

TEST(InitializersTest, ConstantsOfAllTypes) {
  Graph graph;
  const GraphScope scope(graph);
  Session session(graph);
  for (const DType dtype : {DType::kDouble, DType::kInt32, DType::kInt64, DType::kHalf}) {
    const Tensor value = session.Run(initializers::Constant(2)({2}, dtype));
    EXPECT_EQ(value.dtype(), dtype);
    const Tensor twos = session.Run(Cast(Const(value), DType::kFloat));
    EXPECT_TRUE(twos.Identical(Tensor::Of<float>({2, 2}))) << DTypeName(dtype);
  }
}

TEST(InitializersTest, SaysWhatDoesNotFit) {
  Graph graph;
  const GraphScope scope(graph);
  const auto says = [](const std::string& part, const std::function<void()>& act) {
    const Status status = StatusOf(act);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
  };
  says("needs a positive scale, got 0", [] { initializers::VarianceScaling({.scale = 0}); });
  says("distribution 'cauchy' is not", [] {
    initializers::VarianceScaling({.distribution = "cauchy"})({3, 2}, DType::kFloat);
  });
  says("makes matrices, got [3]", [] { initializers::Identity(1)({3}, DType::kFloat); });
  says("can be cut along one dimension only", [] {
    GetPartitionedVariable("w", {.shape = {4, 4}}, [](const Shape&, DType) {
      return std::vector<int64_t>{2, 2};
    });
  });
}

TEST(InitializersTest, PartitionersCutOneDimension) {
  EXPECT_EQ(FixedSizePartitioner(3)({5, 2}, DType::kFloat), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(FixedSizePartitioner(2, 1)({5, 2}, DType::kFloat), (std::vector<int64_t>{1, 2}));
  // 1,000 rows of 100 floats: 400,000 bytes, at least 100,000 a part.
  EXPECT_EQ(MinMaxPartitioner(10, 100'000)({1000, 100}, DType::kFloat),
            (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(MinMaxPartitioner(3, 100'000)({1000, 100}, DType::kFloat),
            (std::vector<int64_t>{3, 1}));
}

TEST(InitializersTest, RegularizersAsWorkedByHand) {
  Graph graph;
  const GraphScope scope(graph);
  const Output w = Const(Tensor::Of<float>({1, -2, 3}));
  EXPECT_FLOAT_EQ(Session(graph).Run(L1Regularizer(0.5F)(w)).scalar<float>(), 3);
  EXPECT_FLOAT_EQ(Session(graph).Run(L2Regularizer(0.5F)(w)).scalar<float>(), 3.5F);
  EXPECT_FLOAT_EQ(Session(graph).Run(L1L2Regularizer(1, 2)(w)).scalar<float>(), 20);
}

}  // namespace
}  // namespace sextant
