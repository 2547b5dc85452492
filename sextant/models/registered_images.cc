#include "sextant/base/error.h"
#include "sextant/data/cifar10.h"
#include "sextant/data/mnist.h"
#include "sextant/estimator/heads.h"
#include "sextant/graph/scope.h"
#include "sextant/models/mnist_convnet.h"
#include "sextant/models/registry.h"
#include "sextant/models/resnet_cifar.h"
#include "sextant/models/simple_net.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/parsing/decode_raw.h"
#include "sextant/train/optimizers.h"
#include "sextant/train/schedules.h"

namespace sextant::models {
namespace {

bool Training(const ModelFnArgs& args) { return args.mode == Mode::kTrain; }

// Beside those that every model has.
std::vector<ModelParam> With(int64_t train_steps, int64_t train_batch, int64_t eval_batch,
                             std::vector<ModelParam> own) {
  std::vector<ModelParam> params = UsualParams(train_steps, 0, train_batch, eval_batch, "images");
  params.insert(params.end(), own.begin(), own.end());
  return params;
}

void RefuseFiles(const ModelData& data, const char* data_set) {
  if (data.train_files.empty() && data.eval_files.empty()) return;
  throw InvalidArgument(
      "this model reads the files of a folder; give --data FOLDER, as made by "
      "`sextant data {}`, instead of files",
      data_set);
}

ServingInputFn RawImages(std::vector<int64_t> shape) {
  shape.insert(shape.begin(), -1);
  return RawReceiver({{"image", DType::kFloat, PartialShape(shape)}});
}

// Examples as `sextant data` writes them: pixels as bytes, channel by channel.
ServingInputFn ImageExamples(std::vector<int64_t> shape, std::function<Output(Output)> prepare) {
  return [shape = std::move(shape), prepare = std::move(prepare)] {
    ServingInputReceiver receiver =
        ParsingReceiver({{.key = "image", .dtype = DType::kString, .shape = {}}})();
    std::vector<int64_t> batch = shape;
    batch.insert(batch.begin(), -1);
    const Output pixels = Reshape(DecodeRaw(receiver.features["image"], DType::kUInt8), batch);
    receiver.features.Set("image", prepare(Cast(pixels, DType::kFloat)));
    return receiver;
  };
}

Input MnistTrain(const HParams& params, const ModelData& data) {
  RefuseFiles(data, "mnist");
  return data::Mnist("train", data.folder)
      .Shuffle(10000, {.seed = data.seed})
      .Repeat()
      .Batch(BatchPerDevice(params, "train_batch_size", data))
      .Prefetch();
}

Input MnistEval(const HParams& params, const ModelData& data) {
  RefuseFiles(data, "mnist");
  return data::Mnist("test", data.folder)
      .Batch(BatchPerDevice(params, "eval_batch_size", data))
      .Prefetch();
}

EstimatorSpec MnistModel(const ModelFnArgs& args) {
  const Output images = Reshape(args.features["image"], {-1, 784});
  const Output logits = MnistConvnetLogits(
      images, {.dropout = static_cast<float>(args.params.Get<double>("dropout"))}, Training(args));
  return heads::MultiClass(10).Spec(
      args, logits, train::Adam({.learning_rate = args.params.Get<double>("learning_rate")}));
}

Input Cifar10Train(const HParams& params, const ModelData& data) {
  RefuseFiles(data, "cifar10");
  const int64_t batch = BatchPerDevice(params, "train_batch_size", data);
  const int64_t shuffle = 18000 + 3 * batch;  // 0.4 of the 45,000 images the schedule counts with
  if (params.Get<bool>("use_distortion_for_training", true)) {
    return data::DistortedCifar10("train", data.folder,
                                  {.batch = batch, .shuffle = shuffle, .seed = data.seed})
        .Prefetch();
  }
  return data::Cifar10("train", data.folder)
      .Shuffle(shuffle, {.seed = data.seed})
      .Repeat()
      .Batch(batch)
      .Prefetch();
}

Input Cifar10Eval(const HParams& params, const ModelData& data) {
  RefuseFiles(data, "cifar10");
  return data::Cifar10("eval", data.folder)
      .Batch(BatchPerDevice(params, "eval_batch_size", data))
      .Prefetch();
}

train::LearningRate ResnetSchedule(const HParams& params) {
  return ResnetCifarSchedule(static_cast<float>(params.Get<double>("learning_rate")),
                             params.Get<int64_t>("train_batch_size"),
                             params.Get<int64_t>("num_workers"));
}

EstimatorSpec ResnetModel(const ModelFnArgs& args) {
  const HParams& params = args.params;
  Output logits;
  {
    const VariableScope scope("resnet");
    logits = ResnetCifarLogits(
        args.features["image"],
        {.units_per_stage = UnitsPerStage(params.Get<int64_t>("num_layers")),
         .batch_norm_decay = static_cast<float>(params.Get<double>("batch_norm_decay")),
         .batch_norm_epsilon = static_cast<float>(params.Get<double>("batch_norm_epsilon")),
         .data_format =
             params.Get<std::string>("data_format") == "channels_first" ? "NCHW" : "NHWC"},
        Training(args));
  }
  // All trainable variables decay, biases and batch normalisation too.
  std::vector<Output> squares;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    squares.push_back(L2Loss(variable));
  }
  const auto decay = static_cast<float>(params.Get<double>("weight_decay"));
  CurrentGraph().AddToCollection(kRegularizationLosses, AddN(squares) * decay);
  return heads::MultiClass(11).Spec(args, logits,
                                    train::Momentum({.learning_rate = ResnetSchedule(params),
                                                     .momentum = params.Get<double>("momentum")}));
}

EstimatorSpec SimpleModel(const ModelFnArgs& args) {
  const Output logits = SimpleNetLogits(
      args.features["image"] / 255.0f - 0.5f,
      {.dropout = static_cast<float>(args.params.Get<double>("dropout"))}, Training(args));
  return heads::MultiClass(10).Spec(
      args, logits, train::Adam({.learning_rate = args.params.Get<double>("learning_rate")}));
}

Output ChannelsLast(Output images) { return Transpose(images, {0, 2, 3, 1}); }

std::vector<std::pair<std::string, std::function<ServingInputFn(const HParams&)>>>
Cifar10Receivers() {
  return {{"raw",
           [](const HParams&) {
             return RawImages({32, 32, 3});
           }},
          {"example", [](const HParams&) {
             return ImageExamples({3, 32, 32}, ChannelsLast);
           }}};
}

}  // namespace

