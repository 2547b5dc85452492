// Changes to a GraphDef that keep it a GraphDef, so that fuzzing reaches what lies behind the
// parser.
#pragma once

#include "sextant/proto/graph.pb.h"
#include "tests/fuzz/dice.h"

namespace sextant::fuzz {

// One random change: other inputs, attributes, tensors or ops; nodes more or fewer, in the graph or
// in a function.
void MutateGraphDef(Dice& dice, proto::GraphDef* def);

}  // namespace sextant::fuzz
