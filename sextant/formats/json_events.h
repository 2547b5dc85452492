// JSON read as a sequence of events, without building a document: what all readers of JSON on hot
// paths share. NaN, Infinity and -Infinity count as numbers, as in TensorFlow Serving.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

// What is met, in the order of the text. A function that throws an Error ends the reading.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void Null() = 0;
  virtual void Bool(bool value) = 0;
  virtual void Integer(int64_t value) = 0;
  virtual void Unsigned(uint64_t value) = 0;  // above the range of int64
  virtual void Real(double value) = 0;        // has a point or exponent, or does not fit in uint64
  virtual void String(std::string_view text) = 0;
  virtual void StartList() = 0;
  virtual void EndList() = 0;
  virtual void StartObject() = 0;
  virtual void Key(std::string_view text) = 0;
  virtual void EndObject() = 0;
};

inline constexpr int kMaxJsonDepth = 32;  // lists and objects inside each other

// Reads one JSON value, and nothing behind it. Uses no recursion. Throws INVALID_ARGUMENT, naming
// the byte, for text that is no JSON or nested too deeply; an Error of "events" gets the byte too.
void ReadJsonEvents(const std::string& text, JsonEvents& events);

}  // namespace sextant
