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
    if (!input_->NextPending(&in_)) return false;
    node_.Parse(in_.element, in_.origin, element);
    return true;
  }
  bool NextPending(PendingElement* pending) override {
    if (!NodeIterator::NextPending(pending)) return false;
    pending->origin = in_.origin;
    return true;
  }
  void Save(StateWriter& writer) override { input_->Save(writer); }
  void Restore(StateReader& reader) override { input_->Restore(reader); }

 private:
  const ParsingNode& node_;
  const std::unique_ptr<NodeIterator> input_;
  PendingElement in_;  // finished as the input gives it
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
      work_(*this, *input_) {}

std::unique_ptr<NodeIterator> ParsingNode::MakeIterator(const IterationContext& context) const {
  return std::make_unique<ParsingIterator>(*this, input_->MakeIterator(context));
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

const Tensor& ParsingNode::TextOf(const Element& element) const {
  const Tensor* const text = element.Find(field_);
  if (text == nullptr || text->dtype() != DType::kString) {
    throw InvalidArgument("{} needs strings in a field \"{}\"; the element has {}", name_, field_,
                          element.Describe());
  }
  return *text;
}

void ParsingNode::WithOrigin(std::string_view origin, FunctionRef<void()> parse) const {
  try {
    parse();
  } catch (...) {
    throw Error(CurrentStatus()).WithPrefix(DescribeOrigin(origin));
  }
}

void ParsingNode::Parse(const Element& input, std::string_view origin, Element* element) const {
  WithOrigin(origin, [&] { Lent(*this)->Parse(TextOf(input), element); });
}

ParsingNode::Work::Work(const ParsingNode& node, const DatasetNode& input)
    : node_(node),
      input_(input),
      row_format_(input_.finished() && IsText(input.row_format(), node.field_) ? input.row_format()
                                                                               : nullptr) {}

int ParsingNode::Work::parallelism() const { return input_.Parallelism(kAutotune); }

void ParsingNode::Work::Finish(PendingElement& pending, Element* element) const {
  ScratchElement scratch;
  node_.Parse(input_.Finish(pending, scratch.get()), pending.origin, element);
}

void ParsingNode::Work::FinishRows(std::span<PendingElement> pending, RowBatch& batch,
                                   int64_t first) const {
  const std::vector<RowField>& fields = node_.RowFields();
  if (fields.empty() || !batch.Prepare(fields)) {
    return DeferredWork::FinishRows(pending, batch, first);
  }
  Lent parser(node_);
  ScratchElement scratch;
  std::vector<void*> outs(fields.size());
  for (PendingElement& one : pending) {
    const int64_t row = first++;
    try {
      node_.WithOrigin(one.origin, [&] {
        const Tensor& text = node_.TextOf(input_.Finish(one, scratch.get()));
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

void ParsingNode::Work::FinishRows(RowBatch& pending, RowBatch& batch, int64_t first) const {
  const std::vector<RowField>& fields = node_.RowFields();
  const std::span texts(pending.row_data<std::string>(0, 0), static_cast<size_t>(pending.rows()));
  if (fields.empty() || !batch.Prepare(fields)) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const Element input = {{node_.field_, std::move(texts[i])}};
      batch.Make(first + static_cast<int64_t>(i), [&](Element* element) {
        node_.Parse(input, pending.origin(static_cast<int64_t>(i)), element);
      });
    }
    return;
  }
  Lent parser(node_);
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
      node_.WithOrigin(pending.origin(row), [&] { parser->ParseRow(texts[i], outs); });
    } catch (...) {  // the consumer throws it when it comes to this row
      batch.Reject(first + row, std::current_exception());
    }
  }
}

}  // namespace sextant::data
