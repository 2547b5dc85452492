#include <vector>

#include "sextant/data/batch_limit.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/padding.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

int64_t RowBytes(const Element& row) {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : row.fields()) bytes += static_cast<int64_t>(tensor.bytes());
  return bytes;
}

class PaddedBatchIterator : public NodeIterator {
 public:
  PaddedBatchIterator(std::unique_ptr<NodeIterator> input, const Padder& padder, int64_t size,
                      bool drop_remainder)
      : input_(std::move(input)), padder_(padder), size_(size), drop_remainder_(drop_remainder) {}

  bool Next(Element* element) override {
    const CancellableLoop loop;
    while (count_ < size_) {
      loop.Turn();
      if (count_ == static_cast<int64_t>(rows_.size())) rows_.emplace_back();
      if (!input_->Next(&rows_[count_])) break;
      bytes_ += RowBytes(rows_[count_]);
      ++count_;
      CheckBatchBytes(count_, bytes_ / count_);
    }
    if (count_ == 0 || (drop_remainder_ && count_ < size_)) return false;
    const auto count = static_cast<size_t>(std::exchange(count_, 0));
    bytes_ = 0;
    padder_.Batch(std::span(rows_).first(count), element);
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("rows", count_);
    for (int64_t i = 0; i < count_; ++i) writer.PutElement("row", rows_[i]);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    for (int64_t i = reader.GetInt("rows"); i > 0; --i) rows_.push_back(reader.GetElement("row"));
    count_ = static_cast<int64_t>(rows_.size());
    input_->Restore(reader);
  }

 private:
  const std::unique_ptr<NodeIterator> input_;
  const Padder& padder_;
  const int64_t size_;
  const bool drop_remainder_;
  std::vector<Element> rows_;  // the first count_ are of the next batch, the rest are spare
  int64_t count_ = 0;
  int64_t bytes_ = 0;  // of the tensors of those rows
};

class PaddedBatchNode : public UnaryNode {
 public:
  PaddedBatchNode(std::shared_ptr<const DatasetNode> input, int64_t size,
                  const PaddedBatchOptions& options)
      : UnaryNode(std::move(input)),
        size_(size),
        drop_remainder_(options.drop_remainder),
        padder_("PaddedBatch", options) {
    if (size < 1) throw InvalidArgument("PaddedBatch needs a size of at least 1, not {}", size);
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<PaddedBatchIterator>(input_->MakeIterator(context), padder_, size_,
                                                 drop_remainder_);
  }
  std::string Describe() const override {
    return fmt::format("{}.PaddedBatch({}{})", input_->Describe(), size_, padder_.Describe());
  }
  ElementSpec Spec() const override {
    return padder_.BatchSpec(input_->Spec(), drop_remainder_ ? size_ : -1);
  }

 private:
  const int64_t size_;
  const bool drop_remainder_;
  const Padder padder_;
};

}  // namespace

Dataset Dataset::PaddedBatch(int64_t size, const PaddedBatchOptions& options) const {
  return Dataset(std::make_shared<PaddedBatchNode>(node_, size, options));
}

}  // namespace sextant::data
