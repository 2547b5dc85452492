#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

// The elements [begin, end) of the input, where an end of -1 is the input's.
class RangeIterator : public PassingIterator {
 public:
  RangeIterator(std::unique_ptr<NodeIterator> input, int64_t begin, int64_t end)
      : PassingIterator(std::move(input)), begin_(begin), end_(end) {}

  bool Next(Element* element) override {
    while (next_ < begin_) {
      if (!input_->Next(element)) return false;
      ++next_;
    }
    if (next_ == end_ || !input_->Next(element)) return false;
    ++next_;
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.Int("next", next_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    next_ = reader.Int("next");
    input_->Restore(reader);
  }

 private:
  const int64_t begin_, end_;
  int64_t next_ = 0;  // elements taken from the input
};

class TakeNode : public UnaryNode {
 public:
  TakeNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : UnaryNode(std::move(input)), count_(count < 0 ? -1 : count) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<RangeIterator>(input_->MakeIterator(walk), 0, count_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Take({})", input_->Describe(), count_);
  }
  bool Seekable() const override { return input_->Seekable(); }

 private:
  const int64_t count_;
};

class SkipNode : public UnaryNode {
 public:
  SkipNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : UnaryNode(std::move(input)), count_(count < 0 ? INT64_MAX : count) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<RangeIterator>(input_->MakeIterator(walk), count_, -1);
  }
  std::string Describe() const override {
    return fmt::format("{}.Skip({})", input_->Describe(), count_);
  }
  bool Seekable() const override { return input_->Seekable(); }

 private:
  const int64_t count_;
};

}  // namespace

Dataset Dataset::Take(int64_t count) const {
  return Dataset(std::make_shared<TakeNode>(node_, count));
}

Dataset Dataset::Skip(int64_t count) const {
  return Dataset(std::make_shared<SkipNode>(node_, count));
}

}  // namespace sextant::data
