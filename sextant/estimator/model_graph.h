// ModelGraph: the graph of a model in one mode, from its input to what the model function gave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/estimator/estimator.h"
#include "sextant/graph/graph.h"

namespace sextant {

struct Estimator::State {
  ModelFn model_fn;
  RunConfig config;
  HParams params;
  WarmStart warm_start;
};

struct ModelGraph {
  Graph graph;
  EstimatorSpec spec;
  Operation begin_input;  // begins a walk over the data; none where it begins by itself
  std::vector<std::pair<std::string, Output>> receiver_tensors;  // of serving
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Output>>>>
      receiver_alternatives;
  SessionOptions session;  // with the devices that the strategy asks for
};

// Throws INVALID_ARGUMENT when the spec lacks what the mode needs. Training walks over the data
// once, from where a checkpoint says; the other modes begin with begin_input.
std::unique_ptr<ModelGraph> BuildModel(const Estimator::State& state, const InputFn& input_fn,
                                       Mode mode);
// For serving: prediction of what the receiver takes.
std::unique_ptr<ModelGraph> BuildServingModel(const Estimator::State& state,
                                              const ServingInputFn& receiver);

// What a session of this graph runs before its first step: local variables and tables.
Operation LocalInitializer(Graph& graph);

// The checkpoint asked for, else the newest of model_dir. Throws NOT_FOUND when there is none.
std::string CheckpointOf(const Estimator::State& state, const std::string& asked);
// The global step in a checkpoint; 0 when it has none.
int64_t StepOfCheckpoint(const std::string& prefix);
// Sets all variables of the graph.
void RestoreVariables(Session& session, Graph& graph, const std::string& checkpoint);

// Exports to this very directory.
void ExportTo(const Estimator::State& state, const std::string& directory,
              const ServingInputFn& receiver, const SavedModelExportOptions& options);
// A name of seconds since the epoch that is not taken in base_dir.
std::string NewExportDirectory(const std::string& base_dir);

}  // namespace sextant
