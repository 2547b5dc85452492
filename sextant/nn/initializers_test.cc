#include "sextant/nn/initializers.h"

#include <map>

#include "sextant/nn/get_variable.h"
#include "sextant/nn/golden_values.h"
#include "sextant/runtime/session.h"

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
