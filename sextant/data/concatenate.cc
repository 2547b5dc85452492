#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class ConcatenateNode : public UnaryNode {
 public:
  ConcatenateNode(std::shared_ptr<const DatasetNode> first,
                  std::shared_ptr<const DatasetNode> second)
      : UnaryNode(std::move(first)), second_(std::move(second)) {
    if (!second_) throw FailedPrecondition("a Dataset without a source cannot be concatenated");
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override;
  std::string Describe() const override {
    return fmt::format("{}.Concatenate({})", input_->Describe(), second_->Describe());
  }
  ElementSpec Spec() const override {
    ElementSpec spec = input_->Spec();
    const ElementSpec other = second_->Spec();
    for (size_t i = 0; i < spec.size(); ++i) {
      if (other.size() != spec.size() || other[i].name != spec[i].name ||
          other[i].dtype != spec[i].dtype) {
        throw InvalidArgument("Concatenate: the fields of {} and {} differ", input_->Describe(),
                              second_->Describe());
      }
      spec[i].shape = spec[i].shape.RelaxWith(other[i].shape);
    }
    return spec;
  }

  std::unique_ptr<NodeIterator> Part(bool second, const IterationContext& context) const {
    return (second ? second_ : input_)->MakeIterator(context.Branch(second));
  }

 private:
  const std::shared_ptr<const DatasetNode> second_;
};

class ConcatenateIterator : public NodeIterator {
 public:
  ConcatenateIterator(const ConcatenateNode& node, const IterationContext& context)
      : node_(node), context_(context), part_(node.Part(false, context)) {}

  bool Next(Element* element) override {
    if (part_->Next(element)) return true;
    if (second_) return false;
    second_ = true;
    part_ = node_.Part(true, context_);
    return part_->Next(element);
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("second", second_);
    part_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    second_ = reader.GetInt("second") != 0;
    if (second_) part_ = node_.Part(true, context_);
    part_->Restore(reader);
  }

 private:
  const ConcatenateNode& node_;
  const IterationContext context_;
  bool second_ = false;
  std::unique_ptr<NodeIterator> part_;
};

std::unique_ptr<NodeIterator> ConcatenateNode::MakeIterator(const IterationContext& context) const {
  return std::make_unique<ConcatenateIterator>(*this, context);
}

}  // namespace

Dataset Dataset::Concatenate(const Dataset& other) const {
  return Dataset(std::make_shared<ConcatenateNode>(node_, other.node()));
}

}  // namespace sextant::data
