#include "tests/conformance/own_models.h"

#include <nlohmann/json.hpp>

#include "sextant/models/mnist_convnet.h"
#include "sextant/models/resnet_cifar.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/nn/cross_entropy.h"
#include "sextant/train/clip_gradients.h"
#include "tests/conformance/json_estimators.h"
#include "tests/conformance/json_values.h"
#include "tests/conformance/sequence_model.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

Variable GlobalStep() { return Variable("global_step", Tensor(int64_t{0}), {.trainable = false}); }

void Finish(OwnTraining& training, const train::Optimizer& optimizer, Output loss,
            const std::vector<Operation>& before) {
  training.fetched["loss"] = loss;
  training.gradients = optimizer.ComputeGradients(loss);
  const ControlDependencies after(before);
  training.train_op = optimizer.ApplyGradients(training.gradients, GlobalStep());
}

OwnTraining Mnist(const json& p) {
  OwnTraining t;
  t.inputs["images"] = Placeholder(DType::kFloat, PartialShape({-1, 784}), "images");
  t.inputs["labels"] = Placeholder(DType::kInt64, PartialShape({-1}), "labels");
  const Output logits =
      models::MnistConvnetLogits(t.inputs["images"],
                                 {.kernel = p.at("k"),
                                  .channels1 = p.at("c1"),
                                  .channels2 = p.at("c2"),
                                  .units = p.at("dense"),
                                  .classes = p.at("classes"),
                                  .pool = p.at("pool"),
                                  .activation = models::ActivationByName(p.at("act")),
                                  .dropout = p.at("dropout")},
                                 true);
  const Output loss = losses::SparseSoftmaxCrossEntropy(t.inputs["labels"], logits);
  Finish(t, OptimizerFromJson(p.at("optimizer")), loss, {});
  return t;
}

OwnTraining Resnet(const json& p) {
  OwnTraining t;
  const Output images = Placeholder(DType::kUInt8, PartialShape({-1, 32, 32, 3}), "images");
  const Output labels = Placeholder(DType::kInt32, PartialShape({-1}), "labels");
  t.inputs = {{"images", images}, {"labels", labels}};
  Output logits;
  {
    const VariableScope scope("resnet");
    logits = models::ResnetCifarLogits(Cast(images, DType::kFloat),
                                       {.units_per_stage = p.at("n"),
                                        .widths = p.at("widths").get<std::vector<int64_t>>(),
                                        .classes = p.at("classes"),
                                        .batch_norm_decay = p.at("bn_decay"),
                                        .batch_norm_epsilon = p.at("bn_eps"),
                                        .batch_norm_name = "batch_normalization"},
                                       true);
  }
  const Output cross_entropy = losses::SparseSoftmaxCrossEntropy(labels, logits);
  std::vector<Output> norms;
  for (const Variable& v : CollectedVariables(kTrainableVariables)) norms.push_back(L2Loss(v));
  const Output loss = cross_entropy + p.at("wd").get<double>() * AddN(norms);
  t.fetched["cross_entropy"] = cross_entropy;
  t.fetched["accuracy"] =
      Mean(Cast(Equal(Cast(ArgMax(logits, 1), DType::kInt32), labels), DType::kFloat), 0);
  std::vector<Operation> updates;
  for (const Output& update : CurrentGraph().Collection(kUpdateOps)) updates.push_back(update);
  Finish(t, OptimizerFromJson(p.at("optimizer")), loss, updates);
  return t;
}

OwnTraining Seq2Seq(const json& p) {
  OwnTraining t;
  const Output ids = Placeholder(DType::kInt32, PartialShape({-1, -1}), "ids");
  t.inputs["ids"] = ids;
  const Output logits = SequenceModelLogits(ids,
                                            {.vocabulary = p.at("vocab"),
                                             .embedding = p.at("embed"),
                                             .units = p.at("units"),
                                             .cell = p.at("cell")},
                                            true);
  const Output by_position =
      SparseSoftmaxCrossEntropyWithLogits(Reshape(logits, {-1, p.at("vocab").get<int64_t>()}),
                                          Reshape(ids, {-1}))
          .loss;
  const Output loss = Mean(by_position, 0);
  const train::Optimizer optimizer = OptimizerFromJson(p.at("optimizer"));
  t.fetched["loss"] = loss;
  t.gradients = optimizer.ComputeGradients(loss);
  std::vector<Gradient> values;
  for (const train::GradientAndVariable& pair : t.gradients) values.push_back(pair.gradient);
  const auto [clipped, norm] = train::ClipByGlobalNorm(values, p.at("clip").get<float>());
  t.fetched["global_norm"] = norm;
  std::vector<train::GradientAndVariable> applied = t.gradients;
  for (size_t i = 0; i < applied.size(); ++i) applied[i].gradient = clipped[i];
  t.train_op = optimizer.ApplyGradients(applied, GlobalStep());
  return t;
}

// A canned estimator, by its estimator.json.
OwnTraining Canned(const json& e, const std::map<std::string, Tensor>& batch) {
  OwnTraining t;
  Features features, labels;
  for (const auto& [key, value] : batch) {
    const Output input = Placeholder(value.dtype(), PartialShape({-1}));
    t.inputs[key] = input;
    (key == "label" ? labels : features).Set(key, input);
  }
  const Estimator estimator = EstimatorFromJson(e, {.model_dir = "unused"});
  const EstimatorSpec spec = estimator.model_fn()(
      {features, labels, Mode::kTrain, estimator.params(), estimator.config()});
  t.fetched["loss"] = spec.loss;
  t.train_op = spec.train_op;
  for (const Output& table : CurrentGraph().Collection("table_initializer")) {
    t.run_first.push_back(table);
  }
  return t;
}

}  // namespace

std::optional<OwnTraining> BuildOwnTraining(const std::string& directory, const json& record,
                                            const std::map<std::string, Tensor>& first_batch) {
  const std::string name = record.at("name");
  const json& params = record.at("params");
  if (name == "mnist_convnet") return Mnist(params);
  if (name == "resnet_cifar") return Resnet(params);
  if (name.starts_with("seq2seq")) return Seq2Seq(params);
  if (name.starts_with("census"))
    return Canned(ReadJson(directory + "/estimator.json"), first_batch);
  return std::nullopt;
}

}  // namespace sextant::conformance
