#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/selecting_iterator.h"

namespace sextant::data {
namespace {

// The elements [begin, end) of the input, where an end of -1 is the input's.
class StretchIterator : public SelectingIterator {
 public:
  StretchIterator(std::unique_ptr<NodeIterator> input, int64_t begin, int64_t end)
      : SelectingIterator(std::move(input), "next"), begin_(begin), end_(end) {}

 private:
  bool Select(FunctionRef<bool()> next, const Element&) override {
    const CancellableLoop loop;
    while (count_ < begin_) {
      loop.Turn();
      if (!next()) return false;
      ++count_;
    }
    if (count_ == end_ || !next()) return false;
    ++count_;
    return true;
  }

  const int64_t begin_, end_;
};

class TakeNode : public SelectingNode {
 public:
  TakeNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : SelectingNode(std::move(input)), count_(count < 0 ? -1 : count) {}

  std::string Describe() const override {
    return fmt::format("{}.Take({})", input_->Describe(), count_);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<StretchIterator>(
        input.MakeIterator(context.Whole("Take counts elements")), 0, count_);
  }

  const int64_t count_;
};

class SkipNode : public SelectingNode {
 public:
  SkipNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : SelectingNode(std::move(input)), count_(count < 0 ? INT64_MAX : count) {}

  std::string Describe() const override {
    return fmt::format("{}.Skip({})", input_->Describe(), count_);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<StretchIterator>(
        input.MakeIterator(context.Whole("Skip counts elements")), count_, -1);
  }

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
