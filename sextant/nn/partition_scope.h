// PartitionScope: layers made while it is open cut their kernels, biases, gammas, betas and tables:
// "dense/kernel/part_0", …. Stands for the partitioner of TensorFlow's variable scopes.
#pragma once

#include <string_view>

#include "sextant/nn/get_variable.h"

namespace sextant {

// Of this thread. The innermost counts; one without a partitioner leaves variables whole.
class PartitionScope {
 public:
  explicit PartitionScope(Partitioner partitioner);
  ~PartitionScope();
  PartitionScope(const PartitionScope&) = delete;
  PartitionScope& operator=(const PartitionScope&) = delete;

 private:
  Partitioner previous_;
};

// The variable "name" of the current VariableScope, cut by this partitioner if there is one, else
// as the PartitionScope says; where neither cuts, one part called "name".
PartitionedVariable GetParts(std::string_view name, const VariableSpec& spec,
                             const Partitioner& partitioner = {});

// The value of the variable "name" of the current VariableScope, cut as the PartitionScope says.
Output GetWeights(std::string_view name, const VariableSpec& spec);
// Cut by this partitioner if there is one, else as the scope says.
Output GetWeights(std::string_view name, const VariableSpec& spec, const Partitioner& partitioner);

}  // namespace sextant
