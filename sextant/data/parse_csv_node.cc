#include "sextant/base/error.h"
#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/parse_csv.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

Element Parsed(CsvParser parser, const CsvFileOptions& options, const Tensor& lines) {
  Element element;
  std::vector<void*> outs;
  for (const CsvColumn& column : parser.columns()) {
    element.fields().emplace_back(column.name, Tensor(column.dtype, lines.shape()));
    outs.push_back(element.fields().back().second.raw_data());
  }
  const std::span<const std::string> texts = lines.flat<std::string>();
  for (size_t i = 0; i < texts.size(); ++i) {
    try {
      const CutRows cut = CutCsvRows(texts[i], 1, options.delimiter, options.quotes, true);
      if (cut.rows != 1 || cut.bytes != texts[i].size()) throw InvalidArgument("is not one row");
      parser.Parse(texts[i], cut, 1, outs);
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("ParseCsv: text {}: ", i));
    }
    for (size_t c = 0; c < outs.size(); ++c) {
      outs[c] = static_cast<char*>(outs[c]) + DTypeSize(parser.columns()[c].dtype);
    }
  }
  return element;
}

}  // namespace

Dataset ParseCsv(const Dataset& lines, const CsvFileOptions& options) {
  if (options.header || options.compression != Compression::kNone) {
    throw InvalidArgument("ParseCsv: lines have neither a header nor a compression");
  }
  return lines.Map(
      [parser = CsvParser(options), options](const Element& element) {
        return Parsed(parser, options, element["line"]);
      },
      {.parallel = kAutotune});
}

}  // namespace sextant::data
