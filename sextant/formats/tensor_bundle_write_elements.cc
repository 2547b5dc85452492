#include <future>
#include <string>
#include <string_view>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/formats/tensor_bundle_entry.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

// The CRC of at least this number of bytes is made by a thread of its own, while they are written:
// a tenth of the time of a save.
constexpr size_t kLarge = size_t{4} << 20;
constexpr size_t kLengthsPiece = size_t{1} << 20;  // of lengths of strings

class Appender {
 public:
  explicit Appender(FileWriter& file) : file_(file) {}

  void Append(std::string_view data) {
    written_.size += static_cast<int64_t>(data.size());
    if (data.size() < kLarge) {
      written_.crc = ExtendCrc32c(written_.crc, data);
      file_.Append(data);
      return;
    }
    std::future<uint32_t> crc = std::async(
        std::launch::async, [before = written_.crc, data] { return ExtendCrc32c(before, data); });
    file_.Append(data);
    written_.crc = crc.get();
  }
  // Bytes that stand in the file for other bytes in the CRC.
  void AppendAs(std::string_view data, std::string_view summed) {
    written_.size += static_cast<int64_t>(data.size());
    written_.crc = ExtendCrc32c(written_.crc, summed);
    file_.Append(data);
  }
  // The CRC of all that came before.
  void AppendCrc() {
    std::string bytes;
    PutFixed32(&bytes, MaskCrc32c(written_.crc));
    Append(bytes);
  }

  const WrittenTensor& written() const { return written_; }

 private:
  FileWriter& file_;
  WrittenTensor written_;
};

void AppendStrings(Appender& out, std::span<const std::string> values) {
  std::string lengths, summed;
  for (const std::string& value : values) {
    PutVarint64(&lengths, value.size());
    if (value.size() <= UINT32_MAX) {
      PutFixed32(&summed, static_cast<uint32_t>(value.size()));
    } else {
      PutFixed64(&summed, value.size());
    }
    if (lengths.size() >= kLengthsPiece) {
      out.AppendAs(lengths, summed);
      lengths.clear();
      summed.clear();
    }
  }
  out.AppendAs(lengths, summed);
  out.AppendCrc();
  for (const std::string& value : values) out.Append(value);
}

void AppendVariants(Appender& out, std::span<const Variant> values) {
  for (const Variant& value : values) {
    proto::TensorProto proto;
    TensorToProto(Tensor::Scalar(value), &proto);
    const std::string bytes = proto.variant_val(0).SerializeAsString();
    std::string length, summed;
    PutVarint64(&length, bytes.size());
    PutFixed64(&summed, bytes.size());
    out.AppendAs(length, summed);
    out.Append(bytes);
    out.AppendCrc();
  }
}

}  // namespace

WrittenTensor AppendElements(FileWriter& file, const Tensor& tensor) {
  Appender out(file);
  if (tensor.dtype() == DType::kString) {
    AppendStrings(out, tensor.flat<std::string>());
  } else if (tensor.dtype() == DType::kVariant) {
    AppendVariants(out, tensor.flat<Variant>());
  } else if (IsPlain(tensor.dtype()) && tensor.valid()) {
    out.Append({static_cast<const char*>(tensor.raw_data()), tensor.bytes()});
  } else {
    throw Unimplemented("a tensor of type {} cannot be saved", DTypeName(tensor.dtype()));
  }
  return out.written();
}

}  // namespace sextant
