// libFuzzer target: bytes as a PredictRequest, read by our wire reader and by protobuf, and run. A
// finding is a memory error, an error of a code that a client does not deserve, a request that
// protobuf reads otherwise, or an answer that is no PredictResponse.
#include <map>
#include <optional>
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/message_text.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/messages.h"
#include "sextant/serving/predict_wire.h"
#include "sextant/train/saved_model_builder.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

// Gives back a matrix of floats, integers and texts.
std::shared_ptr<const serving::Servable> MakeModel() {
  const TemporaryDirectory directory;
  Graph graph;
  const GraphScope scope(graph);
  std::map<std::string, Output> inputs = {
      {"x", Placeholder(DType::kFloat, {PartialShape::kUnknown, 2}, "x")},
      {"i", Placeholder(DType::kInt64, {PartialShape::kUnknown}, "i")},
      {"s", Placeholder(DType::kString, {PartialShape::kUnknown}, "s")}};
  std::map<std::string, Output> outputs;
  for (const auto& [name, input] : inputs) outputs.emplace("same_" + name, Identity(input));
  Session session(graph);
  SavedModelBuilder builder(directory.path() + "/1");
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = inputs, .outputs = outputs}}}});
  return serving::Servable::Load("m", 1, builder.Save(), {});
}

const serving::ServableSignature& Model() {
  static const auto model = MakeModel();
  return model->FindSignature("");
}

bool Deserved(Code code) {
  return code == Code::kInvalidArgument || code == Code::kUnimplemented ||
         code == Code::kFailedPrecondition || code == Code::kResourceExhausted;
}

template <typename Read>
std::optional<std::vector<Tensor>> Try(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (!Deserved(error.code())) Report(error.what());
    return std::nullopt;
  }
}

// What protobuf wrote is read as protobuf reads it. (Of messages that come in several pieces
// protobuf joins the pieces, we take the last: only hostile clients send such.)
void Compare(const proto::PredictRequest& message) {
  const std::string bytes = message.SerializeAsString();
  const serving::PredictWire wire = serving::ReadPredictWire(bytes);
  if (wire.model_spec != message.model_spec().SerializeAsString()) Report("another model_spec");
  if (wire.inputs.size() != message.inputs().size()) Report("another number of inputs");
  if (!std::equal(wire.output_filter.begin(), wire.output_filter.end(),
                  message.output_filter().begin(), message.output_filter().end())) {
    Report("another output_filter");
  }
  const auto read = Try([&] { return serving::InputsFromWire(wire, Model()); });
  const auto expected = Try([&] { return serving::PredictInputs(message, Model()); });
  if (read.has_value() != expected.has_value()) Report("protobuf says otherwise");
  for (size_t i = 0; read && i < read->size(); ++i) {
    const Tensor& tensor = (*read)[i];
    if (tensor.valid() != (*expected)[i].valid()) Report("another input");
    if (!tensor.valid() || tensor.dtype() == DType::kVariant) continue;
    if (!tensor.Identical((*expected)[i])) Report("another tensor");
  }
}

void Run(const serving::PredictWire& wire) {
  const serving::ServableSignature& signature = Model();
  const std::vector<int> wanted = serving::OutputPlaces(signature, wire.output_filter);
  std::vector<Tensor> outputs(wanted.empty() ? signature.outputs().size() : wanted.size());
  signature.signature().Call(serving::InputsFromWire(wire, signature), wanted, outputs);
  proto::PredictResponse response;
  if (!TryParseMessage(serving::PredictAnswerWire(signature, wanted, outputs, proto::ModelSpec()),
                       &response) ||
      response.outputs().size() != outputs.size()) {
    Report("the answer is no PredictResponse");
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  proto::PredictRequest message;
  if (TryParseMessage(bytes, &message)) fuzz::Compare(message);
  try {
    fuzz::Run(serving::ReadPredictWire(bytes));
  } catch (const Error& error) {
    if (!fuzz::Deserved(error.code())) fuzz::Report(error.what());
  }
  return 0;
}
