#include "sextant/data/dataset.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class EnumerateIterator : public NodeIterator {
 public:
  EnumerateIterator(std::unique_ptr<NodeIterator> input, const std::string& field, int64_t start)
      : input_(std::move(input)), field_(field), next_(start) {}

  bool Next(Element* element) override {
    // The number's tensor is used again, and the input finds its own fields as it left them.
    Tensor number;
    if (element->size() > 0 && element->fields().back().first == field_) {
      number = std::move(element->fields().back().second);
      element->fields().pop_back();
    }
    if (!input_->Next(element)) return false;
    if (element->Has(field_)) {
      throw InvalidArgument("Enumerate: the elements have a field \"{}\" already", field_);
    }
    MakeOwn(&number, DType::kInt64, {});
    *number.data<int64_t>() = next_++;
    element->fields().emplace_back(field_, std::move(number));
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("next", next_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    next_ = reader.GetInt("next");
    input_->Restore(reader);
  }

 private:
  const std::unique_ptr<NodeIterator> input_;
  const std::string& field_;
  int64_t next_;
};

class EnumerateNode : public UnaryNode {
 public:
  EnumerateNode(std::shared_ptr<const DatasetNode> input, std::string field, int64_t start)
      : UnaryNode(std::move(input)), field_(std::move(field)), start_(start) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<EnumerateIterator>(
        input_->MakeIterator(context.Whole("Enumerate counts elements")), field_, start_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Enumerate({},{})", input_->Describe(), field_, start_);
  }
  ElementSpec Spec() const override {
    ElementSpec spec = input_->Spec();
    spec.push_back({field_, DType::kInt64, Shape()});
    return spec;
  }

 private:
  const std::string field_;
  const int64_t start_;
};

}  // namespace

Dataset Dataset::Enumerate(const std::string& field, int64_t start) const {
  return Dataset(std::make_shared<EnumerateNode>(node_, field, start));
}

}  // namespace sextant::data
