// The JSON bodies of TensorFlow Serving's REST interface: requests as tensors or Examples.
//
//   {"signature_name": "serving_default", "instances": [{"x": 1.0, "y": "a"}, ...]}    rows
//   {"inputs": {"x": [1.0, ...], "y": ["a", ...]}}                                     columns
//   {"examples": [{"age": 39.0, "words": ["a", "b"]}, ...], "context": {...}}          Examples
//
// Errors are INVALID_ARGUMENT and name the byte, the instance and the input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class JsonTensorBuilder;
class RequestEvents;

// What a signature takes.
struct JsonInput {
  std::string name;
  DType dtype = DType::kInvalid;
  PartialShape shape;     // with the batch dimension
  bool optional = false;  // may be left out of all instances
};

struct JsonRequest {
  enum class Form { kRows, kColumns };
  std::string signature_name;  // "": not given
  Form form = Form::kRows;
  std::vector<Tensor> inputs;  // in the order of the JsonInputs; no value: left out
};

// Reads "instances" or "inputs". "find" gives the inputs of the signature of this name ("": none is
// named) or throws; it may be called twice when the name comes late in the text.
using FindJsonInputs = std::function<std::span<const JsonInput>(std::string_view signature_name)>;
SEXTANT_API JsonRequest ReadJsonRequest(const std::string& body, const FindJsonInputs& find);

// Instances that come one by one, each a text of its own: lines of a file.
class JsonInstances {
 public:
  // Gives the builder of the input a value where an instance has none, or null. False: it stays
  // without, which is right for optional inputs only.
  using FillMissing = std::function<bool(size_t input, JsonTensorBuilder& builder)>;
  explicit JsonInstances(std::span<const JsonInput> inputs, FillMissing fill = {});
  ~JsonInstances();

  // After an error nothing can be added or taken.
  void Add(const std::string& text);
  int64_t num_instances() const;
  // In the order of the JsonInputs; no value: left out of all instances.
  std::vector<Tensor> Take();

 private:
  std::unique_ptr<RequestEvents> events_;
};

struct JsonExamples {
  std::string signature_name;
  std::vector<std::string> examples;  // serialized, each with the features of "context"
};
// Integers and booleans become int64_list, numbers with a point or exponent float_list, strings and
// {"b64": ...} bytes_list.
SEXTANT_API JsonExamples ReadJsonExamples(const std::string& body);

}  // namespace sextant
