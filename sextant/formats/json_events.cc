#include "sextant/formats/json_events.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// Rapidjson's handler: counts the depth and passes events on.
class EventHandler {
 public:
  explicit EventHandler(JsonEvents& events) : events_(events) {}

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
  bool Double(double value) { return events_.Real(value), true; }
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

  JsonEvents& events_;
  int depth_ = 0;
};

}  // namespace

void ReadJsonEvents(const std::string& text, JsonEvents& events) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseFullPrecisionFlag;
  rapidjson::StringStream stream(text.c_str());
  rapidjson::Reader reader;
  EventHandler handler(events);
  rapidjson::ParseResult result;
  try {
    result = reader.Parse<kFlags>(stream, handler);
  } catch (const Error& error) {
    throw error.WithPrefix(fmt::format("byte {}: ", stream.Tell()));
  }
  if (result.IsError()) {
    throw InvalidArgument("byte {}: no JSON: {}", result.Offset(),
                          rapidjson::GetParseError_En(result.Code()));
  }
  if (stream.Tell() != text.size()) {
    throw InvalidArgument("byte {}: no JSON: a zero byte", stream.Tell());
  }
}

}  // namespace sextant
