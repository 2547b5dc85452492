#include <exception>

#include "sextant/data/dataset.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

using Inputs = std::vector<std::shared_ptr<const DatasetNode>>;

class ZipIterator : public NodeIterator {
 public:
  ZipIterator(const Inputs& inputs, const IterationContext& context) : parts_(inputs.size()) {
    const IterationContext whole = context.Whole("Zip reads its inputs side by side");
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs_.push_back(inputs[i]->MakeIterator(whole.Branch(static_cast<int64_t>(i))));
    }
  }

  bool Next(Element* element) override {
    if (ended_) return false;
    Reclaim(element);
    // All inputs step on when one of them fails, so that they stay side by side.
    std::exception_ptr failure;
    for (size_t i = 0; i < inputs_.size() && !ended_; ++i) {
      try {
        ended_ = !inputs_[i]->Next(&parts_[i]);
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    if (ended_) return false;
    Join(element);
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("ended", ended_);
    for (const auto& input : inputs_) input->Save(writer);
  }
  void Restore(StateReader& reader) override {
    ended_ = reader.GetInt("ended") != 0;
    for (const auto& input : inputs_) input->Restore(reader);
  }

 private:
  // Gives the fields of an element made before back to the inputs they came from.
  void Reclaim(Element* element) {
    size_t fields = 0;
    for (const Element& part : parts_) fields += part.fields().size();
    if (fields != element->fields().size()) return;
    auto from = element->fields().begin();
    for (Element& part : parts_) {
      for (Element::Field& field : part.fields()) field.second = std::move((from++)->second);
    }
  }
  void Join(Element* element) {
    size_t fields = 0;
    for (const Element& part : parts_) fields += part.fields().size();
    element->fields().resize(fields);
    auto to = element->fields().begin();
    for (Element& part : parts_) {
      for (Element::Field& field : part.fields()) {
        for (auto other = element->fields().begin(); other != to; ++other) {
          if (other->first == field.first) {
            throw InvalidArgument("Zip: two of the datasets have a field \"{}\"", field.first);
          }
        }
        to->first = field.first;
        (to++)->second = std::move(field.second);
      }
    }
  }

  std::vector<std::unique_ptr<NodeIterator>> inputs_;
  std::vector<Element> parts_;
  bool ended_ = false;
};

class ZipNode : public DatasetNode {
 public:
  explicit ZipNode(const std::vector<Dataset>& datasets) {
    for (const Dataset& dataset : datasets) {
      if (!dataset.valid()) throw FailedPrecondition("a Dataset without a source cannot be zipped");
      inputs_.push_back(dataset.node());
    }
    if (inputs_.empty()) throw InvalidArgument("Zip needs at least one dataset");
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<ZipIterator>(inputs_, context);
  }
  std::string Describe() const override {
    std::string text;
    for (const auto& input : inputs_) text += (text.empty() ? "" : ",") + input->Describe();
    return "Zip(" + text + ")";
  }
  ElementSpec Spec() const override {
    ElementSpec spec;
    for (const auto& input : inputs_) {
      const ElementSpec part = input->Spec();
      spec.insert(spec.end(), part.begin(), part.end());
    }
    return spec;
  }

 private:
  Inputs inputs_;
};

}  // namespace

Dataset Zip(const std::vector<Dataset>& datasets) {
  return Dataset(std::make_shared<ZipNode>(datasets));
}

}  // namespace sextant::data
