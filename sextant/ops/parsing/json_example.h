// DecodeJSONExample: Examples in JSON as serialized ones.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

// Each element, an Example as protobuf writes it in JSON, as a serialized Example.
Output DecodeJSONExample(Output json_examples);

}  // namespace sextant
