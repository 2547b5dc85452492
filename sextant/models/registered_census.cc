#include <algorithm>
#include <cmath>

#include "sextant/base/error.h"
#include "sextant/data/census.h"
#include "sextant/data/named_file.h"
#include "sextant/estimator/canned_models.h"
#include "sextant/models/census_columns.h"
#include "sextant/models/census_input.h"
#include "sextant/models/mnist_convnet.h"
#include "sextant/models/registry.h"

namespace sextant::models {
namespace {

constexpr int64_t kMostUnits = 1 << 20;  // of a layer
constexpr int64_t kMostLayers = 1000;
constexpr int64_t kMostEpochs = int64_t{1} << 53;

heads::Head CensusHead() { return heads::Binary({.loss_reduction = losses::Reduction::kSum}); }

// With the rate given, or, where that is 0, the rate that goes with the model.
OptimizerChoice Optimizer(const HParams& params, const char* name, const char* rate) {
  OptimizerChoice optimizer = params.Get<std::string>(name);
  const auto learning_rate = params.Get<double>(rate);
  if (learning_rate == 0) return optimizer;
  return optimizer.Make(learning_rate);
}

// Those given, or layers that get smaller by a factor.
std::vector<int64_t> HiddenUnits(const HParams& params) {
  auto units = params.Get<std::vector<int64_t>>("hidden_units");
  if (!units.empty()) return units;
  const double first = static_cast<double>(params.Get<int64_t>("first_layer_size"));
  const auto scale = params.Get<double>("scale_factor");
  for (int64_t i = 0; i < params.Get<int64_t>("num_layers"); ++i) {
    const double size = first * std::pow(scale, static_cast<double>(i));
    if (!(size <= kMostUnits)) {
      throw InvalidArgument(
          "scale_factor {} makes hidden layer {} larger than {} units; choose a smaller one", scale,
          i + 1, kMostUnits);
    }
    units.push_back(std::max<int64_t>(2, static_cast<int64_t>(size)));
  }
  return units;
}

std::vector<std::string> Files(const std::string& file, const ModelData& data,
                               const std::vector<std::string>& files) {
  return files.empty() ? std::vector{data::NamedFile("census", data.folder, file)} : files;
}

bool IsRow(const data::Element& line) { return !line["line"].flat<std::string>()[0].empty(); }

// Lines are shuffled and then parsed: a line of text is a tenth of the size of its row of tensors.
Input TrainInput(const HParams& params, const ModelData& data) {
  const auto epochs = params.Get<int64_t>("num_epochs");
  const data::Dataset lines =
      data::TextLines(Files("adult.data.csv", data, data.train_files))
          .Filter(IsRow)
          .Shuffle(params.Get<int64_t>("shuffle_buffer"), {.seed = data.seed})
          .Repeat(epochs > 0 ? epochs : -1);
  return CensusInput(data::ParseCsv(lines, CensusRowOptions())
                         .Batch(BatchPerDevice(params, "train_batch_size", data)));
}

Input EvalInput(const HParams& params, const ModelData& data) {
  return CensusInput(data::Csv(Files("adult.test.csv", data, data.eval_files), CensusRowOptions())
                         .Batch(BatchPerDevice(params, "eval_batch_size", data)));
}

int64_t EmbeddingSize(const HParams& params) { return params.Get<int64_t>("embedding_size", 8); }

std::vector<columns::FeatureColumn> AllColumns(const HParams& params) {
  const CensusFeatureColumns columns = CensusFeatures(EmbeddingSize(params));
  auto all = columns.wide;
  all.insert(all.end(), columns.deep.begin(), columns.deep.end());
  return all;
}

ServingInputFn Example(const HParams& params) {
  return ParsingReceiver(columns::MakeParseExampleSpec(AllColumns(params)));
}
ServingInputFn Csv(const HParams&) { return CsvReceiver(data::CensusColumns(), {kCensusLabel}); }
ServingInputFn LabelledCsv(const HParams&) { return CsvReceiver(data::CensusColumns()); }
ServingInputFn Json(const HParams&) { return JsonReceiver(CensusRequestColumns()); }
ServingInputFn Raw(const HParams&) {
  std::vector<RawFeature> features;
  for (const data::CsvColumn& column : CensusRequestColumns()) {
    features.push_back({column.name, column.dtype, PartialShape({-1, 1})});
  }
  return RawReceiver(std::move(features));
}

RegisteredModel OnCensus(std::string name, std::string description, std::vector<ModelParam> own) {
  RegisteredModel model{.name = std::move(name),
                        .description = std::move(description),
                        .data_set = "census",
                        .params = UsualParams(1000, 100, 40, 40, "rows"),
                        .train_input = TrainInput,
                        .eval_input = EvalInput,
                        .receivers = {{"json", Json},
                                      {"csv", Csv},
                                      {"example", Example},
                                      {"raw", Raw},
                                      {"csv_with_label", LabelledCsv}}};
  model.params.push_back(
      {"shuffle_buffer", 32561, "rows to draw the next one from", Between(1, 1 << 30)});
  model.params.push_back(
      {"num_epochs", 0, "passes over the data; 0: as many as needed", Between(0, kMostEpochs)});
  model.params.insert(model.params.end(), own.begin(), own.end());
  return model;
}

std::vector<ModelParam> LinearParams(const char* prefix) {
  const std::string p = prefix;
  return {{p + "optimizer", "Ftrl", "of the linear part: Ftrl, Adam, SGD, ..."},
          {p + "learning_rate", 0.0, "of the linear part; 0: as the canned estimator", AtLeast(0)}};
}

std::vector<ModelParam> DeepParams(const char* prefix) {
  const std::string p = prefix;
  return {
      {"embedding_size", 8, "numbers for an occupation and for a country", Between(1, kMostUnits)},
      {"first_layer_size", 100, "units of the first hidden layer", Between(1, kMostUnits)},
      {"num_layers", 4, "hidden layers", Between(1, kMostLayers)},
      {"scale_factor",
       0.7,
       "size of a hidden layer by that of the one before",
       {.least = 0, .most = 1000, .above_least = true}},
      {"hidden_units", std::vector<int64_t>{}, "sizes of the hidden layers, instead",
       Between(1, kMostUnits)},
      {"activation", "relu", "of hidden layers", OneOf(ActivationNames())},
      {"dropout", 0.0, "share of hidden units left out in training", Share()},
      {"batch_norm", false, "batch normalisation after hidden layers"},
      {p + "optimizer", "Adagrad", "of the deep part"},
      {p + "learning_rate", 0.0, "of the deep part; 0: as the canned estimator", AtLeast(0)}};
}

}  // namespace

RegisteredModel CensusWideDeep() {
  std::vector<ModelParam> declared = DeepParams("dnn_");
  for (ModelParam& param : LinearParams("linear_")) declared.push_back(std::move(param));
  RegisteredModel model =
      OnCensus("wide_deep", "Wide & deep on the census data: who earns more than 50,000 a year?",
               std::move(declared));
  model.model_fn = [](const HParams& params) {
    CensusFeatureColumns columns = CensusFeatures(EmbeddingSize(params));
    return DNNLinearCombinedModelFn(
        {.linear_feature_columns = std::move(columns.wide),
         .linear_optimizer = Optimizer(params, "linear_optimizer", "linear_learning_rate"),
         .dnn_feature_columns = std::move(columns.deep),
         .dnn_optimizer = Optimizer(params, "dnn_optimizer", "dnn_learning_rate"),
         .dnn_hidden_units = HiddenUnits(params),
         .dnn_activation = ActivationByName(params.Get<std::string>("activation")),
         .dnn_dropout = static_cast<float>(params.Get<double>("dropout")),
         .batch_norm = params.Get<bool>("batch_norm")},
        CensusHead());
  };
  return model;
}

RegisteredModel CensusLinear() {
  RegisteredModel model =
      OnCensus("linear", "A linear model on the census data.", LinearParams(""));
  model.model_fn = [](const HParams& params) {
    return LinearModelFn({.feature_columns = CensusFeatures().wide,
                          .optimizer = Optimizer(params, "optimizer", "learning_rate")},
                         CensusHead());
  };
  return model;
}

RegisteredModel CensusDnn() {
  RegisteredModel model =
      OnCensus("dnn", "A network of dense layers on the census data.", DeepParams(""));
  model.model_fn = [](const HParams& params) {
    return DNNModelFn({.feature_columns = CensusFeatures(EmbeddingSize(params)).deep,
                       .hidden_units = HiddenUnits(params),
                       .optimizer = Optimizer(params, "optimizer", "learning_rate"),
                       .activation = ActivationByName(params.Get<std::string>("activation")),
                       .dropout = static_cast<float>(params.Get<double>("dropout")),
                       .batch_norm = params.Get<bool>("batch_norm")},
                      CensusHead());
  };
  return model;
}

}  // namespace sextant::models
