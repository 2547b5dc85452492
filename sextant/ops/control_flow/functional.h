// If, Case, While, PartitionedCall, SymbolicGradient: conditionals and loops whose branches are
// functions, and calls. Branches are written as lambdas; tensors of the enclosing graph that they
// use are captured.
//
//   auto y = Cond(x > 0.f, [&] { return std::vector{x * 2.f}; }, [&] { return std::vector{-x};
//   })[0];
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

using BranchFunction = std::function<std::vector<Output>()>;
using LoopCondition = std::function<Output(const std::vector<Output>&)>;
using LoopBody = std::function<std::vector<Output>(const std::vector<Output>&)>;

// What the first function gives when pred holds, else what the second gives. Only that one runs.
// Both give tensors of the same types; throws INVALID_ARGUMENT otherwise.
std::vector<Output> Cond(Output pred, const BranchFunction& then_branch,
                         const BranchFunction& else_branch);

// What the function with this index gives; any other index selects the default, or the last one
// when there is no default.
std::vector<Output> SwitchCase(Output index, const std::vector<BranchFunction>& branches,
                               const BranchFunction& default_branch = nullptr);

struct SEXTANT_API WhileOptions {
  std::optional<int64_t> maximum_iterations;
  // What is known of each variable's shape in every iteration; empty: the shapes of the initial
  // values.
  std::vector<PartialShape> shape_invariants;
  int64_t parallel_iterations = 10;
};

// vars = init; while (condition(vars)) vars = body(vars); returns vars. Throws INVALID_ARGUMENT
// when the body gives other types, or shapes that the invariants do not allow.
std::vector<Output> While(const LoopCondition& condition, const LoopBody& body,
                          const std::vector<Output>& init, const WhileOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
