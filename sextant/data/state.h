// StateWriter and StateReader: what iterators save, value after value, in the order written.
//
// Every value carries a short tag, which the reader checks: a state that does not fit is found
// where it differs. The encoding is stable across processes and machines (little-endian).
//
//   writer.PutInt("next", next_);         next_ = reader.GetInt("next");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/data/element.h"

namespace sextant::data {

class StateWriter {
 public:
  void PutInt(std::string_view tag, int64_t value);
  void PutBytes(std::string_view tag, std::string_view value);
  // Throws UNIMPLEMENTED for handles and variants.
  void PutTensor(std::string_view tag, const Tensor& value);
  void PutElement(std::string_view tag, const Element& value);

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Every function throws DATA_LOSS when the bytes end or the tag is another one, and allocates no
// more than the bytes hold.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t GetInt(std::string_view tag);
  std::string GetBytes(std::string_view tag);
  Tensor GetTensor(std::string_view tag);
  Element GetElement(std::string_view tag);
  // Whether the next value has this tag: of those that are not always there.
  bool NextIs(std::string_view tag) const;
  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace sextant::data
