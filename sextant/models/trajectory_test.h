// For tests of models: gradients at recorded initial values, and losses of the first steps.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sextant/sextant.h"
#include "sextant/testing/numpy_values.h"

namespace sextant::models {

struct ExpectedTrajectory {
  std::vector<double> gradient_norms;  // of the first variables
  std::vector<double> losses;          // before each step
};

// `variables` in the order in which the recorded run made them.
inline void CheckTrajectory(Output loss, Operation train, const FeedMap& feeds,
                            const std::vector<Variable>& variables,
                            const ExpectedTrajectory& expected) {
  constexpr double kTolerance = 1e-4;  // relative
  std::vector<Output> handles, gradients;
  for (size_t i = 0; i < expected.gradient_norms.size(); ++i) {
    handles.push_back(variables.at(i).handle());
  }
  for (const Gradient& gradient : Gradients(loss, handles)) gradients.push_back(gradient.dense());
  const Operation initialize = GlobalVariablesInitializer();
  const Operation assign = AssignInitialValues(variables);
  Session session(loss.graph());
  session.Run(initialize);
  session.Run(assign);
  const std::vector<Tensor> values = session.Run(feeds, gradients);
  for (size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (const float x : values[i].flat<float>()) sum += static_cast<double>(x) * x;
    const double norm = expected.gradient_norms[i];
    EXPECT_NEAR(std::sqrt(sum), norm, kTolerance * norm) << variables[i].name();
  }
  for (const double value : expected.losses) {
    const Tensor got = session.Run(feeds, std::vector<Output>{loss}, {train})[0];
    EXPECT_NEAR(got.scalar<float>(), value, kTolerance * value);
  }
}

}  // namespace sextant::models
