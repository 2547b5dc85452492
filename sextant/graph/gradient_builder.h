// Backpropagation without argument checks, as the gradients of control flow use it: nodes are added
// to the current graph, which is the ys' own graph or a function body inside of it.
#pragma once

#include <vector>

#include "sextant/graph/gradients.h"

namespace sextant {

// Whether gradients flow through tensors of this type: real and complex numbers, and the handles
// and lists that hold such.
bool IsDifferentiable(DType dtype);

// d(sum of grad_ys * ys)/dx for each x. Every grad_y is given.
std::vector<Gradient> BuildGradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                     const std::vector<Gradient>& grad_ys,
                                     const std::vector<Output>& stop_gradients = {});

// Which of the xs y may depend on differentiably, by the structure of the graph alone.
std::vector<bool> ReachedInputs(Output y, const std::vector<Output>& xs);

// The sum: AddN of dense ones, concatenation of sparse ones, dense when mixed. none() when empty.
Gradient SumGradients(const std::vector<Gradient>& parts);

// Zeros like a tensor; like the value of the variable, of the given type, for a resource.
Output ZeroGradient(Output tensor, DType variable_dtype = DType::kInvalid);

}  // namespace sextant
