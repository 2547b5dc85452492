#include "sextant/formats/json_events.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <cmath>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// Rapidjson's handler: counts the depth and passes events on. Reals are read again, rounded
// correctly: rapidjson 1.1 with its flag for that reads behind a table for numbers like 0.0...01.
class EventHandler {
 public:
  // While a number is told, the stream still stands where it begins.
  EventHandler(const rapidjson::StringStream& stream, std::string_view text, JsonEvents& events)
      : stream_(stream), end_(text.data() + text.size()), events_(events) {}

  bool Null() { return events_.Null(), true; }
  bool Bool(bool value) { return events_.Bool(value), true; }
  bool Int(int value) { return events_.Integer(value), true; }
  bool Uint(unsigned value) { return events_.Integer(value), true; }
  bool Int64(int64_t value) { return events_.Integer(value), true; }
  bool Uint64(uint64_t value) {
    if (value <= INT64_MAX) {
      events_.Integer(static_cast<int64_t>(value));
    } else {
      events_.Unsigned(value);
    }
    return true;
  }
  bool Double(double value) {
    if (std::isfinite(value)) {  // else NaN, Inf or Infinity
      double exact = 0;
      if (std::from_chars(stream_.src_, end_, exact).ec == std::errc()) value = exact;
    }
    return events_.Real(value), true;
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return events_.String({text, size}), true;
  }
  bool StartObject() { return Enter(), events_.StartObject(), true; }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    return events_.Key({text, size}), true;
  }
  bool EndObject(rapidjson::SizeType) { return --depth_, events_.EndObject(), true; }
  bool StartArray() { return Enter(), events_.StartList(), true; }
  bool EndArray(rapidjson::SizeType) { return --depth_, events_.EndList(), true; }

 private:
  void Enter() {
    if (++depth_ > kMaxJsonDepth) {
      throw InvalidArgument("lists and objects are nested more than {} deep", kMaxJsonDepth);
    }
  }

  const rapidjson::StringStream& stream_;
  const char* const end_;
  JsonEvents& events_;
  int depth_ = 0;
};

}  // namespace

void ReadJsonEvents(const std::string& text, JsonEvents& events) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag;
  rapidjson::StringStream stream(text.c_str());
  rapidjson::Reader reader;
  EventHandler handler(stream, text, events);
  rapidjson::ParseResult result;
  try {
    result = reader.Parse<kFlags>(stream, handler);
  } catch (const Error& error) {
    throw error.WithPrefix(fmt::format("byte {}: ", stream.Tell()));
  }
  if (result.IsError()) {
    std::string_view what = rapidjson::GetParseError_En(result.Code());
    if (what.ends_with('.')) what.remove_suffix(1);  // more may follow
    throw InvalidArgument("byte {}: no JSON: {}", result.Offset(), what);
  }
  if (stream.Tell() != text.size()) {
    throw InvalidArgument("byte {}: no JSON: a zero byte", stream.Tell());
  }
}

}  // namespace sextant