RegisteredModel MnistConvnet() {
  return {
      .name = "mnist",
      .description = "A convolutional net that reads handwritten digits.",
      .data_set = "mnist",
      .params = With(6000, 50, 1000,
                     {{"learning_rate", 1e-4, "of Adam", AtLeast(0)},
                      {"dropout", 0.5, "share of the 1,024 units left out in training", Share()}}),
      .model_fn = [](const HParams&) { return MnistModel; },
      .train_input = MnistTrain,
      .eval_input = MnistEval,
      .receivers = {{"raw",
                     [](const HParams&) {
                       return RawImages({28, 28, 1});
                     }},
                    {"example", [](const HParams&) {
                       return ImageExamples({28, 28, 1},
                                            [](Output pixels) { return pixels * (1.0 / 255.0); });
                     }}}};
}

RegisteredModel Cifar10Resnet() {
  return {.name = "cifar10_resnet",
          .description = "ResNet-(6n+2) on CIFAR-10.",
          .data_set = "cifar10",
          .params = With(
              80000, 128, 100,
              {{"num_layers", 44, "depth: 6 n + 2", Between(8, kMostResnetCifarLayers)},
               {"learning_rate", 0.1, "until epoch 82; then 0.1, 0.01, 0.002 of it", AtLeast(0)},
               {"momentum", 0.9, "of the optimizer", Between(0, 1)},
               {"weight_decay", 2e-4, "of all variables", AtLeast(0)},
               {"use_distortion_for_training", true, "pad, crop and flip images"},
               {"batch_norm_decay", 0.997, "of the moving averages", Between(0, 1)},
               {"batch_norm_epsilon", 1e-5, "added to variances", AtLeast(0)},
               {"data_format", "channels_last", "or channels_first",
                OneOf({"channels_last", "channels_first"})},
               {"num_workers", 1, "that train together: for the schedule", Between(1, 1 << 20)}}),
          .model_fn =
              [](const HParams& params) {
                UnitsPerStage(params.Get<int64_t>("num_layers"));  // throws when there are none
                ResnetSchedule(params);
                return ResnetModel;
              },
          .train_input = Cifar10Train,
          .eval_input = Cifar10Eval,
          .receivers = Cifar10Receivers()};
}

RegisteredModel Cifar10Simple() {
  return {
      .name = "cifar10_simple",
      .description = "Two convolutions and two dense layers on CIFAR-10.",
      .data_set = "cifar10",
      .params = With(100000, 16, 100,
                     {{"learning_rate", 1e-4, "of Adam", AtLeast(0)},
                      {"dropout", 0.4, "share of the 1,024 units left out in training", Share()},
                      {"use_distortion_for_training", false, "pad, crop and flip images"}}),
      .model_fn = [](const HParams&) { return SimpleModel; },
      .train_input = Cifar10Train,
      .eval_input = Cifar10Eval,
      .receivers = Cifar10Receivers()};
}

}  // namespace sextant::models
