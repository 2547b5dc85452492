#include "sextant/nn/partition_scope.h"

namespace sextant {
namespace {

Partitioner& Current() {
  thread_local Partitioner partitioner;
  return partitioner;
}

}  // namespace

PartitionScope::PartitionScope(Partitioner partitioner) : previous_(std::move(partitioner)) {
  previous_.swap(Current());
}
PartitionScope::~PartitionScope() { previous_.swap(Current()); }

Output GetWeights(std::string_view name, const VariableSpec& spec) {
  return GetWeights(name, spec, {});
}

Output GetWeights(std::string_view name, const VariableSpec& spec, const Partitioner& partitioner) {
  return GetParts(name, spec, partitioner).value();
}

PartitionedVariable GetParts(std::string_view name, const VariableSpec& spec,
                             const Partitioner& partitioner) {
  const Partitioner& cut = partitioner ? partitioner : Current();
  if (cut) return GetPartitionedVariable(name, spec, cut);
  const Variable whole = GetVariable(name, spec);
  return PartitionedVariable(whole.name(), spec.shape, 0, {whole});
}

}  // namespace sextant
