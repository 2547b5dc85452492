// libFuzzer target: bytes are split as a CSV record, and the fields are read as numbers. The first
// byte says how. A finding is a memory error, fields that the record does not hold, or fields that
// quoted and joined again are split otherwise.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/formats/csv.h"

namespace sextant::fuzz {
namespace {

[[noreturn]] void Report(std::string_view what) {
  fmt::print(stderr, "finding: {}\n", what);
  std::abort();
}

template <typename T>
void ReadNumber(std::string_view field) {
  T value;
  if (ParseNumber(field, &value)) {
    const std::string padded = " " + std::string(field) + "\t";
    T again;
    if (!ParseNumber(padded, &again) || (!(again == value) && value == value)) Report("spaces change a number");
  }
}

void Check(CsvOptions options, std::string_view record) {
  CsvSplitter splitter(options), second(options);
  const std::vector<std::string_view>& fields = splitter.Split(record);
  std::string joined;
  for (const std::string_view field : fields) {
    ReadNumber<int32_t>(field);
    ReadNumber<int64_t>(field);
    ReadNumber<float>(field);
    ReadNumber<double>(field);
    if (!joined.empty()) joined += options.delimiter;
    joined += '"';
    for (const char c : field) joined += c == '"' ? "\"\"" : std::string(1, c);
    joined += '"';
  }
  if (!options.columns.empty() || !options.quotes || options.delimiter == '"') return;
  if (second.Split(joined) != fields) Report("fields quoted and joined are split otherwise");
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  sextant::CsvOptions options;
  if (data[0] & 1) options.quotes = false;
  if (data[0] & 2) options.delimiter = static_cast<char>(data[0]);
  if (data[0] & 4) options.columns = {1, 2, 5};
  try {
    sextant::fuzz::Check(options, std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  } catch (const sextant::Error& e) {
    if (e.code() != sextant::Code::kInvalidArgument) sextant::fuzz::Report(e.what());
  }
  return 0;
}
