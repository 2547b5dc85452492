// Dataset::ParseExamples.
#include "sextant/data/dataset.h"
#include "sextant/data/parse_examples.h"
#include "sextant/data/parsing_node.h"

namespace sextant::data {
namespace {

class RecordParser final : public StringParser {
 public:
  explicit RecordParser(const ExampleParser& parser) : parser_(parser) {}

  void ParseRow(std::string_view record, std::span<void* const> outs) override {
    parser_.ParseRow(record, outs);
  }
  void Parse(const Tensor& records, Element* element) override { parser_.Parse(records, element); }

 private:
  const ExampleParser& parser_;
};

class ParseExamplesNode final : public ParsingNode {
 public:
  ParseExamplesNode(std::shared_ptr<const DatasetNode> input, const ExampleSpec& spec)
      : ParsingNode(std::move(input), "ParseExamples", "record"), parser_(spec) {}

 private:
  std::unique_ptr<StringParser> NewParser() const override {
    return std::make_unique<RecordParser>(parser_);
  }
  ElementSpec FieldsOfOne() const override { return parser_.spec(); }
  const std::vector<RowField>& RowFields() const override { return parser_.row_fields(); }
  std::string DescribeFields() const override { return parser_.Describe(); }

  const ExampleParser parser_;
};

}  // namespace

Dataset Dataset::ParseExamples(const ExampleSpec& spec) const {
  return Dataset(std::make_shared<ParseExamplesNode>(node_, spec));
}

}  // namespace sextant::data
