// Head::Spec: what all heads have in common.
#include "sextant/estimator/heads.h"

#include "sextant/base/error.h"
#include "sextant/estimator/head_impl.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/losses.h"
#include "sextant/nn/metrics.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/cast.h"
#include "sextant/train/global_step.h"

namespace sextant::heads {
namespace {

std::vector<Operation> UpdateOps() {
  const std::vector<Output> collected = CurrentGraph().Collection(kUpdateOps);
  return {collected.begin(), collected.end()};
}

Operation AfterUpdates(const std::function<Operation()>& build) {
  const std::vector<Operation> updates = UpdateOps();
  if (updates.empty()) return build();  // no dependencies at all would undo the outer ones
  const ControlDependencies after(updates);
  return build();
}

void Summarize(const std::string& head, Output loss, Output mean, Output penalty) {
  const NameScope root("");
  summaries::Scalar(KeyOf("loss", head), loss);
  if (mean) summaries::Scalar(KeyOf("average_loss", head), mean);
  if (penalty) summaries::Scalar(KeyOf("regularization_loss", head), penalty);
}

EstimatorSpec Build(const HeadImpl& head, const ModelFnArgs& args, Output logits,
                    const TrainOpFn& train_op) {
  EstimatorSpec spec{.mode = args.mode};
  Output mean, penalty;
  {
    const NameScope scope(head.name().empty() ? "head" : head.name());
    logits = CheckLogits(logits, head.logits_dimension());
    {
      const NameScope inside("predictions");
      spec.predictions = head.Predictions(logits);
    }
    spec.export_outputs = head.ExportOutputs(spec.predictions);
    if (args.mode == Mode::kPredict) return spec;

    const HeadLoss loss = head.Loss(args, logits, spec.predictions, args.mode == Mode::kEval);
    penalty = losses::RegularizationLoss();
    spec.loss = penalty ? AddN({loss.training, penalty}) : loss.training;
    mean = loss.mean;
    spec.eval_metrics = loss.metrics;
    if (args.mode == Mode::kEval) {
      if (penalty) {
        spec.eval_metrics.emplace_back(KeyOf("regularization_loss", head.name()),
                                       metrics::Mean(penalty, {.name = "regularization_loss"}));
      }
      return spec;
    }
    spec.train_op = train_op(spec.loss);
  }
  Summarize(head.summary_name(), spec.loss, mean, penalty);
  return spec;
}

}  // namespace

std::string KeyOf(const std::string& metric, const std::string& head) {
  return head.empty() ? metric : metric + "/" + head;
}

void CheckReduction(losses::Reduction reduction) {
  if (reduction == losses::Reduction::kNone) {
    throw InvalidArgument("loss_reduction must make one number of the losses, not kNone");
  }
}

Output CheckLogits(Output logits, int64_t dimension) {
  const PartialShape& shape = logits.shape();
  if (!shape.rank_known() || shape.rank() < 2 || shape[shape.rank() - 1] != dimension) {
    throw InvalidArgument("logits {} must be [batch, {}], their shape is {}", logits.name(),
                          dimension, shape.ToString());
  }
  return logits.dtype() == DType::kFloat ? logits : Cast(logits, DType::kFloat);
}

int64_t Head::logits_dimension() const { return impl_->logits_dimension(); }
const std::string& Head::name() const { return impl_->name(); }

EstimatorSpec Head::Spec(const ModelFnArgs& args, Output logits,
                         const train::Optimizer& optimizer) const {
  return Build(*impl_, args, logits, [&](Output loss) {
    const auto gradients = optimizer.ComputeGradients(loss);
    const Variable step = train::GetOrCreateGlobalStep();
    return AfterUpdates([&] { return optimizer.ApplyGradients(gradients, step); });
  });
}

EstimatorSpec Head::Spec(const ModelFnArgs& args, Output logits, const TrainOpFn& train_op) const {
  if (!train_op) throw InvalidArgument("the head needs an optimizer or a function that trains");
  return Build(*impl_, args, logits,
               [&](Output loss) { return AfterUpdates([&] { return train_op(loss); }); });
}

}  // namespace sextant::heads
