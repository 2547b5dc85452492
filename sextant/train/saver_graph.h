// The part of a graph that saves and restores its variables, with the nodes and names TensorFlow's
// Saver makes ("save/SaveV2", "save/restore_all", ...), so that either can use it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/ops/state/variable.h"

namespace sextant::proto {
class SaverDef;
}

namespace sextant {

// A variable and its place in a checkpoint.
struct SavedTensor {
  std::string variable;  // name of its VarHandleOp or VariableV2 node
  std::string key;       // name in the checkpoint
  // "" for all of the tensor; "6 4 0,3:-" for the part of a partitioned one
  // (formats/tensor_slice.h).
  std::string shape_and_slice;
};

// The variables of the collections "variables" and "saveable_objects", sorted by key. Parts of a
// partitioned variable share a key. Throws INVALID_ARGUMENT when other variables do.
std::vector<SavedTensor> SavedTensorsOf(const Graph& graph);

// These, by the names given. Throws INVALID_ARGUMENT for one of another graph.
std::vector<SavedTensor> SavedTensorsOf(const Graph& graph,
                                        const std::map<std::string, Variable>& variables);

struct SaverGraphOptions {
  std::string scope = "save";
  // One data file for each device that holds variables, written by that device.
  bool sharded = false;
  int max_to_keep = 5;
  float keep_checkpoint_every_n_hours = 10000;
};

// Adds the nodes; the SaverDef names those to feed, fetch and run. Throws NOT_FOUND when a variable
// is not in the graph, INVALID_ARGUMENT when there are none to save.
proto::SaverDef AddSaverGraph(Graph& graph, const std::vector<SavedTensor>& tensors,
                              const SaverGraphOptions& options = {});

}  // namespace sextant
