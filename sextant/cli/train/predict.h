// `sextant predict`: runs a trained model on every instance in files.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddPredictCommand(Command& program);

struct PredictFlags {
  std::string model;               // a SavedModel, a directory of them, or a model_dir
  std::vector<std::string> files;  // "-" is the standard input
  // One of them instead of files: lines of JSON, or lines that the model takes as they are.
  std::string json_instances, text_instances;
  std::string format;            // csv, json, example; "": by file
  std::string output = "table";  // table, json, csv
  std::string out;               // a folder: a file of predictions for each of `files`
  std::string signature, model_name, hparams;
  std::vector<std::string> keys, columns, defaults;
  int64_t batch = 128;
  bool header = false, with_label = false;
};
// Predictions go to `out`, or, with flags.out, to files there, each put in its place when it is
// whole; files whose predictions are there are passed over, and `out` says how many. Throws what
// readers and models throw.
void Predict(PredictFlags flags, std::ostream& out);

}  // namespace sextant::cli
