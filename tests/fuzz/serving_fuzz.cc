// libFuzzer target: bytes as what clients of a server send and operators write. The first byte says
// what: a path, a JSON request, JSON Examples, a TensorProto, a PredictRequest, or a configuration
// of models. A finding is a memory error, an error of a code that such bytes do not deserve, or a
// tensor that is another one when it is written and read again.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "sextant/base/error.h"
#include "sextant/formats/json_request.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/proto/serving_config.pb.h"
#include "sextant/serving/model_config.h"
#include "sextant/serving/predict_wire.h"
#include "sextant/serving/rest_path.h"

namespace sextant::fuzz {
namespace {

[[noreturn]] void Report(std::string_view what) {
  fmt::print(stderr, "finding: {}\n", what);
  std::abort();
}

const std::vector<JsonInput>& Inputs(std::string_view signature) {
  static const std::vector<JsonInput> one = {{"x", DType::kFloat, PartialShape({-1, 2})}};
  static const std::vector<JsonInput> many = {
      {"b", DType::kBool, PartialShape({-1})},         {"i", DType::kInt8, PartialShape({-1})},
      {"l", DType::kInt64, PartialShape({-1}), true},  {"s", DType::kString, PartialShape({-1})},
      {"u", DType::kUInt64, PartialShape({-1}), true},
  };
  return signature == "many" ? many : one;
}

void ReadRequest(const std::string& text) {
  const JsonRequest request = ReadJsonRequest(text, [](std::string_view signature) {
    return std::span<const JsonInput>(Inputs(signature));
  });
  for (const Tensor& input : request.inputs) {
    if (!input.valid()) continue;
    std::string written;
    AppendJson(input, {}, &written);
    const std::vector<JsonInput> same = {{"x", input.dtype(), PartialShape()}};
    const Tensor again = ReadJsonRequest("{\"inputs\": " + written + "}", [&](std::string_view) {
                           return std::span<const JsonInput>(same);
                         }).inputs[0];
    // NaNs have one text; an empty list does not tell the sizes inside of it.
    if (input.num_elements() > 0 && written.find("NaN") == std::string::npos &&
        !again.Identical(input)) {
      Report("a tensor is another one after being written");
    }
  }
}

void ReadTensor(std::string_view bytes) {
  const Tensor tensor = TensorFromWire(bytes);
  std::string written;
  try {
    AppendTensorWire(tensor, &written);
  } catch (const Error& error) {
    if (error.code() != Code::kUnimplemented) Report(error.what());
    return;
  }
  if (!TensorFromWire(written).Identical(tensor)) Report("a tensor is another one on the wire");
}

void ReadOne(uint8_t kind, const std::string& text) {
  switch (kind % 6) {
    case 0:
      serving::ParseRestPath(kind & 64 ? "GET" : "POST", text);
      return;
    case 1:
      return ReadRequest(text);
    case 2:
      ReadJsonExamples(text);
      return;
    case 3:
      return ReadTensor(text);
    case 4:
      serving::ReadPredictWire(text);
      return;
    default: {
      proto::ModelServerConfig config;
      ParseMessageText(text, "config", &config);
      serving::ModelConfigsFrom(config);
    }
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  if (size == 0) return 0;
  try {
    fuzz::ReadOne(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  } catch (const Error& error) {
    const bool deserved = error.code() == Code::kInvalidArgument ||
                          error.code() == Code::kNotFound || error.code() == Code::kUnimplemented ||
                          error.code() == Code::kResourceExhausted;
    if (!deserved) fuzz::Report(error.what());
  }
  return 0;
}
