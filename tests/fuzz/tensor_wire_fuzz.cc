// libFuzzer target: bytes as a TensorProto, read by our wire reader and by protobuf. A finding is a
// memory error, an error of another code than INVALID_ARGUMENT and UNIMPLEMENTED, a tensor that
// protobuf reads otherwise, or one that is another one when it is written and read again.
#include <optional>
#include <string>

#include "sextant/base/error.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

// What "read" gives; nothing when it refuses.
template <typename Read>
std::optional<Tensor> Try(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() != Code::kInvalidArgument && error.code() != Code::kUnimplemented) {
      Report(error.what());
    }
    return std::nullopt;
  }
}

void ReadTensor(std::string_view bytes) {
  const auto tensor = Try([&] { return TensorFromWire(bytes); });
  proto::TensorProto message;
  if (TryParseMessage(bytes, &message)) {
    const auto expected =
        Try([&] { return TensorFromProto(message, bytes.size() + kMostFilledBytes); });
    if (expected.has_value() != tensor.has_value()) Report("protobuf says otherwise");
    const bool comparable = expected && expected->dtype() != DType::kVariant;
    if (comparable && !expected->Identical(*tensor)) Report("protobuf reads another tensor");
  }
  constexpr size_t kMostWritten = 1 << 20;  // more would only take time
  if (!tensor || tensor->bytes() > kMostWritten) return;
  std::string written;
  if (!Try([&] { return AppendTensorWire(*tensor, &written), *tensor; })) return;
  if (!TensorFromWire(written).Identical(*tensor)) Report("another tensor on the wire");
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::ReadTensor({reinterpret_cast<const char*>(data), size});
  return 0;
}
