// Our own models for recorded trainings, built from their parameters.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sextant/ops/state/variable.h"
#include "sextant/train/optimizer.h"

namespace sextant::conformance {

struct OwnTraining {
  std::map<std::string, Output> inputs;   // by key
  std::map<std::string, Output> fetched;  // "loss" and other scalars
  std::vector<train::GradientAndVariable> gradients;
  Operation train_op;
};

// Built in the current graph. Nothing when the name is of no model we have.
std::optional<OwnTraining> BuildOwnTraining(const std::string& name, const nlohmann::json& params,
                                            const std::map<std::string, Tensor>& first_batch);

}  // namespace sextant::conformance
