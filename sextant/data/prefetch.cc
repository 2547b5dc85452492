#include "sextant/data/dataset.h"
#include "sextant/data/read_ahead.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class PrefetchNode : public PassThroughNode {
 public:
  PrefetchNode(std::shared_ptr<const DatasetNode> input, int buffer)
      : PassThroughNode(std::move(input), Deferral::kFinishFirst), buffer_(buffer) {
    if (buffer < kAutotune) {
      throw InvalidArgument("Prefetch needs a buffer of 0 or more elements, not {}", buffer);
    }
  }

  std::string Describe() const override {
    return fmt::format("{}.Prefetch({})", input_->Describe(), buffer_ == 0 ? "0" : "");
  }

  bool prefetches() const override { return buffer_ != 0; }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    if (buffer_ == 0) return input.MakeIterator(context);
    return std::make_unique<ReadAhead>(input.MakeIterator(context), nullptr, context,
                                       ReadAheadOptions{.threads = 1, .ahead = buffer_});
  }

  const int buffer_;
};

}  // namespace

Dataset Dataset::Prefetch(int buffer) const {
  return Dataset(std::make_shared<PrefetchNode>(node_, buffer));
}

}  // namespace sextant::data
