#include "sextant/train/replica_gradients.h"

#include <optional>
#include <unordered_set>

#include "sextant/graph/attachment.h"
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"

namespace sextant::train {
namespace {

// Nodes that gave merged gradients.
using MergedNodes = std::unordered_set<const Node*>;

std::shared_ptr<MergedNodes> MergedIn(const Graph& graph) {
  return AttachedTo<MergedNodes>(graph, "merged gradients");
}

class OnDevice {
 public:
  OnDevice(const ReplicaOptions& options, size_t replica) {
    if (!options.devices.empty()) scope_.emplace(options.devices[replica]);
  }

 private:
  std::optional<DeviceScope> scope_;
};

Output OneDeviceSum(const std::vector<Output>& values, const ReplicaOptions& options) {
  const OnDevice first(options, 0);
  return AddN(values);
}

Output TreeSum(std::vector<Output> values, const ReplicaOptions& options) {
  for (size_t distance = 1; distance < values.size(); distance *= 2) {
    for (size_t i = 0; i + distance < values.size(); i += 2 * distance) {
      const OnDevice here(options, i);
      values[i] = values[i] + values[i + distance];
    }
  }
  return values[0];
}

// Piece p starts at replica p + 1 and is complete after all others, at replica p.
Output RingSum(const std::vector<Output>& values, const ReplicaOptions& options) {
  const size_t count = values.size();
  if (!values[0].shape().fully_known()) return TreeSum(values, options);
  const Shape shape = values[0].shape().AsShape();
  const int64_t elements = shape.num_elements();
  if (elements < static_cast<int64_t>(count)) return TreeSum(values, options);
  std::vector<int64_t> sizes(count, elements / static_cast<int64_t>(count));
  for (int64_t i = 0; i < elements % static_cast<int64_t>(count); ++i) ++sizes[i];

  std::vector<std::vector<Output>> pieces;
  for (size_t i = 0; i < count; ++i) {
    const OnDevice here(options, i);
    pieces.push_back(Split(Reshape(values[i], {-1}), sizes, 0));
  }
  std::vector<Output> sums;
  for (size_t p = 0; p < count; ++p) {
    Output sum = pieces[(p + 1) % count][p];
    for (size_t hop = 2; hop <= count; ++hop) {
      const size_t at = (p + hop) % count;
      const OnDevice here(options, at);
      sum = sum + pieces[at][p];
    }
    sums.push_back(sum);
  }
  const OnDevice first(options, 0);
  return Reshape(Concat(sums, 0), std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
}

Gradient Combine(const std::vector<Gradient>& parts, double factor, const ReplicaOptions& options) {
  const OnDevice first(options, 0);
  bool all_sparse = true;
  for (const Gradient& part : parts) all_sparse = all_sparse && part.sparse();
  if (all_sparse) {
    IndexedSlices slices = SumGradients(parts).slices();
    if (factor != 1) slices.values = slices.values * factor;
    return slices;
  }
  std::vector<Output> dense;
  for (const Gradient& part : parts) dense.push_back(part.dense());
  const Output sum = SumOverReplicas(dense, options);
  return factor == 1 ? sum : sum * factor;
}

// Whether the value depends on a merged gradient. Nodes come after their inputs, apart from loops
// in imported graphs.
class Provenance {
 public:
  explicit Provenance(const Graph& graph) : derived_(graph.num_nodes()) {
    const MergedNodes& merged = *MergedIn(graph);
    if (merged.empty()) return;
    for (int id = 0; id < graph.num_nodes(); ++id) {
      const Node* node = graph.node(id);
      bool derived = merged.contains(node);
      for (int i = 0; !derived && i < node->num_inputs(); ++i) {
        derived = derived_[node->input(i).node()->id()];
      }
      derived_[id] = derived;
    }
  }
  bool Merged(const Gradient& gradient) const {
    const Output value = gradient.sparse() ? gradient.slices().values : gradient.dense();
    return derived_[value.node()->id()];
  }

 private:
  std::vector<bool> derived_;
};

void NoteMerged(const Gradient& gradient) {
  const Output value = gradient.sparse() ? gradient.slices().values : gradient.dense();
  MergedIn(value.graph())->insert(value.node());
}

Gradient FindGradient(const std::vector<GradientAndVariable>& gradients, const Variable& variable) {
  for (const auto& [gradient, of] : gradients) {
    if (of.handle() == variable.handle()) return gradient;
  }
  return {};
}

}  // namespace

Output SumOverReplicas(const std::vector<Output>& values, const ReplicaOptions& options) {
  if (values.size() == 1) return values[0];
  if (options.reduction == "one_device") return OneDeviceSum(values, options);
  if (options.reduction == "ring") return RingSum(values, options);
  return TreeSum(values, options);
}

std::vector<GradientAndVariable> CombineGradients(
    const std::vector<std::vector<GradientAndVariable>>& all, LossReduction loss,
    const ReplicaOptions& options) {
  const double factor = loss == LossReduction::kMean ? 1.0 / static_cast<double>(all.size()) : 1;
  const Provenance provenance(CurrentGraph());
  const NameScope scope("merge_gradients");
  std::vector<GradientAndVariable> result;
  for (const auto& [gradient, variable] : all[0]) {
    if (gradient.none() || provenance.Merged(gradient)) {
      result.push_back({gradient, variable});
      continue;
    }
    std::vector<Gradient> parts;
    for (const auto& gradients : all) {
      const Gradient part = FindGradient(gradients, variable);
      if (!part.none()) parts.push_back(part);
    }
    result.push_back({Combine(parts, factor, options), variable});
    NoteMerged(result.back().gradient);
  }
  return result;
}

std::vector<GradientAndVariable> MergeGradients(const std::vector<GradientAndVariable>& mine) {
  Replica* replica = Replica::Current();
  if (replica == nullptr || replica->count() == 1) return mine;
  using Gradients = std::vector<GradientAndVariable>;
  const LossReduction loss = replica->loss_reduction();
  const ReplicaOptions& options = replica->options();
  return replica->Merge<Gradients, Gradients>(
      "the gradients", mine,
      [&](const std::vector<Gradients>& all) { return CombineGradients(all, loss, options); });
}

}  // namespace sextant::train
