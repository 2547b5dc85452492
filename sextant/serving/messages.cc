#include "sextant/serving/messages.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::serving {

std::vector<Tensor> PredictInputs(const proto::PredictRequest& request,
                                  const ServableSignature& signature) {
  std::vector<Tensor> inputs;
  size_t given = 0;
  for (const JsonInput& input : signature.inputs()) {
    const auto found = request.inputs().find(input.name);
    if (found == request.inputs().end()) {
      inputs.emplace_back();
      continue;
    }
    ++given;
    try {
      inputs.push_back(
          TensorFromProto(found->second, found->second.ByteSizeLong() + kMostFilledBytes));
    } catch (const Error& error) {
      throw error.WithPrefix(fmt::format("input '{}': ", input.name));
    }
  }
  if (given != static_cast<size_t>(request.inputs().size())) {
    std::vector<std::string> names;
    for (const JsonInput& input : signature.inputs()) names.push_back(input.name);
    for (const auto& [name, value] : request.inputs()) {
      if (std::ranges::find(names, name) == names.end()) {
        throw InvalidArgument("signature '{}' has no input '{}'; it takes: {}", signature.key(),
                              ShownName(name), fmt::join(names, ", "));
      }
    }
  }
  return inputs;
}

std::vector<std::string> ExamplesOf(const proto::Input& input) {
  std::vector<std::string> examples;
  if (input.has_example_list_with_context()) {
    const auto& list = input.example_list_with_context();
    const std::string context = list.context().SerializeAsString();
    for (const proto::Example& example : list.examples()) {
      examples.push_back(context + example.SerializeAsString());
    }
  } else {
    for (const proto::Example& example : input.example_list().examples()) {
      examples.push_back(example.SerializeAsString());
    }
  }
  return examples;
}

}  // namespace sextant::serving
