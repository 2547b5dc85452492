// Answers of the REST interface as JSON.
#pragma once

#include <string>
#include <vector>

#include "sextant/formats/json_request.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/model_manager.h"

namespace sextant::serving {

std::string ErrorText(const Status& status);
std::string StatusText(const std::vector<VersionStatus>& statuses);
std::string MetadataText(const Servable& servable);
// {"predictions": rows} or {"outputs": columns}; a single output has no name. Throws
// INVALID_ARGUMENT where outputs have no rows, or different numbers of them.
std::string PredictionsText(const ServableSignature& signature, JsonRequest::Form form,
                            const std::vector<Tensor>& outputs);
std::string ClassesText(const std::vector<Classes>& rows);
std::string RegressionsText(const std::vector<float>& values);

}  // namespace sextant::serving
