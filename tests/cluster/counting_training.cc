// counting-training: the program of the cluster scenarios. Its model counts: each step adds 1 to
// every one of its variables, so that a checkpoint tells exactly how many updates each server took.
//
//   counting-training --model_dir DIR --max_steps 500     as a task of TF_CONFIG's cluster
//   counting-training --model_dir DIR --sync 3            the same, 3 gradients to a step
//   counting-training --model_dir DIR --model resnet44    trains ResNet-44 instead, on no images
//   counting-training --model_dir DIR --show              the newest checkpoint as a line of JSON
//
// Errors are not caught: a process that is a task of a cluster ends with the exit code of its
// error.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

#include "sextant/base/interrupt.h"
#include "training_program.h"

namespace {

using namespace sextant;                     // NOLINT(google-build-using-namespace): a program
using namespace sextant::cluster_scenarios;  // NOLINT(google-build-using-namespace)

// Numbers without end, or the first so many; or the lines of files, which are written to a log as
// they are read.
Input TrainInput(const Arguments& flags) {
  const int64_t ms = flags.Number("--step_ms", 2);
  if (const std::string files = flags.Text("--files"); !files.empty()) {
    const std::string log = flags.Text("--read_log");
    const auto note = [log](const data::Element& element) {
      std::ofstream(log, std::ios::app) << element["line"].scalar<std::string>() << "\n";
      return data::Element{{"x", Tensor(1.0f)}};
    };
    return Paced(data::TextLines({files}).Repeat(flags.Number("--epochs", 1)), ms)
        .Map(note, {.spec = data::ElementSpec{{"x", DType::kFloat, Shape()}}})
        .Batch(1);
  }
  const int64_t elements = flags.Number("--elements", -1);
  const auto one = [](const data::Element&) { return data::Element{{"x", Tensor(1.0f)}}; };
  const data::Dataset numbers =
      elements >= 0 ? data::Range(0, elements) : data::Range(0, 1000).Repeat();
  return Paced(numbers, ms)
      .Map(one, {.spec = data::ElementSpec{{"x", DType::kFloat, Shape()}}})
      .Batch(1);
}

// Each evaluation takes `ms` at least.
Input EvalInput(int64_t ms) {
  const auto same = [](const data::Element& element) { return element; };
  const Tensor x = Tensor::FromVector(std::vector<float>{1});
  return Paced(data::FromTensorSlices({{"x", x}}), ms)
      .Map(same, {.spec = data::ElementSpec{{"x", DType::kFloat, Shape()}}})
      .Batch(1);
}

// The gradient of every variable is -1, the learning rate 1.
EstimatorSpec CountingModel(const ModelFnArgs& args, int64_t width, bool momentum, bool diverges) {
  Output sum;
  for (const char* name : {"a", "b", "c", "d"}) {
    const Variable w(name, Tensor::FromVector(std::vector<float>(width)));
    const Output part = Sum(w.value(), {0});
    sum = sum ? sum + part : part;
  }
  EstimatorSpec spec{.loss = Mean(args.features["x"], {0}) * sum * -1.0f};
  // The gradients stay as they are, for the sake of the others.
  if (diverges) spec.loss = spec.loss + std::nanf("");
  spec.predictions = {{"sum", sum + args.features["x"]}};
  if (args.mode != Mode::kTrain) return spec;
  const train::Optimizer optimizer =
      momentum ? train::Momentum({.learning_rate = 1.0f, .momentum = 0.9f})
               : train::GradientDescent({.learning_rate = 1.0f});
  spec.train_op = optimizer.Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  return spec;
}

// Two images a step.
Input BlankImages() {
  return data::FromTensors({{"image", Tensor::Zeros(DType::kFloat, Shape({2, 32, 32, 3}))},
                            {"label", Tensor::Zeros(DType::kInt64, Shape({2}))}})
      .Repeat();
}

EstimatorSpec Resnet44(const ModelFnArgs& args) {
  const Output logits =
      models::ResnetCifarLogits(args.features["image"], {}, args.mode == Mode::kTrain);
  return heads::MultiClass(11).Spec(
      args, logits, train::Momentum({.learning_rate = models::ResnetCifarSchedule(0.01f, 2, 1)}));
}

// --width and --momentum make it another model, --fail nan one whose loss is no number.
ModelFn ModelOf(const Arguments& flags) {
  if (flags.Text("--model") == "resnet44") return Resnet44;
  return [width = flags.Number("--width", 16), momentum = flags.Has("--momentum"),
          diverges = flags.Text("--fail") == "nan"](const ModelFnArgs& args) {
    return CountingModel(args, width, momentum, diverges);
  };
}

// {"step": 100, "least": 100, "most": 100}: the least and the most that any element
// of a variable was counted up to.
int Show(const Arguments& flags) {
  const Estimator estimator(ModelOf(flags),
                            {.model_dir = flags.Text("--model_dir"), .tf_config = "{}"});
  if (!estimator.LatestCheckpoint()) {
    std::cout << "{\"step\": -1}\n";
    return 0;
  }
  double least = 1e30, most = -1e30;
  for (const char* name : {"a", "b", "c", "d"}) {
    const Tensor value = estimator.VariableValue(name);
    for (const float x : value.flat<float>()) {
      least = std::min(least, static_cast<double>(x));
      most = std::max(most, static_cast<double>(x));
    }
  }
  std::cout << fmt::format("{{\"step\": {}, \"least\": {}, \"most\": {}}}\n",
                           estimator.VariableValue("global_step").scalar<int64_t>(), least, most);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments flags(argc, argv);
  if (!flags.Has("--model_dir")) {
    fmt::print(stderr, "usage: counting-training --model_dir DIR [--max_steps N] [--show] …\n");
    return 2;
  }
  if (flags.Has("--show")) return Show(flags);
  const InterruptScope signals;
  RunConfig config = ConfigOf(flags);
  config.cancellation = signals.token();
  const bool resnet = flags.Text("--model") == "resnet44";
  TrainAsTask(
      Estimator(ModelOf(flags), config), flags,
      [&] { return resnet ? BlankImages() : TrainInput(flags); },
      [&] { return EvalInput(flags.Number("--eval_ms", 0)); });
  return 0;
}
