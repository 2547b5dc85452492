#include "sextant/nn/get_variable.h"

#include <algorithm>
#include <map>

#include "sextant/base/error.h"
#include "sextant/graph/attachment.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

using Slices = std::map<std::string, VariableSlice, std::less<>>;

Graph& OutermostGraph() {
  Graph* graph = &CurrentGraph();
  while (graph->outer() != nullptr) graph = graph->outer();
  return *graph;
}

Initializer DefaultInitializer(DType dtype) {
  return IsFloating(dtype) ? initializers::GlorotUniform() : initializers::Zeros();
}

// Adds the penalty of a variable to the collection, once: not when the variable is only found
// again.
void Regularize(const Variable& variable, const Regularizer& regularizer) {
  if (!regularizer) return;
  const NameScope scope(variable.name() + "/Regularizer/");
  variable.handle().graph().AddToCollection(kRegularizationLosses, regularizer(variable.value()));
}

}  // namespace

Regularizer L1Regularizer(float scale) {
  return [scale](Output value) { return scale * SumOfAll(Abs(value)); };
}
Regularizer L2Regularizer(float scale) {
  return [scale](Output value) { return scale * L2Loss(value); };
}
Regularizer L1L2Regularizer(float l1, float l2) {
  return [l1, l2](Output value) { return l1 * SumOfAll(Abs(value)) + l2 * L2Loss(value); };
}

Variable GetVariable(std::string_view name, const VariableSpec& spec) {
  const Initializer initializer =
      spec.initializer ? spec.initializer : DefaultInitializer(spec.dtype);
  const int before = OutermostGraph().num_nodes();
  const Variable variable = GetVariable(
      name, [&] { return initializer(spec.shape, spec.dtype); },
      VariableOptions{.trainable = spec.trainable,
                      .collections = spec.collections,
                      .shape = PartialShape(spec.shape)});
  if (OutermostGraph().num_nodes() != before) Regularize(variable, spec.regularizer);
  return variable;
}

Partitioner FixedSizePartitioner(int64_t parts, int axis) {
  return [=](const Shape& shape, DType) {
    std::vector<int64_t> result(shape.rank(), 1);
    if (shape.rank() > axis) {
      result[axis] = std::max<int64_t>(1, std::min(parts, shape.dim(axis)));
    }
    return result;
  };
}

Partitioner MinMaxPartitioner(int64_t max_parts, int64_t min_bytes, int axis) {
  return [=](const Shape& shape, DType dtype) {
    const int64_t element = dtype == DType::kString ? 16 : static_cast<int64_t>(DTypeSize(dtype));
    const int64_t parts = std::max<int64_t>(1, shape.num_elements() * element / min_bytes);
    return FixedSizePartitioner(std::min(parts, max_parts), axis)(shape, dtype);
  };
}

PartitionedVariable GetPartitionedVariable(std::string_view name, const VariableSpec& spec,
                                           const Partitioner& partitioner) {
  const std::vector<int64_t> cuts = partitioner ? partitioner(spec.shape, spec.dtype)
                                                : std::vector<int64_t>(spec.shape.rank(), 1);
  if (static_cast<int>(cuts.size()) != spec.shape.rank() ||
      std::count_if(cuts.begin(), cuts.end(), [](int64_t n) { return n != 1; }) > 1) {
    throw InvalidArgument("variable '{}' of shape {} can be cut along one dimension only", name,
                          spec.shape.ToString());
  }
  const auto cut = std::find_if(cuts.begin(), cuts.end(), [](int64_t n) { return n != 1; });
  const int axis = cut == cuts.end() ? 0 : static_cast<int>(cut - cuts.begin());
  const int64_t count = cut == cuts.end() ? 1 : *cut;
  const std::string full_name = VariableScope::CurrentName() + std::string(name);

  std::vector<Variable> parts;
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    VariableSpec part = spec;
    std::vector<int64_t> offset(spec.shape.rank(), 0);
    if (spec.shape.rank() > 0) {
      const int64_t whole = spec.shape.dim(axis);
      const int64_t size = whole / count + (i < whole % count ? 1 : 0);
      std::vector<int64_t> dims(spec.shape.dims().begin(), spec.shape.dims().end());
      dims[axis] = size;
      offset[axis] = begin;
      begin += size;
      part.shape = Shape(dims);
      if (count > 1) {
        // Drawn for the whole, whose fans count, and cut.
        const Initializer whole_initializer =
            spec.initializer ? spec.initializer : DefaultInitializer(spec.dtype);
        part.initializer = [=](const Shape&, DType dtype) {
          return Slice(whole_initializer(spec.shape, dtype), offset, dims);
        };
      }
    }
    parts.push_back(GetVariable(std::string(name) + "/part_" + std::to_string(i), part));
    SetSlice(parts.back(), {full_name, spec.shape, offset});
  }
  return PartitionedVariable(full_name, spec.shape, axis, std::move(parts));
}

Output PartitionedVariable::value() const {
  if (parts_.size() == 1) return parts_[0].value();
  std::vector<Output> values(parts_.begin(), parts_.end());
  return Concat(values, axis_);
}

void SetSlice(const Variable& variable, VariableSlice slice) {
  AttachedTo<Slices>(variable.handle().graph(), "variable slices")
      ->insert_or_assign(variable.name(), std::move(slice));
}

const VariableSlice* SliceOf(const Variable& variable) {
  const auto slices = AttachedTo<Slices>(variable.handle().graph(), "variable slices");
  const auto it = slices->find(variable.name());
  return it == slices->end() ? nullptr : &it->second;
}

}  // namespace sextant
