// PredictRequest and PredictResponse on the wire, without building the messages: tensors are copied
// once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/serving/servable.h"

namespace sextant::proto {
class ModelSpec;
}  // namespace sextant::proto

namespace sextant::serving {

// A PredictRequest whose tensors are not read yet. Views are of its bytes.
struct PredictWire {
  std::string_view model_spec;                                        // serialized
  std::vector<std::pair<std::string_view, std::string_view>> inputs;  // name, TensorProto
  std::vector<std::string> output_filter;
};

// Throws INVALID_ARGUMENT for bytes that are no PredictRequest.
PredictWire ReadPredictWire(std::string_view request);

// In the order of the signature's inputs. Throws INVALID_ARGUMENT, naming the input, for names the
// signature does not have and for malformed tensors; of a name given twice the last counts.
std::vector<Tensor> InputsFromWire(const PredictWire& request, const ServableSignature& signature);

// The response; "wanted" are the places of the outputs, none: all.
std::string PredictAnswerWire(const ServableSignature& signature, const std::vector<int>& wanted,
                              const std::vector<Tensor>& outputs, const proto::ModelSpec& spec);

}  // namespace sextant::serving
