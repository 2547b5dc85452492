#include "sextant/data/graph_iterator.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/dataset/element_source.h"
#include "sextant/ops/dataset/iterator.h"
#include "sextant/ops/dataset/iterator_resource.h"

namespace sextant::data {
namespace {

class DatasetStream : public ElementStream {
 public:
  explicit DatasetStream(const Dataset& dataset) : iterator_(dataset.MakeIterator()) {}

  bool Next(std::span<Tensor> components, CancellationToken& cancellation) override {
    const auto registration = cancellation.OnCancel([this] { iterator_->Cancel(); });
    // Buffers that no step holds any more are used again.
    if (!iterator_->Next(&element_)) return false;
    const auto& fields = element_.fields();
    if (fields.size() != components.size()) {
      throw InvalidArgument("an element has {} fields ({}), the iterator {}", fields.size(),
                            element_.Describe(), components.size());
    }
    for (size_t i = 0; i < fields.size(); ++i) components[i] = fields[i].second;
    return true;
  }
  std::string Save() override { return iterator_->SaveState(); }
  void Restore(std::string_view state) override { iterator_->RestoreState(state); }

 private:
  const std::unique_ptr<Iterator> iterator_;
  Element element_;
};

class DatasetSource : public ElementSource {
 public:
  explicit DatasetSource(Dataset dataset) : dataset_(std::move(dataset)) {}
  std::unique_ptr<ElementStream> Open() const override {
    return std::make_unique<DatasetStream>(dataset_);
  }
  std::string DebugString() const override { return "dataset " + dataset_.Fingerprint(); }

 private:
  const Dataset dataset_;
};

std::shared_ptr<const ElementSource> SourceOf(const Dataset& dataset, bool prefetch) {
  const bool ahead = prefetch && !dataset.Fingerprint().ends_with(".Prefetch()");
  return std::make_shared<DatasetSource>(ahead ? dataset.Prefetch() : dataset);
}

std::string Describe(const ElementSpec& spec) {
  std::vector<std::string> fields;
  for (const FieldSpec& field : spec) {
    fields.push_back(
        fmt::format("{}: {}{}", field.name, DTypeName(field.dtype), field.shape.ToString()));
  }
  return fmt::format("({})", fmt::join(fields, ", "));
}

bool Fits(const ElementSpec& wanted, const ElementSpec& given) {
  if (wanted.size() != given.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].name != given[i].name || wanted[i].dtype != given[i].dtype ||
        !wanted[i].shape.CompatibleWith(given[i].shape)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Output ElementOutputs::operator[](std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [field, output] : fields_) {
    if (field == name) return output;
    names.push_back(field);
  }
  throw NotFound("an element has no field '{}', only {}", name, fmt::join(names, ", "));
}

GraphIterator::GraphIterator(ElementSpec spec, const GraphIteratorOptions& options,
                             const Dataset* dataset)
    : spec_(std::move(spec)), prefetch_(options.prefetch) {
  IteratorSignature signature;
  for (const FieldSpec& field : spec_) {
    signature.types.push_back(field.dtype);
    signature.shapes.push_back(field.shape);
  }
  handle_ =
      IteratorHandle(signature, dataset ? SourceOf(*dataset, prefetch_) : nullptr, options.name);
}

GraphIterator::GraphIterator(ElementSpec spec, const GraphIteratorOptions& options)
    : GraphIterator(std::move(spec), options, nullptr) {}

ElementOutputs GraphIterator::GetNext() const {
  const std::vector<Output> outputs = IteratorGetNext(handle_);
  std::vector<std::pair<std::string, Output>> fields;
  for (size_t i = 0; i < outputs.size(); ++i) fields.emplace_back(spec_[i].name, outputs[i]);
  return ElementOutputs(std::move(fields));
}

Operation GraphIterator::MakeInitializer(const Dataset& dataset) const {
  const ElementSpec given = dataset.Spec();
  if (!Fits(spec_, given)) {
    throw InvalidArgument("a dataset of {} does not fit an iterator of {}", Describe(given),
                          Describe(spec_));
  }
  return MakeIterator(handle_, SourceOf(dataset, prefetch_));
}

GraphIterator OneShotIterator(const Dataset& dataset, const GraphIteratorOptions& options) {
  return GraphIterator(dataset.Spec(), options, &dataset);
}

GraphIterator Dataset::OneShotIterator() const { return data::OneShotIterator(*this); }

std::map<std::string, std::string> SaveIteratorStates(ResourceManager& session) {
  std::map<std::string, std::string> states;
  for (const auto& [key, resource] : session.All()) {
    auto* iterator = dynamic_cast<IteratorResource*>(resource.get());
    if (iterator == nullptr) continue;
    if (auto state = iterator->Save()) states[key.second] = std::move(*state);
  }
  return states;
}

void RestoreIteratorStates(const std::map<std::string, std::string>& states,
                           ResourceManager& session, bool or_begin_anew) {
  for (const auto& [name, state] : states) {
    session
        .LookupOrCreate<IteratorResource>(IteratorResource::kContainer, name,
                                          [] { return std::make_shared<IteratorResource>(); })
        ->Restore(state, or_begin_anew);
  }
}

}  // namespace sextant::data
