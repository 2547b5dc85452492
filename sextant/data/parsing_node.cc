#include "sextant/data/parsing_node.h"

#include <new>

#include "sextant/base/error.h"
#include "sextant/data/dataset.h"
#include "sextant/data/scratch_element.h"

namespace sextant::data {
namespace {

class ParsingIterator final : public NodeIterator {
 public:
  ParsingIterator(const ParsingNode& node, std::unique_ptr<NodeIterator> input)
      : node_(node), input_(std::move(input)) {}

  bool Next(Element* element) override {
    if (!input_->NextTask(&in_)) return false;
    node_.Parse(in_.element, in_.origin, element);
    return true;
  }
  bool NextTask(Task* task) override {
    if (!NodeIterator::NextTask(task)) return false;
    task->origin = in_.origin;
    return true;
  }
  void Save(StateWriter& writer) override { input_->Save(writer); }
  void Restore(StateReader& reader) override { input_->Restore(reader); }

 private:
  const ParsingNode& node_;
  const std::unique_ptr<NodeIterator> input_;
  Task in_;  // complete as the input gives it
};

bool IsText(const RowFormat* format, std::string_view field) {
  return format != nullptr && format->fields.size() == 1 && format->fields[0].name == field &&
         format->fields[0].dtype == DType::kString && format->fields[0].shape.rank() == 0;
}

}  // namespace

// A parser that no other call uses meanwhile.
class ParsingNode::Lent {
 public:
  explicit Lent(const ParsingNode& node) : node_(node) {
    const std::lock_guard lock(node.mutex_);
    if (node.free_.empty()) {
      parser_ = node.NewParser();
    } else {
      parser_ = std::move(node.free_.back());
      node.free_.pop_back();
    }
  }
  ~Lent() {
    const std::lock_guard lock(node_.mutex_);
    try {
      node_.free_.push_back(std::move(parser_));
    } catch (const std::bad_alloc&) {  // the next call makes one
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  StringParser* operator->() { return parser_.get(); }

 private:
  const ParsingNode& node_;
  std::unique_ptr<StringParser> parser_;
};

ParsingNode::ParsingNode(std::shared_ptr<const DatasetNode> input, std::string name,
                         std::string field)
    : UnaryNode(std::move(input)),
      name_(std::move(name)),
      field_(std::move(field)),
      task_rows_(input_->parallel() == 1 && IsText(input_->Rows(), field_) ? input_->Rows()
                                                                           : nullptr) {}

std::unique_ptr<NodeIterator> ParsingNode::MakeIterator(const Walk& walk) const {
  return std::make_unique<ParsingIterator>(*this, input_->MakeIterator(walk));
}

std::string ParsingNode::Describe() const {
  return fmt::format("{}.{}({})", input_->Describe(), name_, DescribeFields());
}

ElementSpec ParsingNode::Spec() const {
  ElementSpec spec = FieldsOfOne();
  for (const FieldSpec& text : input_->Spec()) {
    if (text.name != field_ || !text.shape.rank_known()) continue;
    for (FieldSpec& field : spec) {
      for (int d = 0; d < text.shape.rank(); ++d) field.shape.Insert(d, text.shape[d]);
    }
  }
  return spec;
}

int ParsingNode::parallel() const {
  return input_->parallel() == 1 ? kAutotune : input_->parallel();
}

const Tensor& ParsingNode::TextOf(const Element& element) const {
  const Tensor* const text = element.Find(field_);
  if (text == nullptr || text->dtype() != DType::kString) {
    throw InvalidArgument("{} needs strings in a field \"{}\"; the element has {}", name_, field_,
                          element.Describe());
  }
  return *text;
}

const Element& ParsingNode::Input(Task& task, Element* scratch) const {
  if (input_->parallel() == 1) return task.element;  // and its buffers stay with the task
  input_->Finish(task, scratch);
  return *scratch;
}

void ParsingNode::WithPlace(std::string_view origin, FunctionRef<void()> parse) const {
  try {
    parse();
  } catch (...) {
    throw Error(CurrentStatus()).WithPrefix(Place(origin));
  }
}

void ParsingNode::Parse(const Element& input, std::string_view origin, Element* element) const {
  WithPlace(origin, [&] { Lent(*this)->Parse(TextOf(input), element); });
}

void ParsingNode::Finish(Task& task, Element* element) const {
  ScratchElement scratch;
  Parse(Input(task, scratch.get()), task.origin, element);
}

void ParsingNode::FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const {
  const std::vector<RowField>& fields = RowFields();
  if (fields.empty() || !batch.Prepare(fields)) {
    return DatasetNode::FinishRows(tasks, batch, first);
  }
  Lent parser(*this);
  ScratchElement scratch;
  std::vector<void*> outs(fields.size());
  for (Task& task : tasks) {
    const int64_t row = first++;
    try {
      WithPlace(task.origin, [&] {
        const Tensor& text = TextOf(Input(task, scratch.get()));
        if (text.rank() > 0) {  // batches of batches
          Element element;
          parser->Parse(text, &element);
          batch.Reject(row, std::move(element));
          return;
        }
        for (size_t f = 0; f < outs.size(); ++f) outs[f] = batch.raw_row(static_cast<int>(f), row);
        parser->ParseRow(*text.data<std::string>(), outs);
      });
    } catch (...) {  // the consumer throws it when it comes to this row
      batch.Reject(row, std::current_exception());
    }
  }
}

void ParsingNode::FinishRows(RowBatch& inputs, RowBatch& batch, int64_t first) const {
  const std::vector<RowField>& fields = RowFields();
  const std::span texts(inputs.row_data<std::string>(0, 0), static_cast<size_t>(inputs.rows()));
  if (fields.empty() || !batch.Prepare(fields)) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const Element input = {{field_, std::move(texts[i])}};
      batch.Make(first + static_cast<int64_t>(i), [&](Element* element) {
        Parse(input, inputs.origin(static_cast<int64_t>(i)), element);
      });
    }
    return;
  }
  Lent parser(*this);
  std::vector<void*> outs(fields.size());
  const auto point_to = [&](int64_t row) {
    for (size_t f = 0; f < outs.size(); ++f) outs[f] = batch.raw_row(static_cast<int>(f), row);
  };
  point_to(first);
  if (parser->ParseRows(texts, outs)) return;
  for (size_t i = 0; i < texts.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    point_to(first + row);
    try {
      WithPlace(inputs.origin(row), [&] { parser->ParseRow(texts[i], outs); });
    } catch (...) {  // the consumer throws it when it comes to this row
      batch.Reject(first + row, std::current_exception());
    }
  }
}

}  // namespace sextant::data
