// Python pickles, as far as data sets have them: numbers, texts, tuples, lists, dictionaries and
// numpy arrays of bytes. Nothing is executed: a pickle that calls anything but the few functions
// that make an array is refused.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

struct SEXTANT_API PickleValue {
  // Which of the members below hold the value.
  enum class Kind { kNone, kBool, kInt, kText, kTuple, kList, kDict, kName, kObject };

  Kind kind = Kind::kNone;
  int64_t number = 0;     // kBool, kInt
  std::string_view text;  // kText; "module name" of a kName
  // The items of a tuple or list; keys and values in turn; what an object was made from: its
  // function, the arguments, and its state if it was given one.
  std::vector<const PickleValue*> items;
};

// A matrix of bytes by rows.
struct SEXTANT_API ByteMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::string_view bytes;  // row by row
};

// Owns the values; texts point into the bytes, which must outlive it. Protocols 2 to 4.
class SEXTANT_API Pickle {
 public:
  // Throws DATA_LOSS with `name` and the offset when the bytes are no pickle, or one with more than
  // data sets need.
  Pickle(std::string_view bytes, std::string name);

  const PickleValue& root() const { return *root_; }

  // The value of a dictionary's key. Throws DATA_LOSS when there is none.
  const PickleValue& Get(const PickleValue& dict, std::string_view key) const;
  // Throw DATA_LOSS when the value is not what they return.
  std::vector<int64_t> Ints(const PickleValue& list) const;
  ByteMatrix Bytes(const PickleValue& array) const;

 private:
  friend class PickleMachine;

  const std::string name_;
  std::deque<PickleValue> values_;
  std::deque<std::string> texts_;  // those that are not in the bytes as they are
  const PickleValue* root_ = nullptr;
};

}  // namespace sextant::datasets

#pragma GCC visibility pop
