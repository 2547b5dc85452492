#include "sextant/base/cancellation.h"
#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

using Keep = std::function<bool(const Element&)>;

class FilterIterator : public PassingIterator {
 public:
  FilterIterator(const Keep& keep, std::unique_ptr<NodeIterator> input, const Walk& walk)
      : PassingIterator(std::move(input)), keep_(keep), cancellation_(walk.cancellation) {}

  bool Next(Element* element) override {
    while (input_->Next(element)) {
      const int64_t index = index_++;
      if (Kept(*element, index)) return true;
      cancellation_->ThrowIfCancelled();  // an endless input may have none to keep
    }
    return false;
  }
  void Save(StateWriter& writer) override {
    writer.Int("filter", index_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    index_ = reader.Int("filter");
    input_->Restore(reader);
  }

 private:
  bool Kept(const Element& element, int64_t index) const {
    try {
      return keep_(element);
    } catch (...) {
      throw Error(CurrentStatus()).WithPrefix(fmt::format("Filter of element {}: ", index));
    }
  }

  const Keep& keep_;
  const std::shared_ptr<CancellationToken> cancellation_;
  int64_t index_ = 0;
};

class FilterNode : public UnaryNode {
 public:
  FilterNode(std::shared_ptr<const DatasetNode> input, Keep keep)
      : UnaryNode(std::move(input)), keep_(std::move(keep)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<FilterIterator>(keep_, input_->MakeIterator(walk), walk);
  }
  std::string Describe() const override { return input_->Describe() + ".Filter()"; }
  bool Seekable() const override { return input_->Seekable(); }

 private:
  const Keep keep_;
};

}  // namespace

Dataset Dataset::Filter(Keep keep) const {
  return Dataset(std::make_shared<FilterNode>(node_, std::move(keep)));
}

}  // namespace sextant::data
