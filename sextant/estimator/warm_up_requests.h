// Requests that a server runs before it uses an export: rows of the evaluation's input, in the file
// where TensorFlow Serving looks for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/estimator/model_graph.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant {

// The features of the first rows of the input, at most "count", each as a batch of one. Throws
// INVALID_ARGUMENT when the input is made of nodes or its batches have no rows.
std::vector<data::Element> WarmUpRows(const InputFn& input_fn, int64_t count);

// TFRecords of PredictionLogs, one request a row, for this signature of an export of the model that
// is served by this name. Throws INVALID_ARGUMENT for rows that give no requests.
void WriteWarmUpRequests(const ModelGraph& model, const std::string& name,
                         const std::string& signature_name, const SignatureSpec& signature,
                         const std::vector<data::Element>& rows, const std::string& path);

}  // namespace sextant
