#include "sextant/base/cancellation.h"
#include "sextant/data/dataset.h"
#include "sextant/data/selecting_iterator.h"

namespace sextant::data {
namespace {

using Keep = std::function<bool(const Element&)>;

class FilterIterator : public SelectingIterator {
 public:
  FilterIterator(const Keep& keep, std::unique_ptr<NodeIterator> input,
                 const IterationContext& context)
      : SelectingIterator(std::move(input), "filter"),
        keep_(keep),
        cancellation_(context.cancellation) {}

 private:
  bool Select(FunctionRef<bool()> next, const Element& element) override {
    while (next()) {
      const int64_t index = count_++;
      if (Kept(element, index)) return true;
      cancellation_->ThrowIfCancelled();  // an endless input may have none to keep
    }
    return false;
  }
  bool Kept(const Element& element, int64_t index) const {
    try {
      return keep_(element);
    } catch (...) {
      throw Error(CurrentStatus()).WithPrefix(fmt::format("Filter of element {}: ", index));
    }
  }

  const Keep& keep_;
  const std::shared_ptr<CancellationToken> cancellation_;
};

class FilterNode : public SelectingNode {
 public:
  FilterNode(std::shared_ptr<const DatasetNode> input, Keep keep)
      : SelectingNode(std::move(input)), keep_(std::move(keep)) {}

  std::string Describe() const override { return input_->Describe() + ".Filter()"; }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<FilterIterator>(keep_, input.MakeIterator(context), context);
  }

  const Keep keep_;
};

}  // namespace

Dataset Dataset::Filter(Keep keep) const {
  return Dataset(std::make_shared<FilterNode>(node_, std::move(keep)));
}

}  // namespace sextant::data
