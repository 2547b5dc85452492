// ParseSpec: which features a graph takes out of serialized Examples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/features.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ParseFeature {
  std::string key;                  // of the feature
  DType dtype = DType::kInvalid;    // kFloat, kInt64, kString
  bool sparse = false;              // any number of values per Example
  std::vector<int64_t> shape = {};  // of a dense one
  std::optional<Tensor> default_value = {};
  bool operator==(const ParseFeature& other) const {
    return key == other.key && dtype == other.dtype && sparse == other.sparse &&
           shape == other.shape;
  }
};
using ParseSpec = std::vector<ParseFeature>;

// Adds a feature. Throws INVALID_ARGUMENT when the key is there in another form.
void AddParseFeature(ParseSpec& spec, ParseFeature feature);
// One ParseExample node for all of them; serialized is a string vector.
Features ParseExamples(Output serialized, const ParseSpec& spec);

}  // namespace sextant

#pragma GCC visibility pop
