// Values of an input in text form, put together to a tensor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

// One value of JSON for each instance, as a tensor [batch, ...] of the input's type. {"b64": text}
// stands for bytes; a number may stand for an input of shape [batch, 1]. Throws INVALID_ARGUMENT,
// naming the key and the instance ("people.json, line 3").
Tensor InstanceTensor(const std::string& key, const SignatureTensor& input,
                      const std::vector<nlohmann::json>& values,
                      const std::vector<std::string>& places);

// The same from fields of CSV.
Tensor FieldTensor(const std::string& key, const SignatureTensor& input,
                   const std::vector<std::string>& fields, const std::vector<std::string>& places);

}  // namespace sextant::cli
