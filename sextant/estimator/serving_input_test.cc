#include "sextant/estimator/serving_input.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/data/census.h"
#include "sextant/formats/example_builder.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

template <typename T>
std::vector<T> Elements(const Tensor& tensor) {
  return {tensor.flat<T>().begin(), tensor.flat<T>().end()};
}

class ServingInputTest : public ::testing::Test {
 protected:
  Graph graph_;
  const GraphScope use_{graph_};
};

TEST_F(ServingInputTest, ParsesExamples) {
  const ServingInputReceiver receiver = ParsingReceiver(
      {{.key = "x", .dtype = DType::kFloat, .shape = {2}},
       {.key = "n", .dtype = DType::kInt64, .shape = {}, .default_value = Tensor(int64_t{4})}})();
  ASSERT_EQ(receiver.receiver_tensors.size(), 1u);
  EXPECT_EQ(receiver.receiver_tensors[0].first, "examples");
  const Output examples = receiver.receiver_tensors[0].second;
  EXPECT_EQ(examples.node()->name(), "input_example_tensor");
  EXPECT_EQ(examples.dtype(), DType::kString);
  EXPECT_EQ(examples.shape(), PartialShape({-1}));
  const std::vector<float> x = {0.5f, 2};
  const std::string example = ExampleBuilder().Floats("x", x).Serialize();
  Session session(graph_);
  const auto values = session.Run({{examples, Tensor::Of<std::string>({example, example})}},
                                  {receiver.features["x"], receiver.features["n"]});
  EXPECT_EQ(values[0].shape(), Shape({2, 2}));
  EXPECT_EQ(Elements<float>(values[0]), (std::vector<float>{0.5f, 2, 0.5f, 2}));
  EXPECT_EQ(Elements<int64_t>(values[1]), (std::vector<int64_t>{4, 4}));
}

TEST_F(ServingInputTest, TakesFeaturesAsTheyAre) {
  const ServingInputReceiver receiver =
      RawReceiver({{.name = "image", .shape = PartialShape({-1, 784})}})();
  ASSERT_EQ(receiver.receiver_tensors.size(), 1u);
  EXPECT_EQ(receiver.receiver_tensors[0].first, "image");
  const Output image = receiver.features["image"];
  EXPECT_EQ(image.node()->name(), "image");
  EXPECT_EQ(image, receiver.receiver_tensors[0].second);
  EXPECT_EQ(image.shape(), PartialShape({-1, 784}));
}

TEST_F(ServingInputTest, ReadsRowsOfTheCensus) {
  const ServingInputReceiver receiver = CsvReceiver(data::CensusColumns(), {"income_bracket"})();
  const Output rows = receiver.receiver_tensors.at(0).second;
  EXPECT_EQ(receiver.receiver_tensors[0].first, "csv_row");
  EXPECT_EQ(rows.node()->name(), "csv_row");
  EXPECT_FALSE(receiver.features.Has("income_bracket"));
  Session session(graph_);
  const auto values = session.Run(
      {{rows, Tensor::Of<std::string>({"25, Private, 226802, 11th, 7, Never-married, Machine-op-"
                                       "inspct, Own-child, Black, Male, 0, 0, 40, United-States",
                                       "38,,1,,,,,,,,,,,"})}},
      {receiver.features["age"], receiver.features["workclass"],
       receiver.features["hours_per_week"]});
  EXPECT_EQ(values[0].shape(), Shape({2, 1}));
  EXPECT_EQ(Elements<int32_t>(values[0]), (std::vector<int32_t>{25, 38}));
  EXPECT_EQ(Elements<std::string>(values[1]), (std::vector<std::string>{" Private", ""}));
  EXPECT_EQ(Elements<int32_t>(values[2]), (std::vector<int32_t>{40, 0}));
}

TEST_F(ServingInputTest, TakesColumnsAsVectors) {
  const ServingInputReceiver receiver = JsonReceiver({{.name = "age", .dtype = DType::kFloat},
                                                      {.name = "label", .dtype = DType::kString},
                                                      {.name = "race", .dtype = DType::kString}},
                                                     {"label"})();
  ASSERT_EQ(receiver.receiver_tensors.size(), 2u);
  EXPECT_EQ(receiver.receiver_tensors[0].second.node()->name(), "Placeholder");
  EXPECT_EQ(receiver.receiver_tensors[1].second.node()->name(), "Placeholder_1");
  EXPECT_EQ(receiver.receiver_tensors[1].first, "race");
  EXPECT_EQ(receiver.receiver_tensors[1].second.shape(), PartialShape({-1}));
  EXPECT_EQ(receiver.features["race"].shape(), PartialShape({-1, 1}));
  EXPECT_EQ(receiver.features["age"].dtype(), DType::kFloat);
}

TEST_F(ServingInputTest, RefusesColumnsThatAreNotThere) {
  EXPECT_THROW(CsvReceiver(data::CensusColumns(), {"income"}), Error);
  EXPECT_THROW(JsonReceiver({{.name = "a"}}, {"a"}), Error);
  EXPECT_THROW(RawReceiver({}), Error);
  EXPECT_THROW(ParsingReceiver({}), Error);
}

}  // namespace
}  // namespace sextant
