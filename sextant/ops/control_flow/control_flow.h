// Switch, Merge, Enter, Exit, NextIteration, LoopCond, NoOp, ControlTrigger, Abort: the primitives
// of v1 control flow, and nodes that only order others. Conditionals made of Switch and Merge run
// as they are: a node with a dead input is dead, Merge takes the live one. Loops become While
// (sextant/graph/passes/structure_loops.h) before a run or a gradient.
#pragma once

#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SwitchOutputs {
  Output output_false, output_true;
};
struct SEXTANT_API MergeOutputs {
  Output output, value_index;
};

// data on the side that pred names; the other side is dead.
SwitchOutputs Switch(Output data, Output pred);
// The one live input and its index.
MergeOutputs Merge(const std::vector<Output>& inputs);

// Does nothing, after its control inputs.
Operation NoOp(std::string_view name = "NoOp");
// One operation that stands for all of these.
Operation Group(const std::vector<Operation>& operations, std::string_view name = "group");

}  // namespace sextant

#pragma GCC visibility pop
