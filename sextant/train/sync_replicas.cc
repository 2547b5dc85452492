#include "sextant/train/sync_replicas.h"

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/graph/gradient_mark.h"
#include "sextant/graph/scope.h"
#include "sextant/train/optimizer_impl.h"

namespace sextant::train {
namespace {

thread_local const SyncReplicasOptions* current_sync_replicas = nullptr;

// With the defaults filled in.
SyncReplicasOptions CheckedOptions(SyncReplicasOptions options) {
  if (options.total_num_replicas == 0) options.total_num_replicas = options.replicas_to_aggregate;
  if (options.replicas_to_aggregate < 1 || options.total_num_replicas < 1) {
    throw InvalidArgument(
        "replicas_to_aggregate ({}) and total_num_replicas ({}) must be at least 1",
        options.replicas_to_aggregate, options.total_num_replicas);
  }
  if (options.deterministic && options.replicas_to_aggregate != options.total_num_replicas) {
    throw InvalidArgument(
        "deterministic synchronous training needs replicas_to_aggregate ({}) to be "
        "total_num_replicas ({})",
        options.replicas_to_aggregate, options.total_num_replicas);
  }
  LogInfo("SyncReplicasV2: replicas_to_aggregate={}; total_num_replicas={}",
          options.replicas_to_aggregate, options.total_num_replicas);
  return options;
}

class GradientMarker {
 public:
  explicit GradientMarker(const SyncReplicasOptions& options) : options_(options) {}

  std::vector<GradientAndVariable> Mark(const std::vector<GradientAndVariable>& gradients) const {
    const NameScope scope("sync_replicas");
    std::vector<GradientAndVariable> marked;
    for (const auto& [gradient, variable] : gradients)
      marked.push_back({Marked(gradient, variable), variable});
    return marked;
  }

 private:
  Gradient Marked(const Gradient& gradient, const Variable& variable) const {
    if (gradient.none()) return gradient;
    if (!gradient.sparse()) return Mark(gradient.dense(), variable, GradientMark::Kind::kDense);
    IndexedSlices rows = AddUpRows(gradient.slices());
    rows.values = Mark(rows.values, variable, GradientMark::Kind::kRows);
    rows.indices = Mark(rows.indices, variable, GradientMark::Kind::kIndices);
    return rows;
  }
  Output Mark(Output tensor, const Variable& variable, GradientMark::Kind kind) const {
    const DeviceScope beside(variable.handle().node()->device());
    return MarkGradient(tensor, {.kind = kind,
                                 .replicas_to_aggregate = options_.replicas_to_aggregate,
                                 .total_num_replicas = options_.total_num_replicas,
                                 .deterministic = options_.deterministic});
  }

  const SyncReplicasOptions& options_;
};

class SyncReplicasImpl : public OptimizerImpl {
 public:
  SyncReplicasImpl(Optimizer inner, const SyncReplicasOptions& options)
      : inner_(std::move(inner)), options_(options) {}

  const std::string& name() const override { return inner_.name(); }
  std::vector<std::string> SlotKeys() const override { return inner_.SlotKeys(); }
  const OptimizerImpl& slot_owner() const override { return inner_.impl()->slot_owner(); }
  bool marks_gradients() const override { return true; }

  Operation Apply(const std::vector<GradientAndVariable>& gradients, const Variable& global_step,
                  std::string_view name) const override {
    return inner_.impl()->Apply(GradientMarker(options_).Mark(gradients), global_step, name);
  }

 private:
  const Optimizer inner_;
  const SyncReplicasOptions options_;
};

}  // namespace

std::vector<GradientAndVariable> MarkInScope(const std::vector<GradientAndVariable>& gradients) {
  if (current_sync_replicas == nullptr) return gradients;
  return GradientMarker(*current_sync_replicas).Mark(gradients);
}

SyncReplicasScope::SyncReplicasScope(const SyncReplicasOptions& options)
    : options_(CheckedOptions(options)), outer_(current_sync_replicas) {
  current_sync_replicas = &options_;
}
SyncReplicasScope::~SyncReplicasScope() { current_sync_replicas = outer_; }

Optimizer SyncReplicas(const Optimizer& optimizer, const SyncReplicasOptions& options) {
  if (!optimizer)
    throw InvalidArgument("there is no optimizer whose replicas could be synchronous");
  return Optimizer(std::make_shared<SyncReplicasImpl>(optimizer, CheckedOptions(options)));
}

}  // namespace sextant::train
