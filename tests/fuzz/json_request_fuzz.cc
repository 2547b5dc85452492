// libFuzzer target: bytes as the JSON of a request: after an 'e' Examples, else instances or inputs
// of a signature that the request names. A finding is a memory error, an error of another code than
// INVALID_ARGUMENT and UNIMPLEMENTED, a tensor that is another one when it is written and read
// again, or bytes that are no Example.
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/example_wire.h"
#include "sextant/formats/json_request.h"
#include "sextant/formats/json_tensor.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

std::span<const JsonInput> InputsOf(std::string_view signature) {
  static const std::vector<JsonInput> one = {{"x", DType::kFloat, PartialShape({-1, 2})}};
  static const std::vector<JsonInput> many = {{"b", DType::kBool, PartialShape({-1})},
                                              {"d", DType::kDouble, PartialShape()},
                                              {"i", DType::kInt8, PartialShape({-1})},
                                              {"l", DType::kInt64, PartialShape({-1}), true},
                                              {"s", DType::kString, PartialShape({-1, 1})},
                                              {"u", DType::kUInt64, PartialShape({-1}), true},
                                              {"w", DType::kUInt16, PartialShape({-1}), true}};
  return signature == "many" ? many : one;
}

void ReadRequest(const std::string& text) {
  for (const Tensor& input : ReadJsonRequest(text, InputsOf).inputs) {
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

void ReadExamples(const std::string& text) {
  for (const std::string& bytes : ReadJsonExamples(text).examples) {
    JoinedBytes joined;
    if (!ReadExample(bytes, joined, [](std::string_view, const WireFeature&) {})) {
      Report("what was made of an Example is none");
    }
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with("e")) {
      fuzz::ReadExamples(text.substr(1));
    } else {
      fuzz::ReadRequest(text);
    }
  } catch (const Error& error) {
    if (error.code() != Code::kInvalidArgument && error.code() != Code::kUnimplemented) {
      fuzz::Report(error.what());
    }
  }
  return 0;
}
