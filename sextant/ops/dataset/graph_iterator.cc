#include "sextant/ops/dataset/graph_iterator.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/ops/dataset/iterator.h"

namespace sextant::data {
namespace {

Dataset MadeAhead(const Dataset& dataset, bool prefetch) {
  return prefetch && !dataset.prefetches() ? dataset.Prefetch() : dataset;
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
      IteratorHandle(signature, dataset ? MadeAhead(*dataset, prefetch_) : Dataset(), options.name);
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
  return MakeIterator(handle_, MadeAhead(dataset, prefetch_));
}

GraphIterator OneShotIterator(const Dataset& dataset, const GraphIteratorOptions& options) {
  return GraphIterator(dataset.Spec(), options, &dataset);
}

}  // namespace sextant::data
