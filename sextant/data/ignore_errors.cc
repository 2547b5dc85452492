#include "sextant/base/cancellation.h"
#include "sextant/data/dataset.h"
#include "sextant/data/selecting_iterator.h"

namespace sextant::data {
namespace {

class IgnoreErrorsIterator : public SelectingIterator {
 public:
  IgnoreErrorsIterator(std::unique_ptr<NodeIterator> input, const IgnoreErrorsOptions& options,
                       const IterationContext& context)
      : SelectingIterator(std::move(input), "ignored"),
        options_(options),
        cancellation_(context.cancellation) {}

 private:
  bool Select(FunctionRef<bool()> next, const Element&) override {
    for (;;) {
      try {
        return next();
      } catch (...) {  // passing over them is what this is for
        cancellation_->ThrowIfCancelled();
        if (count_ == options_.budget) {
          throw Error(CurrentStatus())
              .WithPrefix(
                  fmt::format("IgnoreErrors has skipped {} elements, its budget; then: ", count_));
        }
        ++count_;
        if (options_.counted) ++*options_.counted;
      }
    }
  }

  const IgnoreErrorsOptions& options_;
  const std::shared_ptr<CancellationToken> cancellation_;
};

class IgnoreErrorsNode : public SelectingNode {
 public:
  IgnoreErrorsNode(std::shared_ptr<const DatasetNode> input, IgnoreErrorsOptions options)
      : SelectingNode(std::move(input)), options_(std::move(options)) {}

  std::string Describe() const override {
    return fmt::format("{}.IgnoreErrors({})", input_->Describe(), options_.budget);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<IgnoreErrorsIterator>(input.MakeIterator(context), options_, context);
  }

  const IgnoreErrorsOptions options_;
};

}  // namespace

Dataset Dataset::IgnoreErrors(const IgnoreErrorsOptions& options) const {
  return Dataset(std::make_shared<IgnoreErrorsNode>(node_, options));
}

}  // namespace sextant::data
