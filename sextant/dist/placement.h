// Placement of variables on parameter servers: a function of the graph alone, so that every task
// finds the same, whatever the order in which its model function made the variables.
//
//   PlaceVariables(graph, {.num_ps = 3});    // sets "/job:ps/task:…" on the handles
//
// Variables that one node touches, as an optimizer's update does a weight and its slots, stay
// together, and so do those that are named after another ("w/Adam" of a sparse update). The groups
// go, largest first, to the server that has least; scalars (the global step, powers of betas) to
// server 0. What names a job itself stays there, and local variables stay on their task.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant::dist {

struct PlacementOptions {
  int num_ps = 1;
  // In the order of creation, one server after the other, as TensorFlow places them: 2.99 times the
  // mean load on one of three servers for a net whose kinds of variables repeat by threes.
  bool round_robin = false;
};

// The bytes that each server has. Throws INVALID_ARGUMENT for fewer than one server.
std::vector<int64_t> PlaceVariables(Graph& graph, const PlacementOptions& options);

}  // namespace sextant::dist
