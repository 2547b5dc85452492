#include "sextant/data/dataset.h"
#include "sextant/data/read_ahead.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class PrefetchNode : public UnaryNode {
 public:
  PrefetchNode(std::shared_ptr<const DatasetNode> input, int buffer)
      : UnaryNode(std::move(input)), buffer_(buffer) {
    if (buffer < kAutotune) {
      throw InvalidArgument("Prefetch needs a buffer of 0 or more elements, not {}", buffer);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    if (buffer_ == 0) return input_->MakeIterator(walk);
    return std::make_unique<ReadAhead>(input_->MakeIterator(walk), nullptr, walk,
                                       ReadAheadOptions{.threads = 1, .ahead = buffer_});
  }
  std::string Describe() const override {
    return fmt::format("{}.Prefetch({})", input_->Describe(), buffer_ == 0 ? "0" : "");
  }

  bool prefetches() const override { return buffer_ != 0; }

 private:
  const int buffer_;
};

}  // namespace

Dataset Dataset::Prefetch(int buffer) const {
  return Dataset(std::make_shared<PrefetchNode>(node_, buffer));
}

}  // namespace sextant::data
