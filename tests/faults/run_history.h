// What a model_dir tells of a training: its events as TensorBoard's reader shows them, evaluations,
// exports, checkpoints.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sextant {

struct RunHistory {
  // "eval: accuracy" → "20: 0.5", …: by directory and tag, in order. Rates, which differ from run
  // to run, are steps without values.
  std::map<std::string, std::vector<std::string>> events;
  std::vector<std::string> evaluations;
  std::map<std::string, int> exports;  // by exporter: directories with a whole SavedModel
  // Of writers that were killed: temporaries, notes, checkpoints that nobody would delete.
  std::vector<std::string> leftovers;
  bool has_graph = false;  // in the events and as a file
};

RunHistory ReadHistory(const std::string& model_dir);

}  // namespace sextant
