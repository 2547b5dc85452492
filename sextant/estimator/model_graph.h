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
  Operation begin_input;       // begins an iteration over the data; none where it begins by itself
  Output input_iterator;       // of a training or evaluation; none where the input is made of nodes
  data::Dataset input;         // what that of a training iterates over
  size_t batches_of_step = 0;  // that a step of training takes from it
  std::vector<std::pair<std::string, Output>> receiver_tensors;  // of serving
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Output>>>>
      receiver_alternatives;
  std::function<RequestTensors(const data::Element& row)> request_of;  // of serving; may be none
  SessionOptions session;  // with the devices that the strategy asks for
};

// Throws INVALID_ARGUMENT when the spec lacks what the mode needs. Training iterates over the data
// once, from where a checkpoint says; the other modes begin with begin_input.
std::unique_ptr<ModelGraph> BuildModel(const Estimator::State& state, const InputFn& input_fn,
                                       Mode mode);
// For serving: prediction of what the receiver takes.
std::unique_ptr<ModelGraph> BuildServingModel(const Estimator::State& state,
                                              const ServingInputFn& receiver);

// The checkpoint asked for, else the newest of model_dir. Throws NOT_FOUND when there is none,
// DATA_LOSS as CheckpointToResume.
std::string CheckpointOf(const Estimator::State& state, const std::string& asked);
// The newest checkpoint of a directory, if there is one. Throws DATA_LOSS when the state file is
// damaged, or the one that it names is gone, and others are there, in the file or the directory: a
// training that began anew would replace them.
std::optional<std::string> CheckpointToResume(const std::string& model_dir);
// The global step in a checkpoint; 0 when it has none. Throws DATA_LOSS, with what to do, when it
// is damaged.
int64_t StepOfCheckpoint(const std::string& prefix);
// Sets all variables of the graph.
void RestoreVariables(Session& session, Graph& graph, const std::string& checkpoint);

// Exports to this very directory. Rows become the export's warm-up requests; where that cannot be
// done, a line in the log says why.
void ExportTo(const Estimator::State& state, const std::string& directory,
              const ServingInputFn& receiver, const SavedModelExportOptions& options,
              const std::vector<data::Element>& warm_up_rows = {});
// Calls the function with the name of a new directory, base_dir/NUMBER, and returns it: first the
// one given, unless it is "", and others as long as another process is faster (ALREADY_EXISTS).
// Numbers are seconds since the epoch, or more: larger than all that are there or being written, so
// that servers take what was exported last.
std::string ExportToNew(const std::string& first, const std::string& base_dir,
                        const std::function<void(const std::string&)>& export_to);
// Whether no directory beside it has a larger number.
bool IsNewestExport(const std::string& directory);

}  // namespace sextant
