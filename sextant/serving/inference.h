// What all protocols do with a model: which signature, which inputs and outputs, and what outputs
// mean as classes or values. Knows tensors, no HTTP and no gRPC.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sextant/serving/batcher.h"
#include "sextant/serving/servable.h"

namespace sextant::proto {
class SignatureDefMap;
}  // namespace sextant::proto

namespace sextant::serving {

// The places of the outputs of these names, ascending; none for no names. Throws INVALID_ARGUMENT
// for a name that is not there or is there twice.
std::vector<int> OutputPlaces(const ServableSignature& signature,
                              std::span<const std::string> names);

// The signature for Predict. Throws FAILED_PRECONDITION when there is none.
const ServableSignature& PredictSignature(const Servable& servable, std::string_view key);
// The signature for Classify or Regress: it takes serialized Examples. Throws INVALID_ARGUMENT when
// there is none, or it has another method.
const ServableSignature& ExamplesSignature(const Servable& servable, std::string_view key,
                                           Method method);
// Its inputs for these Examples. Throws INVALID_ARGUMENT when there are none.
std::vector<Tensor> ExampleInputs(std::vector<std::string> examples);

// One row's classes with their scores. A model may give only one of both.
using Classes = std::vector<std::pair<std::string, float>>;
// Of the outputs of a signature for Classify. Throws INVALID_ARGUMENT when they are none.
std::vector<Classes> ClassesOf(const ServableSignature& signature,
                               const std::vector<Tensor>& outputs, int64_t rows);
std::vector<float> RegressionsOf(const ServableSignature& signature,
                                 const std::vector<Tensor>& outputs, int64_t rows);

// All signatures as they were exported.
proto::SignatureDefMap SignatureDefs(const Servable& servable);

}  // namespace sextant::serving
