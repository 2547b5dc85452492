// Initial values and inputs that the recorded results were made from: those of
// numpy.random.RandomState.
#pragma once

#include <cmath>
#include <vector>

#include "sextant/sextant.h"
#include "sextant/testing/numpy_random.h"

namespace sextant {

// The k-th variable is uniform in +-sqrt(3 / inputs per unit), from the seed 100 + k.
inline Tensor InitialValue(const Variable& variable, uint32_t k) {
  Tensor value(DType::kFloat, variable.shape().AsShape());
  const int rank = value.rank();
  const double inputs = rank > 1 ? static_cast<double>(value.num_elements()) /
                                       static_cast<double>(value.dim(rank - 1))
                                 : 300;
  const double limit = std::sqrt(3 / inputs);
  NumpyRandom random(100 + k);
  const bool is_gamma = variable.name().ends_with("gamma");
  const bool is_variance = variable.name().ends_with("variance");
  for (float& x : value.flat<float>()) {
    x = static_cast<float>(random.Uniform(-limit, limit));
    if (is_gamma) x = 1 + x;
    if (is_variance) x = 1 + x * x;
  }
  return value;
}

// Gives the variables their initial values.
inline Operation AssignInitialValues(const std::vector<Variable>& variables) {
  std::vector<Operation> assignments;
  for (uint32_t k = 0; k < variables.size(); ++k) {
    assignments.push_back(
        AssignVariable(variables[k].handle(), Const(InitialValue(variables[k], k))));
  }
  return Group(assignments);
}

// Uniform in [0, limit).
inline Tensor UniformTensor(const Shape& shape, double limit, uint32_t seed = 1) {
  NumpyRandom random(seed);
  Tensor value(DType::kFloat, shape);
  for (float& x : value.flat<float>()) x = static_cast<float>(random.Uniform(0, limit));
  return value;
}

}  // namespace sextant
