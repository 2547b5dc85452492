#include "sextant/serving/inference.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/proto/serving.pb.h"

namespace sextant::serving {
namespace {

const Tensor* FindOutput(const ServableSignature& signature, const std::vector<Tensor>& outputs,
                         std::string_view name) {
  const auto& names = signature.outputs();
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &outputs[found - names.begin()];
}

const char* MethodName(Method method) {
  return method == Method::kClassify ? "classify" : "regress";
}

}  // namespace

std::vector<int> OutputPlaces(const ServableSignature& signature,
                              std::span<const std::string> names) {
  const auto& all = signature.outputs();
  std::vector<int> places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name);
    if (found == all.end()) {
      throw InvalidArgument("signature '{}' has no output '{}'; it has: {}", signature.key(),
                            ShownName(name), fmt::join(all, ", "));
    }
    const int place = static_cast<int>(found - all.begin());
    if (std::ranges::find(places, place) != places.end()) {
      throw InvalidArgument("output_filter names '{}' twice", name);
    }
    places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

const ServableSignature& PredictSignature(const Servable& servable, std::string_view key) {
  return servable.FindSignature(key, Code::kFailedPrecondition);
}

const ServableSignature& ExamplesSignature(const Servable& servable, std::string_view key,
                                           Method method) {
  const ServableSignature& signature = servable.FindSignature(key, Code::kInvalidArgument);
  if (signature.method() != method) {
    throw InvalidArgument("signature '{}' has the method '{}', not {}; ask it by predict",
                          signature.key(), signature.signature().method_name(), MethodName(method));
  }
  const auto& inputs = signature.inputs();
  if (inputs.size() != 1 || inputs[0].dtype != DType::kString) {
    throw InvalidArgument("signature '{}' does not take serialized Examples; ask it by predict",
                          signature.key());
  }
  return signature;
}

std::vector<Tensor> ExampleInputs(std::vector<std::string> examples) {
  if (examples.empty()) throw InvalidArgument("the request has no examples");
  Tensor tensor(DType::kString, Shape{static_cast<int64_t>(examples.size())});
  std::ranges::move(examples, tensor.data<std::string>());
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(tensor));
  return inputs;
}

std::vector<Classes> ClassesOf(const ServableSignature& signature,
                               const std::vector<Tensor>& outputs, int64_t rows) {
  const Tensor* labels = FindOutput(signature, outputs, "classes");
  const Tensor* scores = FindOutput(signature, outputs, "scores");
  if (labels == nullptr && scores == nullptr) {
    throw InvalidArgument("signature '{}' has neither 'classes' nor 'scores'", signature.key());
  }
  const auto check = [&](const Tensor* tensor, DType dtype, const char* name) {
    if (tensor == nullptr) return;
    if (tensor->dtype() != dtype || tensor->rank() != 2 || tensor->dim(0) != rows) {
      throw InvalidArgument("output '{}' of signature '{}' is {}, not {}[{}, number of classes]",
                            name, signature.key(), tensor->Describe(), DTypeName(dtype), rows);
    }
  };
  check(labels, DType::kString, "classes");
  check(scores, DType::kFloat, "scores");
  if (labels != nullptr && scores != nullptr && labels->dim(1) != scores->dim(1)) {
    throw InvalidArgument("signature '{}' gives {} classes but {} scores", signature.key(),
                          labels->dim(1), scores->dim(1));
  }
  const int64_t count = (labels != nullptr ? labels : scores)->dim(1);
  std::vector<Classes> all(rows);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = row * count; i < (row + 1) * count; ++i) {
      all[row].emplace_back(labels != nullptr ? labels->data<std::string>()[i] : "",
                            scores != nullptr ? scores->data<float>()[i] : 0);
    }
  }
  return all;
}

std::vector<float> RegressionsOf(const ServableSignature& signature,
                                 const std::vector<Tensor>& outputs, int64_t rows) {
  const Tensor* values = FindOutput(signature, outputs, "outputs");
  if (values == nullptr && outputs.size() == 1) values = &outputs[0];
  const bool fits = values != nullptr && values->dtype() == DType::kFloat &&
                    (values->rank() == 1 || (values->rank() == 2 && values->dim(1) == 1)) &&
                    values->dim(0) == rows;
  if (!fits) {
    throw InvalidArgument("signature '{}' gives {}, not one float for each of {} examples",
                          signature.key(), values == nullptr ? "no values" : values->Describe(),
                          rows);
  }
  return {values->data<float>(), values->data<float>() + rows};
}

proto::SignatureDefMap SignatureDefs(const Servable& servable) {
  proto::SignatureDefMap map;
  for (const auto& [key, def] : servable.saved_model().meta_graph().signature_def()) {
    if (key != kInitOpSignature && key != kTrainOpSignature) {
      (*map.mutable_signature_def())[key] = def;
    }
  }
  return map;
}

}  // namespace sextant::serving
