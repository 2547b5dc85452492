// A multi-tensor optimizer update: one parallel loop over the elements of all variables laid end to
// end, instead of one loop with its barrier for each variable. ResNet-44 has 131 variables, most of
// them vectors of 16 to 64 elements, too small to share among threads one by one.
//
// "ends_" holds the end of each variable in that sequence: for sizes 432, 16 and 2304 it is 432,
// 448, 2752. A thread's range [begin, end) is cut at these ends, found by binary search, and each
// piece goes to the loop of the optimizer's rule (ops/training/update_rule.h).
//
// Invariant: an element is updated by the same arithmetic wherever a piece begins, also in tails
// that do not fill a vector, so the result has the bits of the single ops. All variables are locked
// for the whole step, in one order, so two steps cannot wait for each other.
#include <algorithm>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/ops/training/locked_variables.h"
#include "sextant/ops/training/update_kernel.h"

namespace sextant {
namespace {

class ApplyManyKernel final : public Kernel {
 public:
  explicit ApplyManyKernel(KernelInit& init)
      : dtype_(init.attr<DType>("T")),
        num_variables_(static_cast<int>(init.attr<int64_t>("N"))),
        num_scalars_(static_cast<int>(init.attr<std::vector<DType>>("Tscalars").size())),
        num_decays_(init.attr<int64_t>("K")),
        decay_of_(init.attr<std::vector<int64_t>>("decay_of")),
        tasks_(static_cast<size_t>(init.attr<int64_t>("M"))),
        ends_(tasks_.size()) {
    const auto& name = init.attr<std::string>("rule");
    rule_ = FindUpdateRule(name);
    loop_ = rule_ == nullptr ? nullptr : rule_->loop(dtype_);
    if (loop_ == nullptr) {
      throw InvalidArgument("there is no rule '{}' for {}", name, DTypeName(dtype_));
    }
    const int num_updates = static_cast<int>(tasks_.size());
    per_update_ = num_variables_ / num_updates;
    if (num_variables_ % num_updates != 0 || per_update_ > kMaxUpdateVariables ||
        num_scalars_ > kMaxUpdateScalars || decay_of_.size() != tasks_.size() ||
        std::ranges::any_of(decay_of_, [&](int64_t i) { return i < -1 || i >= num_decays_; })) {
      throw InvalidArgument("{} variables, {} scalars and {} decays do not make {} updates",
                            num_variables_, num_scalars_, decay_of_.size(), num_updates);
    }
    for (UpdateTask& task : tasks_) task.flag = init.attr<bool>("flag");
  }

  void Compute(KernelContext& ctx) override {
    const int first_grad = num_variables_;
    const int first_scalar = first_grad + static_cast<int>(tasks_.size());
    const LockedVariables lock(ctx, num_variables_, dtype_, &locked_);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      UpdateTask& task = tasks_[i];
      for (int s = 0; s < num_scalars_; ++s) {
        SetScalar(ctx, first_scalar + s, "a hyperparameter", s, &task);
      }
      if (i == 0) CheckScalars(*rule_, dtype_, num_scalars_, false, task);
      task.decay = nullptr;
      if (decay_of_[i] >= 0) {
        const int input = first_scalar + num_scalars_ + static_cast<int>(decay_of_[i]);
        const Tensor& decay = ctx.input(input);
        if (decay.rank() != 0)
          throw InvalidArgument("a decay must be a scalar, got {}", decay.Describe());
        task.decay = decay.raw_data();
      }
      const Tensor& grad = ctx.input(first_grad + static_cast<int>(i));
      const int variable = static_cast<int>(i) * per_update_;
      CheckGradient(ctx, variable, grad);
      SetVariables(ctx, variable, per_update_, &task);
      task.grad = grad.raw_data();
      task.count = grad.num_elements();
      ends_[i] = (i == 0 ? 0 : ends_[i - 1]) + task.count;
    }
    ctx.ParallelFor(ends_.back(), rule_->cost,
                    [&](int64_t begin, int64_t end) { Sweep(begin, end); });
  }

 private:
  // The elements [begin, end) of all variables laid end to end.
  void Sweep(int64_t begin, int64_t end) const {
    size_t i = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
    for (; begin < end; ++i) {
      const int64_t start = ends_[i] - tasks_[i].count;
      const int64_t stop = std::min(end, ends_[i]);
      if (stop > begin) loop_(PartOf(tasks_[i], begin - start, stop - begin, dtype_));
      begin = std::max(begin, stop);
    }
  }

  const DType dtype_;
  const int num_variables_, num_scalars_;
  const int64_t num_decays_;
  const std::vector<int64_t> decay_of_;
  const UpdateRule* rule_ = nullptr;
  UpdateLoop loop_ = nullptr;
  int per_update_ = 0;
  std::vector<UpdateTask> tasks_;
  std::vector<int64_t> ends_;  // of each update, in the elements of all
  std::vector<VariableResource*> locked_;
};

}  // namespace

void RegisterApplyManyCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("_ApplyMany").Make<ApplyManyKernel>());
}

}  // namespace sextant
