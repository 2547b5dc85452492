#include "sextant/dist/gradient_sum.h"

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

// Sparse gradients may have any number of rows: dimension 0 is free.
void CheckAlike(const std::vector<Tensor>& first, const std::vector<Tensor>& other) {
  if (first.size() != other.size()) {
    throw InvalidArgument("a contribution has {} gradients, another one {}", other.size(),
                          first.size());
  }
  for (size_t i = 0; i < first.size(); ++i) {
    bool alike = first[i].dtype() == other[i].dtype() && first[i].rank() == other[i].rank();
    for (int d = 1; alike && d < first[i].rank(); ++d) alike = first[i].dim(d) == other[i].dim(d);
    if (alike) continue;
    throw InvalidArgument("gradient {} of a contribution has shape {}, that of another one {}", i,
                          other[i].shape().ToString(), first[i].shape().ToString());
  }
}

}  // namespace

GradientSum::GradientSum(int replicas_to_aggregate, int64_t step)
    : replicas_to_aggregate_(replicas_to_aggregate), step_(step) {
  if (replicas_to_aggregate < 1) {
    throw InvalidArgument("replicas_to_aggregate must be at least 1, not {}",
                          replicas_to_aggregate);
  }
}

GradientSum::Outcome GradientSum::Add(int64_t step, int number, std::vector<Tensor> gradients) {
  if (step > step_) {
    throw InvalidArgument("a contribution to step {} came while step {} is collected", step, step_);
  }
  if (step == step_ && contributions_.contains(number)) return Outcome::kDuplicate;
  if (step < step_ || ready()) {
    ++num_stale_;
    return Outcome::kStale;
  }
  if (!contributions_.empty()) CheckAlike(contributions_.begin()->second, gradients);
  contributions_.emplace(number, std::move(gradients));
  return ready() ? Outcome::kReady : Outcome::kCounted;
}

std::vector<std::vector<Tensor>> GradientSum::Take() {
  std::vector<std::vector<Tensor>> taken;
  for (auto& [number, gradients] : contributions_) taken.push_back(std::move(gradients));
  contributions_.clear();
  ++step_;
  return taken;
}

}  // namespace sextant::dist
