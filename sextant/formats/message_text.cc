#include "sextant/formats/message_text.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <limits>

#include "sextant/base/error.h"
#include "sextant/base/utf8.h"

namespace sextant {
namespace {

// Remembers the first error of a text.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

bool TryParseMessage(std::string_view bytes, google::protobuf::Message* message) {
  const google::protobuf::LogSilencer quiet;
  return bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void ParseMessage(std::string_view bytes, std::string_view what,
                  google::protobuf::Message* message) {
  if (!TryParseMessage(bytes, message)) {
    throw DataLoss("{}: the {} bytes are not a {}", what, bytes.size(),
                   message->GetDescriptor()->name());
  }
}

void ParseMessageText(std::string_view text, std::string_view what,
                      google::protobuf::Message* message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(WithoutByteOrderMark(text)), message)) {
    throw InvalidArgument("{}: the text is not a {}: {}", what, message->GetDescriptor()->name(),
                          error.text());
  }
}

std::string MessageText(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

std::string SerializeSorted(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace sextant
