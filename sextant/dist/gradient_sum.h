// GradientSum: the contributions of R callers to one step of synchronous training, on one shard.
//
// It only collects them. The update fragment of a summed call has its gradient inputs R times, adds
// them with AddN (sparse ones with Concat) and divides: the kernels and optimizers there are do all
// the arithmetic. Contributions are handed to it in the order of their tokens, so that the sum does
// not depend on who was first.
//
//   GradientSum sum(/*replicas_to_aggregate=*/2, /*step=*/7);
//   sum.Add(7, 1, gradients_of_b);   // kCounted
//   sum.Add(7, 1, gradients_of_b);   // kDuplicate: sent again, or its token was given out again
//   sum.Add(6, 0, late);             // kStale: dropped and counted
//   sum.Add(7, 0, gradients_of_a);   // kReady: tell the coordinator (step_tokens.h)
//   sum.Take();                      // {gradients_of_a, gradients_of_b}; now it collects step 8
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant::dist {

class GradientSum {
 public:
  GradientSum(int replicas_to_aggregate, int64_t step);

  enum class Outcome {
    kCounted,
    kReady,      // it was the R-th
    kDuplicate,  // this token has contributed to the step already
    kStale,      // the step has R contributions already, or is over
  };
  // `number` is that of the token. Throws INVALID_ARGUMENT for a step to come, which no token is
  // given out for, and for gradients whose number, types or shapes are not those of the others.
  Outcome Add(int64_t step, int number, std::vector<Tensor> gradients);

  bool ready() const { return static_cast<int>(contributions_.size()) == replicas_to_aggregate_; }
  int64_t step() const { return step_; }
  int64_t num_stale() const { return num_stale_; }
  size_t num_contributions() const { return contributions_.size(); }

  // The contributions in the order of tokens; the next step begins. REQUIRES: ready().
  std::vector<std::vector<Tensor>> Take();

 private:
  const int replicas_to_aggregate_;
  int64_t step_;
  int64_t num_stale_ = 0;
  std::map<int, std::vector<Tensor>> contributions_;  // by token
};

}  // namespace sextant::dist
