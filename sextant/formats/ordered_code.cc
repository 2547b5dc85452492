#include "sextant/formats/ordered_code.h"

#include <bit>

namespace sextant {

void PutOrderedNumber(std::string* dst, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  dst->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) dst->push_back(static_cast<char>(value >> 8 * i));
}

void PutOrderedSigned(std::string* dst, int64_t value) {
  // A number of n bytes has 7n - 1 bits beside its sign; the n highest bits tell n, inverted for
  // negative numbers.
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) : value;
  const int bytes = std::bit_width(magnitude) / 7 + 1;
  char code[10];
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (bytes - 1 - i);
    code[i] = static_cast<char>(value >> (shift < 64 ? shift : 63));
  }
  for (int bit = 0; bit < bytes; ++bit) code[bit / 8] ^= static_cast<char>(0x80 >> bit % 8);
  dst->append(code, bytes);
}

void PutOrderedString(std::string* dst, std::string_view value) {
  for (const char c : value) {
    dst->push_back(c);
    if (c == '\0') dst->push_back('\xFF');
    if (c == '\xFF') dst->push_back('\0');
  }
  dst->append(std::string_view("\0\1", 2));
}

std::string SliceKey(std::string_view tensor_name, const TensorSlice& slice) {
  std::string key;
  PutOrderedNumber(&key, 0);
  PutOrderedString(&key, tensor_name);
  PutOrderedNumber(&key, slice.rank());
  for (int i = 0; i < slice.rank(); ++i) {
    PutOrderedSigned(&key, slice.extent(i).start);
    PutOrderedSigned(&key, slice.extent(i).length);
  }
  return key;
}

}  // namespace sextant
