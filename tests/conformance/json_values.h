// Values as the index.json files of recorded files hold them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "sextant/tensor/tensor.h"

namespace sextant::conformance {

// The hexadecimal SHA-256.
std::string Sha256(std::string_view bytes);
// Numbers are numbers, or "nan", "inf" and "-inf".
double JsonNumber(const nlohmann::json& value);
// {"utf8": text} or {"base64": text}.
std::string JsonBytes(const nlohmann::json& value);
nlohmann::json ReadJson(const std::string& path);
// Whether there is such a key, and not null.
bool Has(const nlohmann::json& object, const char* key);
// The value of a key, or another when it is missing or null. For bool, int64_t, double, string.
template <typename T>
T JsonOr(const nlohmann::json& object, const char* key, T otherwise);

// Compares dtype, shape, the SHA-256 of the elements and the values themselves, each where the
// entry {"dtype", "shape", "sha256", "values"} has it. Empty when all is equal, else what is not.
std::string Difference(const Tensor& actual, const nlohmann::json& entry);

}  // namespace sextant::conformance
