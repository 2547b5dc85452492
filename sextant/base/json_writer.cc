#include "sextant/base/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "sextant/base/base64.h"
#include "sextant/base/printable.h"
#include "sextant/base/utf8.h"

namespace sextant {

void JsonWriter::NewLine() {
  out_ << '\n';
  for (int i = 0; i < depth_; ++i) out_ << ' ';
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ << ',';
  NewLine();
  first_ = false;
}

void JsonWriter::BeginObject() {
  Separate();
  out_ << '{';
  ++depth_;
  first_ = true;
}

void JsonWriter::EndObject() {
  --depth_;
  if (!first_) NewLine();
  out_ << '}';
  first_ = false;
  if (depth_ == 0) out_ << '\n';
}

void JsonWriter::BeginArray() {
  Separate();
  out_ << '[';
  ++depth_;
  first_ = true;
}

void JsonWriter::EndArray() {
  --depth_;
  if (!first_) NewLine();
  out_ << ']';
  first_ = false;
  if (depth_ == 0) out_ << '\n';
}

void JsonWriter::Key(std::string_view key) {
  String(key);
  out_ << ": ";
  after_key_ = true;
}

void JsonWriter::String(std::string_view text) {
  Separate();
  out_ << '"';
  while (!text.empty()) {
    const std::string_view before = text;
    const int32_t character = TakeUtf8(&text);
    if (character < 0) {
      out_ << "\\ufffd";
      if (text.size() == before.size()) text.remove_prefix(1);
    } else if (character == '"' || character == '\\') {
      out_ << '\\' << static_cast<char>(character);
    } else if (character < 0x20 || character == 0x7f) {
      out_ << fmt::format("\\u{:04x}", character);
    } else {
      out_ << before.substr(0, before.size() - text.size());
    }
  }
  out_ << '"';
}

void JsonWriter::Int(int64_t value) {
  Separate();
  out_ << value;
}

void JsonWriter::Unsigned(uint64_t value) {
  Separate();
  out_ << value;
}

void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return String(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  Separate();
  out_ << fmt::format("{}", value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ << (value ? "true" : "false");
}

void JsonWriter::Null() {
  Separate();
  out_ << "null";
}

void JsonWriter::Bytes(std::string_view bytes) {
  Separate();
  const bool printable = IsPrintable(bytes);
  out_ << (printable ? "{\"utf8\": " : "{\"base64\": ");
  after_key_ = true;
  String(printable ? std::string(bytes) : StandardBase64(bytes));
  out_ << '}';
}

void JsonWriter::Field(std::string_view key, std::span<const int64_t> values) {
  Key(key);
  Separate();
  out_ << '[';
  for (size_t i = 0; i < values.size(); ++i) out_ << (i == 0 ? "" : ", ") << values[i];
  out_ << ']';
}

void JsonWriter::Field(std::string_view key, const std::vector<std::string>& values) {
  Key(key);
  BeginArray();
  for (const std::string& value : values) String(value);
  EndArray();
}

}  // namespace sextant
