// Tensors and Examples in TensorFlow Serving's messages.
#pragma once

#include <string>
#include <vector>

#include "sextant/serving/servable.h"

namespace sextant::proto {
class Input;
class PredictRequest;
}  // namespace sextant::proto

namespace sextant::serving {

// In the order of the signature's inputs. Throws INVALID_ARGUMENT when names differ from the
// signature's or a tensor is malformed.
std::vector<Tensor> PredictInputs(const proto::PredictRequest& request,
                                  const ServableSignature& signature);
// Serialized, each with the features of the context.
std::vector<std::string> ExamplesOf(const proto::Input& input);

}  // namespace sextant::serving
