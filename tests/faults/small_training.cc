#include "tests/faults/small_training.h"

#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/heads.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/activation.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

constexpr int kSize = 8;

// Noisy squares of three brightnesses.
data::Dataset Squares(int64_t count, int64_t seed) {
  return data::Range(count).Map(
      [](data::Element element, data::MapContext& context) {
        const int64_t label = element.fields()[0].second.scalar<int64_t>() % 3;
        Tensor image(DType::kFloat, Shape({kSize, kSize, 1}));
        for (float& pixel : image.flat<float>()) {
          pixel = static_cast<float>(label) / 3 + 0.4f * UniformFloat(context.random.Next()[0]);
        }
        return data::Element{{"image", image}, {"label", Tensor(label)}};
      },
      {.seed = seed});
}

data::Element Distort(data::Element element, data::MapContext& context) {
  const float brighter = 0.2f * UniformFloat(context.random.Next()[0]);
  for (float& pixel : element["image"].flat<float>()) pixel += brighter;
  return element;
}

Input TrainInput() {
  return Squares(200, 1)
      .Shuffle(50, {.seed = 3})
      .Map(Distort, {.parallel = 2, .seed = 4})
      .Repeat()
      .Batch(16);
}
Input EvalInput() { return Squares(60, 2).Batch(16); }

EstimatorSpec Model(const ModelFnArgs& args) {
  const bool training = args.mode == Mode::kTrain;
  Output x = args.features["image"];
  {
    const VariableScope scope("conv");
    x = layers::Conv2D(x, {.filters = 4, .kernel = 3, .padding = "SAME"});
    x = Relu(layers::BatchNorm(x, {.training = training}));
  }
  summaries::Histogram("activations", x);
  const VariableScope scope("dense");
  x = layers::Dense(layers::Flatten(x), {.units = 16, .activation = Relu});
  x = layers::Dropout(x, {.rate = 0.3f, .training = training});
  const Output logits = layers::Dense(x, {.units = 3});
  return heads::MultiClass(3).Spec(args, logits, [](Output loss) {
    std::vector<Variable> conv, dense;
    for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
      (variable.name().starts_with("conv/") ? conv : dense).push_back(variable);
    }
    return Group(
        {train::Momentum({.learning_rate = 0.01, .momentum = 0.9})
             .Minimize(loss, {.variables = conv}),
         train::Adam({.learning_rate = 0.003})
             .Minimize(loss, {.variables = dense, .global_step = train::GetOrCreateGlobalStep()})},
        "both");
  });
}

}  // namespace

void TrainSmallModel(const std::string& model_dir, int64_t steps,
                     std::shared_ptr<CancellationToken> cancellation) {
  const Estimator estimator(Model, {.model_dir = model_dir,
                                    .random_seed = 11,
                                    .save_summary_steps = 7,
                                    .save_checkpoints_steps = 20,
                                    .log_step_count_steps = 10,
                                    .cancellation = std::move(cancellation)});
  const auto receiver = RawReceiver({{"image", DType::kFloat, {-1, kSize, kSize, 1}}});
  TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = steps},
                   {.input_fn = EvalInput,
                    .exporters = {LatestExporter("latest", receiver, {.exports_to_keep = 3}),
                                  BestExporter("best", receiver, Larger("accuracy")),
                                  FinalExporter("final", receiver)},
                    .throttle_secs = 0});
}

}  // namespace sextant
