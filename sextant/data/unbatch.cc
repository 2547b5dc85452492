#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class UnbatchIterator : public NodeIterator {
 public:
  explicit UnbatchIterator(std::unique_ptr<NodeIterator> input) : input_(std::move(input)) {}

  bool Next(Element* element) override {
    const CancellableLoop loop;
    while (row_ == rows_) {
      loop.Turn();
      row_ = rows_ = 0;
      if (!input_->Next(&batch_)) return false;
      rows_ = CountRows();
    }
    element->fields().resize(batch_.size());
    for (int i = 0; i < batch_.size(); ++i) {
      element->fields()[i].first = batch_.fields()[i].first;
      CopyRowTo(batch_.fields()[i].second, row_, &element->fields()[i].second);
    }
    ++row_;
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("row", row_);
    writer.PutInt("rows", rows_);
    if (row_ < rows_) writer.PutElement("batch", batch_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    const int64_t row = reader.GetInt("row");
    const int64_t rows = reader.GetInt("rows");
    if (row < rows) {
      batch_ = reader.GetElement("batch");
      if (row < 0 || CountRows() != rows) throw DataLoss("Unbatch: the saved batch does not fit");
    }
    row_ = row;
    rows_ = rows;
    input_->Restore(reader);
  }

 private:
  int64_t CountRows() const {
    int64_t rows = -1;
    for (const auto& [name, tensor] : batch_.fields()) {
      if (tensor.rank() == 0 || (rows >= 0 && tensor.dim(0) != rows)) {
        throw InvalidArgument("Unbatch: the fields do not have the same number of rows: {}",
                              batch_.Describe());
      }
      rows = tensor.dim(0);
    }
    return rows < 0 ? 0 : rows;
  }

  const std::unique_ptr<NodeIterator> input_;
  Element batch_;
  int64_t row_ = 0, rows_ = 0;
};

class UnbatchNode : public UnaryNode {
 public:
  using UnaryNode::UnaryNode;

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<UnbatchIterator>(input_->MakeIterator(context));
  }
  std::string Describe() const override { return input_->Describe() + ".Unbatch()"; }
  ElementSpec Spec() const override {
    ElementSpec spec = input_->Spec();
    for (FieldSpec& field : spec) {
      if (!field.shape.rank_known()) continue;
      if (field.shape.rank() == 0) {
        throw InvalidArgument("Unbatch: field \"{}\" is a scalar, which has no rows", field.name);
      }
      field.shape.Erase(0);
    }
    return spec;
  }
};

}  // namespace

Dataset Dataset::Unbatch() const { return Dataset(std::make_shared<UnbatchNode>(node_)); }

}  // namespace sextant::data
