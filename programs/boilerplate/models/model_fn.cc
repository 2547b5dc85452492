#include "boilerplate/models/model_fn.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

sx::Output Named(sx::Output value, const char* name) {
  return sx::OpBuilder("Identity").Input(value).Name(name).Build();
}

}  // namespace

sx::ModelFn MakeModelFn(std::shared_ptr<const ModelInterface> model, int64_t classes) {
  return [model = std::move(model), classes](const sx::ModelFnArgs& args) {
    const bool training = args.mode == sx::Mode::kTrain;
    const sx::Output logits = model->Logits(args.features["image"], classes, training);
    const sx::Output best = sx::ArgMax(logits, 1);
    sx::EstimatorSpec spec{
        .mode = args.mode,
        .predictions = {{"classes", best}, {"probabilities", sx::Softmax(logits)}}};
    if (args.mode == sx::Mode::kPredict) {
      spec.export_outputs = {{"classify", {.outputs = spec.predictions}}};
      return spec;
    }
    const sx::Output labels = args.labels.only();
    spec.loss = sx::losses::SparseSoftmaxCrossEntropy(labels, logits);
    const sx::Metric accuracy = sx::metrics::Accuracy(labels, best, {.name = "accuracy"});
    if (!training) {
      spec.eval_metrics = {{"accuracy", accuracy}};
      return spec;
    }
    Named(sx::Const(sx::Tensor(static_cast<float>(model->learning_rate()))), kLoggedTensors[0]);
    Named(spec.loss, kLoggedTensors[1]);
    sx::summaries::Scalar("train_accuracy", Named(accuracy.update, kLoggedTensors[2]));
    const std::vector<sx::Output> updates = sx::CurrentGraph().Collection(sx::kUpdateOps);
    const sx::ControlDependencies after({updates.begin(), updates.end()});
    spec.train_op = sx::train::Adam({.learning_rate = model->learning_rate()})
                        .Minimize(spec.loss, {.global_step = sx::train::GetOrCreateGlobalStep()});
    return spec;
  };
}

sx::ServingInputFn ServingImages(const ImageShape& shape) {
  return [shape] {
    const sx::Output image =
        sx::Placeholder(sx::DType::kFloat,
                        sx::PartialShape({-1, shape.height, shape.width, shape.channels}), "image");
    sx::ServingInputReceiver receiver;
    receiver.features.Set("image", image / 255.0 - 0.5);
    receiver.receiver_tensors = {{"image", image}};
    return receiver;
  };
}

}  // namespace boilerplate
