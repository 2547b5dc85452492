// Values of an input in text form, put together to a tensor.
#pragma once

#include <map>
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

// A field of CSV as such a value. Throws INVALID_ARGUMENT, naming the place.
nlohmann::json FieldValue(const std::string& key, const SignatureTensor& input,
                          const std::string& field, const std::string& place);

// What stands for one instance that has no value: the default given for the key, else the
// signature's own, where that is a single element; null when there is none.
nlohmann::json DefaultValue(const std::string& key, const SignatureTensor& input,
                            const std::map<std::string, std::string>& defaults);

}  // namespace sextant::cli
