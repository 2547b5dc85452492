// _Elementwise: a region of many element-wise ops computed in one pass over memory.
//
// A region is a small program. Its values are numbered: first the node's inputs, then its
// constants, then the result of each step. Every input has the full shape of the region, or one
// element, or the shape of its last dimensions (and is repeated along the others). Made by the pass
// "fuse_elementwise", never exported.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/graph/elementwise_table.h"

namespace sextant {

struct ElementwiseStep {
  ElementwiseOp function;
  int a = 0;
  int b = 0;  // not read by functions of one number
};

struct ElementwiseProgram {
  int num_inputs = 0;
  std::vector<float> constants;
  std::vector<ElementwiseStep> steps;
  std::vector<int> results;  // the steps whose values are the outputs

  // From the attributes of the op: "program" holds function, a and b of each step.
  // Throws INVALID_ARGUMENT on a number that is out of range or refers to a later step.
  ElementwiseProgram(int num_inputs, std::span<const float> constants,
                     std::span<const int64_t> program, std::span<const int64_t> results);

  int first_step_value() const { return num_inputs + static_cast<int>(constants.size()); }
};

}  // namespace sextant
