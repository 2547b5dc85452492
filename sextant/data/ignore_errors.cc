#include "sextant/base/cancellation.h"
#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class IgnoreErrorsIterator : public PassingIterator {
 public:
  IgnoreErrorsIterator(std::unique_ptr<NodeIterator> input, const IgnoreErrorsOptions& options,
                       const Walk& walk)
      : PassingIterator(std::move(input)), options_(options), cancellation_(walk.cancellation) {}

  bool Next(Element* element) override {
    for (;;) {
      try {
        return input_->Next(element);
      } catch (const Error& error) {  // passing over them is what this is for
        cancellation_->ThrowIfCancelled();
        if (ignored_ == options_.budget) {
          throw error.WithPrefix(fmt::format(
              "IgnoreErrors has passed over {} elements, its budget; then: ", ignored_));
        }
        ++ignored_;
        if (options_.counted) ++*options_.counted;
      }
    }
  }
  void Save(StateWriter& writer) override {
    writer.Int("ignored", ignored_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    ignored_ = reader.Int("ignored");
    input_->Restore(reader);
  }

 private:
  const IgnoreErrorsOptions& options_;
  const std::shared_ptr<CancellationToken> cancellation_;
  int64_t ignored_ = 0;
};

class IgnoreErrorsNode : public UnaryNode {
 public:
  IgnoreErrorsNode(std::shared_ptr<const DatasetNode> input, IgnoreErrorsOptions options)
      : UnaryNode(std::move(input)), options_(std::move(options)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<IgnoreErrorsIterator>(input_->MakeIterator(walk), options_, walk);
  }
  std::string Describe() const override {
    return fmt::format("{}.IgnoreErrors({})", input_->Describe(), options_.budget);
  }
  bool Seekable() const override { return input_->Seekable(); }

 private:
  const IgnoreErrorsOptions options_;
};

}  // namespace

Dataset Dataset::IgnoreErrors(const IgnoreErrorsOptions& options) const {
  return Dataset(std::make_shared<IgnoreErrorsNode>(node_, options));
}

}  // namespace sextant::data
