// HeadImpl: what a kind of head implements. Head::Spec puts its parts together.
#pragma once

#include <string>

#include "sextant/estimator/heads.h"

namespace sextant::heads {

// The loss of a batch.
struct HeadLoss {
  Output training;       // weighted and reduced: a scalar
  Output mean;           // per weight of an example, for summaries; none where it would be the same
  NamedMetrics metrics;  // evaluation only
};

class HeadImpl {
 public:
  virtual ~HeadImpl() = default;
  virtual int64_t logits_dimension() const = 0;
  virtual const std::string& name() const = 0;
  // What stands behind the names of summaries.
  virtual const std::string& summary_name() const { return name(); }

  // Built in the scope of the head. Logits are floats of the right width.
  virtual NamedOutputs Predictions(Output logits) const = 0;
  virtual std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const = 0;
  // Metrics only if asked for.
  virtual HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                        bool metrics) const = 0;
};

// "accuracy/NAME", or "accuracy" of a head without a name.
std::string KeyOf(const std::string& metric, const std::string& head);
// Throws INVALID_ARGUMENT when the reduction leaves no scalar.
void CheckReduction(losses::Reduction reduction);
// Throws INVALID_ARGUMENT unless logits have this last dimension; they become floats.
Output CheckLogits(Output logits, int64_t dimension);

}  // namespace sextant::heads
