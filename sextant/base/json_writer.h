// JsonWriter: writes JSON as it is made, so that large files need little memory.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Calls must nest as the text does: a Key before each value of an object.
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);

  // Invalid UTF-8 becomes U+FFFD.
  void String(std::string_view text);
  void Int(int64_t value);
  void Unsigned(uint64_t value);
  // The shortest text that reads back as the same double; not finite: "nan", "inf", "-inf".
  void Double(double value);
  void Bool(bool value);
  void Null();
  // {"utf8": text} for printable text, else {"base64": text}.
  void Bytes(std::string_view bytes);

  // A key with its value.
  void Field(std::string_view key, std::string_view value) { Key(key), String(value); }
  void Field(std::string_view key, const char* value) { Key(key), String(value); }
  void Field(std::string_view key, int64_t value) { Key(key), Int(value); }
  void Field(std::string_view key, int value) { Key(key), Int(value); }
  void Field(std::string_view key, uint64_t value) { Key(key), Unsigned(value); }
  void Field(std::string_view key, double value) { Key(key), Double(value); }
  void Field(std::string_view key, bool value) { Key(key), Bool(value); }
  void Field(std::string_view key, std::span<const int64_t> values);
  void Field(std::string_view key, const std::vector<std::string>& values);

 private:
  void Separate();
  void NewLine();

  std::ostream& out_;
  int depth_ = 0;
  bool first_ = true;  // nothing is in the innermost object or array yet
  bool after_key_ = false;
};

}  // namespace sextant
