// Turns reference variables into resource variables.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// In place: Variable and VariableV2 become VarHandleOp (named by their shared_name or else their
// own name), the ops that change them (Assign..., Scatter..., Apply..., SparseApply...) their
// resource forms, RefSwitch and its like the ordinary ops on handles. Any other reader of a
// reference gets a ReadVariableOp of its own that runs when the reader would have: after the
// reader's control inputs and other data. Who reads what Assign and the like return reads the
// variable after the change.
//
// Tensors keep their names, but a reference is a handle afterwards: fetch through a reader (such as
// the sink of a Plan) that was there before. References other than to variables are left alone.
// Throws UNIMPLEMENTED, naming the node, where there is no resource form.
void ResolveReferences(Graph& graph);

}  // namespace sextant
