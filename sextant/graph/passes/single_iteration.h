// Frames of v1 loops whose nodes run in one iteration only.
#pragma once

#include "sextant/graph/graph.h"
#include "sextant/graph/passes/loop_frames.h"

namespace sextant {

// Whether no Exit of the frame can get a value after the first iteration: nothing goes from one
// iteration to the next, or the Switches of all loop variables need a value that Enter gives to the
// first iteration only (is_constant = false).
bool RunsOnce(const LoopFrames& frames, int index);

// Takes such a frame away, in place: its nodes belong to the enclosing frame afterwards. Enter,
// Exit and LoopCond become Identity; a Merge takes what comes from Enter. Returns the
// NextIterations, which nothing reads any more.
std::vector<Node*> DissolveFrame(Graph& graph, LoopFrames& frames, int index);

}  // namespace sextant
