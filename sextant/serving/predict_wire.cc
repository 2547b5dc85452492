#include "sextant/serving/predict_wire.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/formats/wire.h"
#include "sextant/formats/wire_writer.h"
#include "sextant/proto/serving.pb.h"

namespace sextant::serving {
namespace {

Error NoRequest(size_t size) { return InvalidArgument("{} bytes are no PredictRequest", size); }

}  // namespace

PredictWire ReadPredictWire(std::string_view request) {
  PredictWire wire;
  WireReader reader(request);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) {
      wire.model_spec = reader.bytes();
    } else if (reader.Is(2, WireType::kBytes)) {
      WireReader entry(reader.bytes());
      std::string_view name, tensor;
      while (entry.Next()) {
        if (entry.Is(1, WireType::kBytes)) name = entry.bytes();
        if (entry.Is(2, WireType::kBytes)) tensor = entry.bytes();
      }
      if (!entry.ok()) throw NoRequest(request.size());
      wire.inputs.emplace_back(name, tensor);
    } else if (reader.Is(3, WireType::kBytes)) {
      wire.output_filter.emplace_back(reader.bytes());
    }
  }
  if (!reader.ok()) throw NoRequest(request.size());
  return wire;
}

std::vector<Tensor> InputsFromWire(const PredictWire& request, const ServableSignature& signature) {
  const std::vector<JsonInput>& inputs = signature.inputs();
  std::vector<std::string_view> given(inputs.size());
  std::vector<bool> is_given(inputs.size());
  for (const auto& [name, bytes] : request.inputs) {
    size_t place = 0;
    while (place < inputs.size() && inputs[place].name != name) ++place;
    if (place == inputs.size()) {
      std::vector<std::string> names;
      for (const JsonInput& input : inputs) names.push_back(input.name);
      throw InvalidArgument("signature '{}' has no input '{}'; it takes: {}", signature.key(),
                            ShownName(name), fmt::join(names, ", "));
    }
    given[place] = bytes;
    is_given[place] = true;
  }
  std::vector<Tensor> tensors(inputs.size());
  for (size_t place = 0; place < inputs.size(); ++place) {
    if (!is_given[place]) continue;
    try {
      tensors[place] = TensorFromWire(given[place]);
    } catch (const Error& error) {
      throw Error(Code::kInvalidArgument,
                  fmt::format("input '{}': {}", inputs[place].name, error.message()));
    }
  }
  return tensors;
}

std::string PredictAnswerWire(const ServableSignature& signature, const std::vector<int>& wanted,
                              const std::vector<Tensor>& outputs, const proto::ModelSpec& spec) {
  std::string answer, entry, tensor;
  for (size_t i = 0; i < outputs.size(); ++i) {
    entry.clear();
    tensor.clear();
    AppendTensorWire(outputs[i], &tensor);
    AppendWireBytes(1, signature.outputs()[wanted.empty() ? i : wanted[i]], &entry);
    AppendWireTag(2, WireType::kBytes, &entry);
    AppendWireVarint(tensor.size(), &entry);
    AppendWireTag(1, WireType::kBytes, &answer);
    AppendWireVarint(entry.size() + tensor.size(), &answer);
    answer.append(entry).append(tensor);
  }
  AppendWireBytes(2, spec.SerializeAsString(), &answer);
  return answer;
}

}  // namespace sextant::serving
