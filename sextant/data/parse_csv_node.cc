// ParseCsv. Parsing is left to the threads of a Batch behind it, which write rows without making
// elements.
#include <mutex>

#include "sextant/base/error.h"
#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/parse_csv.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

const Tensor& LineOf(const Element& element) {
  const Tensor* const line = element.Find("line");
  if (line == nullptr || line->dtype() != DType::kString) {
    throw InvalidArgument("ParseCsv needs strings in a field \"line\"; the element has {}",
                          element.Describe());
  }
  return *line;
}

// Parsers are used by one thread at a time: each call takes one that is free.
class ParserPool {
 public:
  explicit ParserPool(const CsvFileOptions& options) : first_(options) {}

  std::unique_ptr<CsvParser> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<CsvParser>(first_);
    std::unique_ptr<CsvParser> parser = std::move(free_.back());
    free_.pop_back();
    return parser;
  }
  void Give(std::unique_ptr<CsvParser> parser) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(parser));
  }
  const std::vector<CsvColumn>& columns() const { return first_.columns(); }

 private:
  const CsvParser first_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CsvParser>> free_;
};

class ParseCsvNode final : public UnaryNode {
 public:
  ParseCsvNode(std::shared_ptr<const DatasetNode> input, const CsvFileOptions& options)
      : UnaryNode(std::move(input)), options_(options), parsers_(options) {
    for (const CsvColumn& column : parsers_.columns()) {
      row_fields_.push_back({column.name, column.dtype, Shape()});
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::string Describe() const override {
    std::string columns;
    for (const RowField& field : row_fields_) {
      columns +=
          fmt::format("{}{}: {}", columns.empty() ? "" : ", ", field.name, DTypeName(field.dtype));
    }
    return fmt::format("{}.ParseCsv({})", input_->Describe(), columns);
  }
  ElementSpec Spec() const override {
    PartialShape shape;
    for (const FieldSpec& field : input_->Spec()) {
      if (field.name == "line") shape = field.shape;
    }
    ElementSpec spec;
    for (const RowField& field : row_fields_) spec.push_back({field.name, field.dtype, shape});
    return spec;
  }

  int parallel() const override { return input_->parallel() == 1 ? kAutotune : input_->parallel(); }
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override {
    return input_->MakeTasks(walk);
  }
  bool SeekableTasks() const override { return input_->SeekableTasks(); }
  void Finish(Task& task) const override {
    input_->Finish(task);
    const Tensor lines = LineOf(task.element);
    Parse(lines, task.origin, &task.element);
  }
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override {
    if (!batch.Prepare(row_fields_)) return DatasetNode::FinishRows(tasks, batch, first);
    std::unique_ptr<CsvParser> parser = parsers_.Take();
    std::vector<void*> outs(row_fields_.size());
    for (Task& task : tasks) {
      const int64_t row = first++;
      try {
        input_->Finish(task);
        const Tensor& line = LineOf(task.element);
        if (line.rank() > 0) {  // batches of batches
          Parse(Tensor(line), task.origin, &task.element);
          batch.Reject(row, {}, std::move(task.element));
          continue;
        }
        for (size_t c = 0; c < outs.size(); ++c) outs[c] = batch.raw_row(static_cast<int>(c), row);
        ParseLine(*parser, line.scalar<std::string>(), outs);
      } catch (...) {  // the consumer throws it when it comes to this row
        batch.Reject(row, Error(CurrentStatus()).WithPrefix(Place(task.origin)).status());
      }
    }
    parsers_.Give(std::move(parser));
  }

  void Parse(const Tensor& lines, std::string_view origin, Element* element) const {
    std::unique_ptr<CsvParser> parser = parsers_.Take();
    std::vector<void*> outs;
    element->fields().resize(row_fields_.size());
    for (size_t c = 0; c < row_fields_.size(); ++c) {
      auto& [name, tensor] = element->fields()[c];
      name = row_fields_[c].name;
      MakeOwn(&tensor, row_fields_[c].dtype, lines.shape());
      outs.push_back(tensor.raw_data());
    }
    const std::span<const std::string> texts = lines.flat<std::string>();
    for (size_t i = 0; i < texts.size(); ++i) {
      try {
        ParseLine(*parser, texts[i], outs);
      } catch (const Error& e) {
        if (lines.rank() == 0) throw e.WithPrefix(Place(origin));
        throw e.WithPrefix(fmt::format("text {} of the batch: ", i));
      }
      for (size_t c = 0; c < outs.size(); ++c) {
        outs[c] = static_cast<char*>(outs[c]) + DTypeSize(row_fields_[c].dtype);
      }
    }
    parsers_.Give(std::move(parser));
  }

 private:
  void ParseLine(CsvParser& parser, std::string_view text, std::span<void* const> outs) const {
    const CutRows cut = CutCsvRows(text, 1, options_.delimiter, options_.quotes, true);
    if (cut.rows != 1 || cut.bytes != text.size()) {
      throw InvalidArgument("ParseCsv: a text of {} bytes is not one row", text.size());
    }
    parser.Parse(text, cut, 0, outs);
  }

  const CsvFileOptions options_;
  std::vector<RowField> row_fields_;
  mutable ParserPool parsers_;
};

class ParseCsvIterator final : public NodeIterator {
 public:
  ParseCsvIterator(const ParseCsvNode& node, std::unique_ptr<NodeIterator> input)
      : node_(node), input_(std::move(input)) {}

  bool Next(Element* element) override {
    if (!input_->NextTask(&line_)) return false;
    node_.Parse(LineOf(line_.element), line_.origin, element);
    return true;
  }
  void Save(StateWriter& writer) override { input_->Save(writer); }
  void Restore(StateReader& reader) override { input_->Restore(reader); }

 private:
  const ParseCsvNode& node_;
  const std::unique_ptr<NodeIterator> input_;
  Task line_;  // complete as the input gives it
};

std::unique_ptr<NodeIterator> ParseCsvNode::MakeIterator(const Walk& walk) const {
  return std::make_unique<ParseCsvIterator>(*this, input_->MakeIterator(walk));
}

}  // namespace

Dataset ParseCsv(const Dataset& lines, const CsvFileOptions& options) {
  if (options.header || options.compression != Compression::kNone) {
    throw InvalidArgument("ParseCsv: lines have neither a header nor a compression");
  }
  return Dataset(std::make_shared<ParseCsvNode>(lines.node(), options));
}

}  // namespace sextant::data
