// Serving input receivers: how requests become the features of an exported model.
//
//   auto receiver = ParsingReceiver(columns::MakeParseExampleSpec(columns));
//   estimator.ExportSavedModel("export", receiver);
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/data/sources.h"
#include "sextant/nn/features.h"
#include "sextant/nn/parse_spec.h"

#pragma GCC visibility push(default)

namespace sextant {

// The values of a request's inputs by their names.
using RequestTensors = std::vector<std::pair<std::string, Tensor>>;

struct SEXTANT_API ServingInputReceiver {
  Features features;  // what the model function gets
  // The inputs of signatures by name, in order.
  std::vector<std::pair<std::string, Output>> receiver_tensors;
  // Further ways in: signature name → inputs, each usable instead of receiver_tensors.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Output>>>>
      receiver_alternatives;
  // The request that gives the features of one row, a batch of one: for warm-up requests. Throws
  // INVALID_ARGUMENT for a row that it cannot be made of. None: features are inputs by their names.
  std::function<RequestTensors(const data::Element& row)> request_of = {};
};

// Builds placeholders and what follows in the current graph.
using ServingInputFn = std::function<ServingInputReceiver()>;

// Serialized tf.train.Examples in "examples".
ServingInputFn ParsingReceiver(ParseSpec spec, std::string input = "examples");
// A placeholder for every feature, by its name: shapes are those of a batch.
struct SEXTANT_API RawFeature {
  std::string name;  // of the feature
  DType dtype = DType::kFloat;
  PartialShape shape;  // with the batch; -1: unknown
};
ServingInputFn RawReceiver(std::vector<RawFeature> features);
// Lines of text in "csv_row", one example each; features [batch, 1]. Columns that are named in
// "leave_out" (the label, weights) are taken out of the line's columns first.
ServingInputFn CsvReceiver(std::vector<data::CsvColumn> columns,
                           std::vector<std::string> leave_out = {}, std::string input = "csv_row");
// What JSON requests have: a vector placeholder [batch] for every column by its name; features
// [batch, 1].
ServingInputFn JsonReceiver(std::vector<data::CsvColumn> columns,
                            std::vector<std::string> leave_out = {});

}  // namespace sextant

#pragma GCC visibility pop
