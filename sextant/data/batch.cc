#include "sextant/data/batch_spec.h"
#include "sextant/data/dataset.h"
#include "sextant/data/parallel_batch.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

// Larger batches are filled by one thread: their buffers then grow with the rows there are.
constexpr int64_t kMaxParallelRows = 65536;

class BatchIterator : public NodeIterator {
 public:
  BatchIterator(std::unique_ptr<NodeIterator> input, int64_t size, bool drop_remainder)
      : input_(std::move(input)), drop_remainder_(drop_remainder) {
    rows_.Reset(size, {});
  }

  bool Next(Element* element) override {
    // Rows before one that failed are there already.
    if (rows_.rows() == 0) rows_.Reset(rows_.capacity(), std::move(*element));
    input_->NextRows(rows_);
    if (rows_.rows() == 0 || (drop_remainder_ && !rows_.full())) return false;
    *element = rows_.Take(rows_.rows());
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("rows", rows_.rows());
    for (int64_t row = 0; row < rows_.rows(); ++row) writer.PutElement("row", rows_.Row(row));
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    for (int64_t i = reader.GetInt("rows"); i > 0; --i) {
      *rows_.scratch() = reader.GetElement("row");
      if (rows_.full()) throw DataLoss("the saved batch has too many rows");
      rows_.Append(rows_.scratch());
    }
    input_->Restore(reader);
  }

 private:
  const std::unique_ptr<NodeIterator> input_;
  const bool drop_remainder_;
  RowBatch rows_;
};

class BatchNode : public UnaryNode {
 public:
  BatchNode(std::shared_ptr<const DatasetNode> input, int64_t size, bool drop_remainder)
      : UnaryNode(std::move(input)), size_(size), drop_remainder_(drop_remainder) {
    if (size < 1) throw InvalidArgument("Batch needs a size of at least 1, not {}", size);
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    if (input_->deferred() && size_ <= kMaxParallelRows) {
      return std::make_unique<ParallelBatch>(*input_->deferred(), context, size_, drop_remainder_);
    }
    return std::make_unique<BatchIterator>(input_->MakeIterator(context), size_, drop_remainder_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Batch({}{})", input_->Describe(), size_, drop_remainder_ ? ",drop" : "");
  }
  ElementSpec Spec() const override {
    return BatchSpec(input_->Spec(), drop_remainder_ ? size_ : -1);
  }

 private:
  const int64_t size_;
  const bool drop_remainder_;
};

}  // namespace

Dataset Dataset::Batch(int64_t size, const BatchOptions& options) const {
  return Dataset(std::make_shared<BatchNode>(node_, size, options.drop_remainder));
}

}  // namespace sextant::data
