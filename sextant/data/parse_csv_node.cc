// Dataset of CSV rows parsed from lines: ParseCsv.
#include "sextant/base/error.h"
#include "sextant/base/utf8.h"
#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/parse_csv.h"
#include "sextant/data/parsing_node.h"

namespace sextant::data {
namespace {

class LineParser final : public StringParser {
 public:
  LineParser(const CsvFileOptions& options, const CsvParser& parser)
      : options_(options), parser_(parser) {}

  // The first line of a file may begin with a byte order mark.
  void ParseRow(std::string_view text, std::span<void* const> outs) override {
    text = WithoutByteOrderMark(text);
    const CutRows cut = CutCsvRows(text, 1, options_.delimiter, options_.quotes, true);
    if (cut.rows != 1 || cut.bytes != text.size()) {
      throw InvalidArgument("ParseCsv: a text of {} bytes is not one row", text.size());
    }
    parser_.Parse(text, cut, 0, outs);
  }

  bool ParseRows(std::span<const std::string> lines, std::span<void* const> outs) override {
    text_.clear();
    for (const std::string& line : lines) {
      if (IsBlankRow(line)) return false;
      text_.append(WithoutByteOrderMark(line)).push_back('\n');
    }
    return parser_.ParseLines(text_, static_cast<int64_t>(lines.size()), outs);
  }

  void Parse(const Tensor& lines, Element* element) override {
    const std::vector<CsvColumn>& columns = parser_.columns();
    outs_.clear();
    element->fields().resize(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
      auto& [name, tensor] = element->fields()[c];
      name = columns[c].name;
      MakeOwn(&tensor, columns[c].dtype, lines.shape());
      outs_.push_back(tensor.raw_data());
    }
    const std::span<const std::string> texts = lines.flat<std::string>();
    for (size_t i = 0; i < texts.size(); ++i) {
      try {
        ParseRow(texts[i], outs_);
      } catch (const Error& e) {
        if (lines.rank() == 0) throw;
        throw e.WithPrefix(fmt::format("text {} of the batch: ", i));
      }
      for (size_t c = 0; c < outs_.size(); ++c) {
        outs_[c] = static_cast<char*>(outs_[c]) + DTypeSize(columns[c].dtype);
      }
    }
  }

 private:
  const CsvFileOptions& options_;
  CsvParser parser_;
  std::vector<void*> outs_;
  std::string text_;
};

class ParseCsvNode final : public ParsingNode {
 public:
  ParseCsvNode(std::shared_ptr<const DatasetNode> input, const CsvFileOptions& options)
      : ParsingNode(std::move(input), "ParseCsv", "line"), options_(options), parser_(options) {
    for (const CsvColumn& column : parser_.columns()) {
      row_fields_.push_back({column.name, column.dtype, Shape()});
    }
  }

 private:
  std::unique_ptr<StringParser> NewParser() const override {
    return std::make_unique<LineParser>(options_, parser_);
  }
  ElementSpec FieldsOfOne() const override {
    ElementSpec spec;
    for (const RowField& field : row_fields_) spec.push_back({field.name, field.dtype, Shape()});
    return spec;
  }
  const std::vector<RowField>& RowFields() const override { return row_fields_; }
  std::string DescribeFields() const override {
    std::string text;
    for (const RowField& field : row_fields_) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name, DTypeName(field.dtype));
    }
    return text;
  }

  const CsvFileOptions options_;
  const CsvParser parser_;
  std::vector<RowField> row_fields_;
};

}  // namespace

Dataset ParseCsv(const Dataset& lines, const CsvFileOptions& options) {
  if (options.header || options.compression != Compression::kNone) {
    throw InvalidArgument("ParseCsv: lines have neither a header nor a compression");
  }
  return Dataset(std::make_shared<ParseCsvNode>(lines.node(), options));
}

}  // namespace sextant::data
