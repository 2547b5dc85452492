#include "sextant/models/registry.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/models/census_columns.h"
#include "sextant/nn/feature_column.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/state/variable.h"

namespace sextant::models {
namespace {

TEST(RegistryTest, FindsModelsByName) {
  EXPECT_EQ(FindModel("wide_deep").data_set, "census");
  for (const RegisteredModel& model : RegisteredModels()) {
    const HParams params = DefaultParams(model);
    for (const char* name : {"train_steps", "eval_steps", "train_batch_size", "eval_batch_size"}) {
      EXPECT_GE(params.Get<int64_t>(name), 0) << model.name;
    }
    EXPECT_TRUE(model.model_fn(params)) << model.name;
    EXPECT_FALSE(model.receivers.empty()) << model.name;
  }
  try {
    FindModel("wide_and_deep");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.message(),
        "there is no model 'wide_and_deep'; did you mean wide_deep? There are cifar10_resnet, "
        "cifar10_simple, dnn, linear, mnist, sequence_autoencoder, wide_deep");
  }
}

// Every model builds and its receivers fit it.
TEST(RegistryTest, ServesEveryModelByEveryReceiver) {
  for (const RegisteredModel& model : RegisteredModels()) {
    const HParams params = DefaultParams(model);
    for (const auto& [name, make] : model.receivers) {
      Graph graph;
      const GraphScope use(graph);
      const RunConfig config;
      const ServingInputReceiver receiver = FindReceiver(model, params, name)();
      const EstimatorSpec spec = model.model_fn(params)({.features = receiver.features,
                                                         .mode = Mode::kPredict,
                                                         .params = params,
                                                         .config = config});
      EXPECT_FALSE(spec.predictions.empty()) << model.name << " " << name;
    }
  }
  EXPECT_THROW(FindReceiver(FindModel("mnist"), {}, "csv"), Error);
}

int64_t TrainableNumbers(const RegisteredModel& model) {
  Graph graph;
  const GraphScope use(graph);
  const RunConfig config;
  const HParams params = DefaultParams(model);
  model.model_fn(params)({.features = FindReceiver(model, params, "raw")().features,
                          .mode = Mode::kPredict,
                          .params = params,
                          .config = config});
  int64_t count = 0;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    count += variable.shape().num_elements();
  }
  return count;
}

// The numbers of the programs that the models come from.
TEST(RegistryTest, HasTheKnownNumbersOfParameters) {
  EXPECT_EQ(TrainableNumbers(FindModel("wide_deep")), 1020251 + 1 + 18879 + 1600);
  EXPECT_EQ(TrainableNumbers(FindModel("mnist")), 3274634);
  EXPECT_EQ(TrainableNumbers(FindModel("cifar10_resnet")), 658651);
  EXPECT_EQ(TrainableNumbers(FindModel("cifar10_simple")), 4259274);
  // Two tables, two GRUs (gates and candidate, with biases), the projection.
  EXPECT_EQ(TrainableNumbers(FindModel("sequence_autoencoder")),
            2 * 700 + 2 * (200 * 200 + 200 + 200 * 100 + 100) + 100 * 7 + 7);
}

TEST(RegistryTest, SaysWhichBatchFitsTheDevices) {
  HParams params{{"train_batch_size", 50}};
  EXPECT_EQ(BatchPerDevice(params, "train_batch_size", {.devices = 2}), 25);
  try {
    BatchPerDevice(params, "train_batch_size", {.devices = 4});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "train_batch_size 50 is no multiple of the 4 devices; try 48");
  }
}

TEST(RegistryTest, RefusesParametersThatDoNotFit) {
  const RegisteredModel& resnet = FindModel("cifar10_resnet");
  HParams params = DefaultParams(resnet);
  params.Parse("num_layers=45");
  EXPECT_THROW(resnet.model_fn(params), Error);
  const RegisteredModel& autoencoder = FindModel("sequence_autoencoder");
  params = DefaultParams(autoencoder);
  params.Parse("sequence_length=8");
  EXPECT_THROW(autoencoder.model_fn(params), Error);
  EXPECT_THROW(autoencoder.eval_input(DefaultParams(autoencoder), {.folder = "data"}), Error);
  const RegisteredModel& census = FindModel("wide_deep");
  params = DefaultParams(census);
  params.Parse("dnn_optimizer=Nothing,dnn_learning_rate=0.1");
  EXPECT_THROW(census.model_fn(params), Error);
}

TEST(RegistryTest, AsksForColumnsInTheOrderOfTheSample) {
  const auto columns = CensusRequestColumns();
  ASSERT_EQ(columns.size(), 13u);
  EXPECT_EQ(columns[8].name, "age");
  EXPECT_EQ(columns[8].dtype, DType::kFloat);
}

}  // namespace
}  // namespace sextant::models
