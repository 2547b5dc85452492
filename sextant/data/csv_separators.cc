// Delimiters and line ends of CSV text, a vector of bytes at a time.
//
// Each vector is compared with the delimiter and with '\n'; the two results, as one bit a byte,
// become positions by counting trailing zeros, one iteration for each separator instead of one for
// each byte: the method of Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB
// Journal 2019.
//
//   text  a , 1 2 , b \n      bits  0 1 0 0 1 0 1      positions  1 4 6
//
// Quotes are only looked for: text that has one goes another way (parse_csv.h), so the positions
// need not know whether they lie inside a quoted field.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/data/csv_separators.cc"
#include "sextant/data/csv_separators.h"

#include <bit>
#include <cstring>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::data {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

size_t FindSeparatorsSimd(const uint8_t* text, size_t size, uint8_t delimiter, uint32_t* positions,
                          CsvMarks* marks) {
  const hn::CappedTag<uint8_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  const auto delimiters = hn::Set(d, delimiter);
  const auto line_ends = hn::Set(d, static_cast<uint8_t>('\n'));
  const auto quotes = hn::Set(d, static_cast<uint8_t>('"'));
  auto quoted = hn::Zero(d);
  size_t lines = 0;
  uint32_t* next = positions;
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto bytes = hn::LoadU(d, text + i);
    const auto line_end = hn::Eq(bytes, line_ends);
    const auto found = hn::Or(hn::Eq(bytes, delimiters), line_end);
    lines += hn::CountTrue(d, line_end);
    quoted = hn::Or(quoted, hn::VecFromMask(d, hn::Eq(bytes, quotes)));
    uint64_t bits = 0;
    hn::StoreMaskBits(d, found, reinterpret_cast<uint8_t*>(&bits));
    for (; bits != 0; bits &= bits - 1) {
      *next++ = static_cast<uint32_t>(i) + static_cast<uint32_t>(std::countr_zero(bits));
    }
  }
  for (; i < size; ++i) {
    if (text[i] == delimiter || text[i] == '\n') *next++ = static_cast<uint32_t>(i);
    lines += text[i] == '\n';
    marks->quotes |= text[i] == '"';
  }
  marks->lines = lines;
  marks->quotes |= !hn::AllTrue(d, hn::Eq(quoted, hn::Zero(d)));
  return static_cast<size_t>(next - positions);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::data {
HWY_EXPORT(FindSeparatorsSimd);

size_t FindSeparators(std::string_view text, char delimiter, uint32_t* positions, CsvMarks* marks) {
  return HWY_DYNAMIC_DISPATCH(FindSeparatorsSimd)(reinterpret_cast<const uint8_t*>(text.data()),
                                                  text.size(), static_cast<uint8_t>(delimiter),
                                                  positions, marks);
}

}  // namespace sextant::data
#endif
