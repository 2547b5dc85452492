// Synchronous data parallelism in one graph (all-reduce between the devices of a process). The
// model function is called once for each device, as a replica, in a device scope and a name scope
// of its own; variables are made by the first replica and used by all. With n devices a step is
//
//   batch i → replica i: loss_i, gradients g_i      for i = 0 … n-1, on device i
//   reduce: g = (g_0 + … + g_{n-1}) / n             one_device, tree or ring
//   (train/replica_gradients.h) update each variable once with g
//
// Invariant: the update is that of one device with a batch n times as large, where the loss is a
// mean over equally large batches; for a loss that is a sum the gradients are summed and not
// divided. Batches are taken in the order of the devices, by control dependencies, so that runs
// repeat.
//
// Evaluation must see every batch once. Their number need not be a multiple of n: FillLastStep pads
// with batches of no rows, which metrics add nothing for, and the mean of the losses leaves out.
// Example: 5 batches on 2 devices are 3 steps, (0, 1), (2, 3), (4, empty).
//
// The ring reduction is that of Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", JPDC 2009.
#include "sextant/estimator/mirrored_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/train/replica_gradients.h"

namespace sextant {
namespace {

using Batch = std::pair<Features, Features>;

std::vector<Operation> NodesOf(const Features& features) {
  std::vector<Operation> nodes;
  for (const auto& [name, value] : features.fields()) {
    const auto* dense = std::get_if<Output>(&value);
    nodes.push_back(dense ? *dense : std::get<SparseTensor>(value).values);
  }
  return nodes;
}

// One after the other, so that batches come in the order of the devices whatever runs first.
std::vector<Batch> TakeBatches(const std::function<Batch()>& next_batch, size_t count) {
  std::vector<Batch> batches = {next_batch()};
  while (batches.size() < count) {
    std::vector<Operation> before = NodesOf(batches.back().first);
    const std::vector<Operation> labels = NodesOf(batches.back().second);
    before.insert(before.end(), labels.begin(), labels.end());
    std::optional<ControlDependencies> after;
    if (!before.empty()) after.emplace(before);
    batches.push_back(next_batch());
  }
  return batches;
}

// Rows of the batch; none when it has no tensor that tells.
Output RowsOf(const Batch& batch) {
  for (const Features* features : {&batch.second, &batch.first}) {
    for (const auto& [name, value] : features->fields()) {
      const auto* dense = std::get_if<Output>(&value);
      if (dense == nullptr || (dense->shape().rank_known() && dense->shape().rank() == 0)) continue;
      return SumOfAll(Cast(Size(*dense), DType::kInt64));
    }
  }
  return {};
}

// The loss of a batch without rows counts nothing, and may be anything.
Metric MeanLoss(Output loss, const Batch& batch) {
  const NameScope scope("mean_loss");
  const Output rows = RowsOf(batch);
  if (!rows) return metrics::Mean(loss);
  const Output any = Greater(rows, ScalarLike(0, rows));
  const Output value = Cast(loss, DType::kFloat);
  return metrics::Mean(SelectV2(any, value, ZerosLike(value)),
                       {.weights = Cast(any, DType::kFloat)});
}

bool HasLossMetric(const EstimatorSpec& spec) {
  return std::any_of(spec.eval_metrics.begin(), spec.eval_metrics.end(),
                     [](const auto& metric) { return metric.first == "loss"; });
}

Output ReduceLoss(const std::vector<EstimatorSpec>& specs, LossReduction reduction,
                  const ReplicaOptions& options) {
  std::vector<Output> losses;
  for (const EstimatorSpec& spec : specs) {
    if (!spec.loss) return {};
    losses.push_back(spec.loss);
  }
  const NameScope scope("merge_loss");
  const DeviceScope device(options.devices[0]);
  const Output sum = train::SumOverReplicas(losses, options);
  return reduction == LossReduction::kSum ? sum : sum / static_cast<double>(losses.size());
}

// Replicas share the state of a metric; the last one's update sees the others'.
NamedMetrics MergeMetrics(const std::vector<EstimatorSpec>& specs) {
  NamedMetrics merged = specs[0].eval_metrics;
  for (size_t m = 0; m < merged.size(); ++m) {
    std::vector<Operation> updates;
    for (const EstimatorSpec& spec : specs) {
      if (m >= spec.eval_metrics.size() || spec.eval_metrics[m].first != merged[m].first) {
        throw InvalidArgument("not every replica has the metric '{}'", merged[m].first);
      }
      updates.push_back(spec.eval_metrics[m].second.update);
    }
    const ControlDependencies after(updates);
    merged[m].second.update = Identity(specs.back().eval_metrics[m].second.update);
  }
  return merged;
}

}  // namespace

std::vector<std::string> DevicesOf(const MirroredStrategy& strategy,
                                   const SessionOptions& session) {
  if (strategy.devices.empty()) {
    std::vector<std::string> all;
    for (int i = 0; i < session.host_devices; ++i) all.push_back(fmt::format("/cpu:{}", i));
    return all;
  }
  std::set<std::string> seen;
  for (const std::string& device : strategy.devices) {
    if (!seen.insert(DeviceName::Parse(device).ToString()).second) {
      throw InvalidArgument("a mirrored strategy names the device {} twice", device);
    }
  }
  return strategy.devices;
}

SessionOptions SessionFor(const MirroredStrategy& strategy, SessionOptions session) {
  for (const std::string& device : strategy.devices) {
    const DeviceName name = DeviceName::Parse(device);
    if (name.type != "CPU" || !name.index) continue;
    session.host_devices = std::max(session.host_devices, *name.index + 1);
  }
  return session;
}

EstimatorSpec BuildMirrored(const MirroredStrategy& strategy,
                            const std::function<Batch()>& next_batch, const ModelFn& model_fn,
                            Mode mode, const HParams& params, const RunConfig& config) {
  const ReplicaOptions options{.devices = DevicesOf(strategy, config.session),
                               .reduction = strategy.reduction};
  const size_t count = options.devices.size();
  std::vector<Batch> batches = TakeBatches(next_batch, count);
  const auto call = [&](const Batch& batch) {
    return model_fn({batch.first, batch.second, mode, params, config});
  };
  if (count == 1) return call(batches[0]);

  std::vector<EstimatorSpec> specs(count);
  LossReduction reduction = LossReduction::kMean;
  BuildReplicas(
      static_cast<int>(count),
      [&](int i) {
        specs[i] = call(batches[i]);
        if (i == 0) reduction = Replica::Current()->loss_reduction();
        if (mode != Mode::kEval || !specs[i].loss || HasLossMetric(specs[i])) return;
        specs[i].eval_metrics.emplace_back("loss", MeanLoss(specs[i].loss, batches[i]));
      },
      options);
  EstimatorSpec merged = specs[0];
  merged.loss = ReduceLoss(specs, reduction, options);
  if (mode == Mode::kEval) merged.eval_metrics = MergeMetrics(specs);
  return merged;
}

data::Dataset FillLastStep(const data::Dataset& dataset, int devices) {
  if (devices <= 1) return dataset;
  data::Element empty;
  for (const data::FieldSpec& field : dataset.Spec()) {
    if (!field.shape.rank_known() || field.shape.rank() == 0) return dataset;
    std::vector<int64_t> dims = {0};
    for (int i = 1; i < field.shape.rank(); ++i) {
      dims.push_back(std::max<int64_t>(field.shape[i], 0));
    }
    empty.Set(field.name, Tensor(field.dtype, Shape(dims)));
  }
  return dataset.Concatenate(data::FromTensors(empty).Repeat(devices - 1));
}

}  // namespace sextant
