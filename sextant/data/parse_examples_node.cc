// Dataset::ParseExamples. Parsing is left to the threads of a Batch behind it, which write rows
// without making elements.
#include "sextant/base/error.h"
#include "sextant/data/dataset.h"
#include "sextant/data/parse_examples.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

const Tensor& RecordOf(const Element& element) {
  const Tensor* const record = element.Find("record");
  if (record == nullptr || record->dtype() != DType::kString) {
    throw InvalidArgument("ParseExamples needs strings in a field \"record\"; the element has {}",
                          element.Describe());
  }
  return *record;
}

class ParseExamplesNode final : public UnaryNode {
 public:
  ParseExamplesNode(std::shared_ptr<const DatasetNode> input, const ExampleSpec& spec)
      : UnaryNode(std::move(input)), parser_(spec) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::string Describe() const override {
    return fmt::format("{}.ParseExamples({})", input_->Describe(), parser_.Describe());
  }
  ElementSpec Spec() const override {
    const ElementSpec input = input_->Spec();
    ElementSpec spec = parser_.spec();
    for (const FieldSpec& field : input) {
      if (field.name != "record" || !field.shape.rank_known()) continue;
      for (FieldSpec& feature : spec) {
        for (int d = 0; d < field.shape.rank(); ++d) feature.shape.Insert(d, field.shape[d]);
      }
    }
    return spec;
  }

  int parallel() const override { return input_->parallel() == 1 ? kAutotune : input_->parallel(); }
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override {
    return input_->MakeTasks(walk);
  }
  bool SeekableTasks() const override { return input_->SeekableTasks(); }
  void Finish(Task& task) const override {
    input_->Finish(task);
    const Tensor record = RecordOf(task.element);
    Parse(record, task.origin, &task.element);
  }
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override {
    if (!parser_.fixed() || !batch.Prepare(parser_.row_fields())) {
      return DatasetNode::FinishRows(tasks, batch, first);
    }
    std::vector<void*> outs(parser_.row_fields().size());
    for (Task& task : tasks) {
      const int64_t row = first++;
      try {
        input_->Finish(task);
        const Tensor& record = RecordOf(task.element);
        if (record.rank() > 0) {  // batches of batches
          Parse(Tensor(record), task.origin, &task.element);
          batch.Reject(row, {}, std::move(task.element));
          continue;
        }
        for (size_t f = 0; f < outs.size(); ++f) outs[f] = batch.raw_row(static_cast<int>(f), row);
        parser_.ParseRow(*record.data<std::string>(), outs);
      } catch (...) {  // the consumer throws it when it comes to this row
        batch.Reject(row, Error(CurrentStatus()).WithPrefix(Place(task.origin)).status());
      }
    }
  }

  void Parse(const Tensor& records, std::string_view origin, Element* element) const {
    try {
      parser_.Parse(records, element);
    } catch (const Error& e) {
      throw e.WithPrefix(Place(origin));
    }
  }

 private:
  const ExampleParser parser_;
};

class ParseExamplesIterator final : public NodeIterator {
 public:
  ParseExamplesIterator(const ParseExamplesNode& node, std::unique_ptr<NodeIterator> input)
      : node_(node), input_(std::move(input)) {}

  bool Next(Element* element) override {
    if (!input_->NextTask(&record_)) return false;
    node_.Parse(RecordOf(record_.element), record_.origin, element);
    return true;
  }
  void Save(StateWriter& writer) override { input_->Save(writer); }
  void Restore(StateReader& reader) override { input_->Restore(reader); }

 private:
  const ParseExamplesNode& node_;
  const std::unique_ptr<NodeIterator> input_;
  Task record_;  // complete as the input gives it
};

std::unique_ptr<NodeIterator> ParseExamplesNode::MakeIterator(const Walk& walk) const {
  return std::make_unique<ParseExamplesIterator>(*this, input_->MakeIterator(walk));
}

}  // namespace

Dataset Dataset::ParseExamples(const ExampleSpec& spec) const {
  return Dataset(std::make_shared<ParseExamplesNode>(node_, spec));
}

}  // namespace sextant::data
