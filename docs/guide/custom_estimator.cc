// Chapter 4: a model of your own, trained, evaluated and exported.
#include <sextant/sextant.h>

#include <cstdlib>
namespace sx = sextant;

sx::EstimatorSpec ModelFn(const sx::ModelFnArgs& args) {  // features, labels, mode, params, config
  auto x = sx::Reshape(args.features["image"], {-1, 28, 28, 1});
  x = sx::layers::Conv2D(x,
                         {.filters = 32, .kernel = 5, .padding = "SAME", .activation = sx::Relu});
  x = sx::layers::MaxPool2D(x, {.pool = 2, .strides = 2});
  x = sx::layers::Dense(sx::layers::Flatten(x), {.units = 1024, .activation = sx::Relu});
  x = sx::layers::Dropout(x, {.rate = 0.5f, .training = args.mode == sx::Mode::kTrain});
  auto logits = sx::layers::Dense(x, {.units = 10});
  return sx::heads::MultiClass(10).Spec(args, logits, sx::train::Adam({.learning_rate = 1e-4f}));
}

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 6000;
  auto estimator = sx::Estimator(ModelFn, {.model_dir = "runs/mnist"});  // also reads TF_CONFIG
  sx::TrainAndEvaluate(
      estimator,
      {.input_fn =
           [] { return sx::data::Mnist("train").Shuffle(10000).Repeat().Batch(128).Prefetch(); },
       .max_steps = steps},
      {.input_fn = [] { return sx::data::Mnist("test").Batch(1000); },
       .exporters = {sx::FinalExporter(
           "mnist", sx::RawReceiver({{"image", sx::DType::kFloat, {-1, 28, 28, 1}}}))}});
}
