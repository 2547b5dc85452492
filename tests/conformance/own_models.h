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
  std::vector<Operation> run_first;  // fill tables
};

// Built in the current graph, for the training recorded in a directory; "record" is its
// trajectory.json, the first batch tells the types of features. Nothing when the name is of no
// model we have.
std::optional<OwnTraining> BuildOwnTraining(const std::string& directory,
                                            const nlohmann::json& record,
                                            const std::map<std::string, Tensor>& first_batch);

}  // namespace sextant::conformance
