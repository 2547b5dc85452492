// Tensors as JSON: nested lists of numbers, booleans and strings; {"b64": "..."} stands for bytes.
// By TensorFlow Serving's rules, with one addition: bytes that are no UTF-8 are always written
// as {"b64": ...}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// Collects values of one input, each a number, boolean, string or nested lists of them, all of one
// shape. The elements go straight into the memory of the tensor. Used by one thread at a time.
//
// Every function throws INVALID_ARGUMENT when what comes does not fit: an element of another type,
// a number out of range, lists of different sizes; UNIMPLEMENTED for types that JSON has no form
// for.
class JsonTensorBuilder {
 public:
  explicit JsonTensorBuilder(DType dtype) : dtype_(dtype) {}

  void Bool(bool value);
  void Integer(int64_t value);
  void Unsigned(uint64_t value);
  void Real(double value);
  void String(std::string_view text);
  void Base64(std::string_view text);  // of {"b64": text}
  void StartList();
  void EndList();

  // Between two values, not inside a list.
  bool between_values() const { return counts_.empty(); }
  int64_t num_values() const { return num_values_; }
  int rank() const { return rank_; }  // of the values; -1: there is none yet

  // All values as a tensor [num_values, shape of a value...]. Where "wanted" does not fit that but
  // has as many elements, one to a value, the tensor takes its rank: 3 stands for [3].
  Tensor TakeRows(const PartialShape& wanted);
  // REQUIRES: num_values() is 1. That value.
  Tensor TakeValue();

 private:
  template <typename T>
  void Push(T value);
  void PushText(std::string text);
  void Leaf();       // an element begins, at the present depth
  void EndOfItem();  // of the list at hand, or a value
  Tensor Take(const Shape& shape);
  [[noreturn]] void ThrowNot(std::string_view shown) const;

  const DType dtype_;
  int rank_ = -1;                // of a value; -1: not known yet
  std::vector<int64_t> dims_;    // of a value; -1: not known yet
  std::vector<int64_t> counts_;  // of the lists that are open
  int64_t num_values_ = 0;
  BufferRef buffer_;  // of plain elements
  size_t used_ = 0;
  std::vector<std::string> texts_;
};

// How values are written.
struct JsonStyle {
  bool base64 = false;            // strings as {"b64": "..."}
  bool quote_non_finite = false;  // "NaN" instead of NaN, which is no JSON
};
// The text of the whole tensor, or of one row of its first dimension. Throws UNIMPLEMENTED for
// types that JSON has no form for. REQUIRES: row < tensor.dim(0).
SEXTANT_API void AppendJson(const Tensor& tensor, const JsonStyle& style, std::string* text);
SEXTANT_API void AppendJsonRow(const Tensor& tensor, int64_t row, const JsonStyle& style,
                               std::string* text);

// In quotes, with escapes. Bytes that are no UTF-8 become U+FFFD.
SEXTANT_API void AppendJsonString(std::string_view bytes, std::string* text);
// The shortest text that stands for this value: 1.0, 0.1, 1e-05, NaN, -Infinity.
SEXTANT_API void AppendJsonNumber(float value, std::string* text);
SEXTANT_API void AppendJsonNumber(double value, std::string* text);

}  // namespace sextant
