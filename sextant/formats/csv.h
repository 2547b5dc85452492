// CSV records: fields between delimiters, quoted ones with the delimiter, line ends or doubled
// quotes in them. The rules are TensorFlow's:
//
//   - a field that begins with " ends at the next " that a delimiter or the end follows, and "" in
//     it stands for ";
//   - other fields hold no quotes (unless quoting is off) and no line ends;
//   - line ends before a field are skipped; a record ending in a delimiter has an empty last field,
//     one without any character has no fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct CsvOptions {
  char delimiter = ',';
  bool quotes = true;            // " begins a quoted field
  std::vector<int64_t> columns;  // the columns wanted, strictly increasing; empty: all
};

// Splits records into fields. Used by one thread at a time.
class CsvSplitter {
 public:
  // Throws INVALID_ARGUMENT when the columns are negative or not strictly increasing.
  explicit CsvSplitter(CsvOptions options);

  // The wanted fields of a record: views of the record, or of this object's own memory where quotes
  // were doubled, valid until the next call. What follows the last wanted column is not looked at.
  // Throws INVALID_ARGUMENT, with the position, when the record breaks the rules.
  const std::vector<std::string_view>& Split(std::string_view record);

 private:
  bool Wanted(size_t column) const;
  std::string_view Unquoted(std::string_view record, size_t* position) const;
  std::string_view Quoted(std::string_view record, size_t* position);

  const CsvOptions options_;
  bool ends_[256] = {};  // the bytes at which an unquoted field stops
  std::vector<std::string_view> fields_;
  std::string unescaped_;
};

}  // namespace sextant
