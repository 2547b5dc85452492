// Names, shapes and signatures of exported predictions. Expected values: tf.compat.v1.estimator of
// TensorFlow 2.15.1, and what the documents of TensorFlow 1.4 print.
#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/canned.h"
#include "sextant/runtime/saved_model.h"

namespace sextant {
namespace {

using Texts = std::map<std::string, std::string>;

class PredictionNamesTest : public testing::Test {
 protected:
  PredictionNamesTest() { SetLogLevel(LogLevel::kWarning); }

  RunConfig Config(const std::string& name) const {
    return {.model_dir = scratch_.path() + "/" + name, .random_seed = 1};
  }
  // One step on four rows, exported for the receiver.
  SavedModel Export(Estimator estimator, const ServingInputFn& receiver) const {
    estimator.Train(
        [] {
          data::Element rows;
          rows.Set("x", Tensor::Of<float>({4, 1}, {1, 2, 3, 4}));
          rows.Set("label", Tensor::Of<int64_t>({4, 1}, {0, 1, 0, 1}));
          return Input(data::FromTensors(rows).Repeat());
        },
        {.max_steps = 1});
    return SavedModel::Load(estimator.ExportSavedModel(estimator.model_dir() + "/out", receiver));
  }
  static Texts Outputs(const Signature& signature) {
    Texts texts;
    for (const auto& [key, output] : signature.outputs()) {
      texts[key] = output.name + " " + output.shape.ToString();
    }
    return texts;
  }

  const TemporaryDirectory scratch_;
  const std::vector<columns::FeatureColumn> x_ = {columns::Numeric("x")};
  const ServingInputFn json_ = JsonReceiver({{.name = "x", .dtype = DType::kFloat}});
  const ServingInputFn examples_ = ParsingReceiver(columns::MakeParseExampleSpec(x_));
};

TEST_F(PredictionNamesTest, OfAWideAndDeepClassifier) {
  const SavedModel model =
      Export(DNNLinearCombinedClassifier(
                 {.linear_feature_columns = x_, .dnn_feature_columns = x_, .dnn_hidden_units = {3}},
                 Config("wide_deep")),
             examples_);
  EXPECT_EQ(model.signature_keys(), (std::vector<std::string>{"classification", "predict",
                                                              "regression", "serving_default"}));
  EXPECT_EQ(Outputs(model.signature("predict")),
            (Texts{{"all_class_ids", "head/predictions/Tile:0 [?,2]"},
                   {"all_classes", "head/predictions/Tile_1:0 [?,2]"},
                   {"class_ids", "head/predictions/ExpandDims:0 [?,1]"},
                   {"classes", "head/predictions/str_classes:0 [?,1]"},
                   {"logistic", "head/predictions/logistic:0 [?,1]"},
                   {"logits", "add:0 [?,1]"},
                   {"probabilities", "head/predictions/probabilities:0 [?,2]"}}));
  EXPECT_EQ(Outputs(model.signature("classification")),
            (Texts{{"classes", "head/Tile:0 [?,2]"},
                   {"scores", "head/predictions/probabilities:0 [?,2]"}}));
  EXPECT_EQ(Outputs(model.signature("regression")),
            (Texts{{"outputs", "head/predictions/logistic:0 [?,1]"}}));
}

TEST_F(PredictionNamesTest, OfThreeClasses) {
  const SavedModel model =
      Export(LinearClassifier({.feature_columns = x_, .n_classes = 3}, Config("three")), examples_);
  const Texts outputs = Outputs(model.signature("predict"));
  EXPECT_EQ(outputs.at("all_class_ids"), "linear/head/predictions/Tile:0 [?,3]");
  EXPECT_EQ(outputs.at("all_classes"), "linear/head/predictions/Tile_1:0 [?,3]");
  EXPECT_EQ(outputs.at("class_ids"), "linear/head/predictions/ExpandDims_2:0 [?,1]");
  EXPECT_EQ(outputs.at("classes"), "linear/head/predictions/str_classes:0 [?,1]");
  EXPECT_EQ(outputs.at("probabilities"), "linear/head/predictions/probabilities:0 [?,3]");
  EXPECT_EQ(Outputs(model.signature("serving_default")).at("classes"), "linear/head/Tile:0 [?,3]");
}

TEST_F(PredictionNamesTest, AskedByFeaturesAModelOnlyPredicts) {
  const SavedModel model =
      Export(DNNLinearCombinedClassifier(
                 {.linear_feature_columns = x_, .dnn_feature_columns = x_, .dnn_hidden_units = {3}},
                 Config("json")),
             json_);
  EXPECT_EQ(model.signature_keys(), std::vector<std::string>{"predict"});
}

TEST_F(PredictionNamesTest, InTheStyleOfTensorFlow14) {
  const auto old = heads::PredictionStyle::kTensorFlow14;
  const SavedModel two = Export(DNNLinearCombinedClassifier({.linear_feature_columns = x_,
                                                             .dnn_feature_columns = x_,
                                                             .dnn_hidden_units = {3},
                                                             .prediction_style = old},
                                                            Config("old")),
                                json_);
  EXPECT_EQ(Outputs(two.signature("predict")),
            (Texts{{"class_ids", "head/predictions/classes:0 [?,1]"},
                   {"classes", "head/predictions/str_classes:0 [?,1]"},
                   {"logistic", "head/predictions/logistic:0 [?,1]"},
                   {"logits", "head/predictions/logits:0 [?,1]"},
                   {"probabilities", "head/predictions/probabilities:0 [?,2]"}}));
  const auto outputs = two.signature("predict").Run({{"x", Tensor::Of<float>({1, -1})}});
  for (int i = 0; i < 2; ++i) {
    const float logit = outputs.at("logits").data<float>()[i];
    const int64_t id = outputs.at("class_ids").data<int64_t>()[i];
    EXPECT_EQ(id, logit > 0 ? 1 : 0);
    EXPECT_EQ(outputs.at("classes").data<std::string>()[i], std::to_string(id));
  }
  const SavedModel three =
      Export(LinearClassifier({.feature_columns = x_, .n_classes = 3, .prediction_style = old},
                              Config("old3")),
             examples_);
  EXPECT_EQ(Outputs(three.signature("predict")),
            (Texts{{"class_ids", "linear/head/predictions/ExpandDims:0 [?,1]"},
                   {"classes", "linear/head/predictions/str_classes:0 [?,1]"},
                   {"logits", "linear/head/predictions/logits:0 [?,3]"},
                   {"probabilities", "linear/head/predictions/probabilities:0 [?,3]"}}));
}

}  // namespace
}  // namespace sextant
