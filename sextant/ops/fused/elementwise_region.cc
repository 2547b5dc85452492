#include "sextant/ops/fused/elementwise_region.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void RegionShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) shape = shapes::Broadcast(shape, c.input(i));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shape);
}

}  // namespace

ElementwiseProgram::ElementwiseProgram(int inputs, std::span<const float> constant_values,
                                       std::span<const int64_t> program,
                                       std::span<const int64_t> result_steps)
    : num_inputs(inputs), constants(constant_values.begin(), constant_values.end()) {
  if (program.size() % 3 != 0 || program.empty()) {
    throw InvalidArgument("a program of {} numbers is not one of whole steps", program.size());
  }
  for (size_t i = 0; i < program.size(); i += 3) {
    const int64_t function = program[i], a = program[i + 1], b = program[i + 2];
    const auto limit = static_cast<int64_t>(first_step_value() + steps.size());
    if (function < 0 || function >= static_cast<int64_t>(ElementwiseOp::kCount) || a < 0 ||
        a >= limit || b < 0 || b >= limit) {
      throw InvalidArgument("step {} of the program is ({}, {}, {}), with {} values before it",
                            steps.size(), function, a, b, limit);
    }
    steps.push_back(
        {static_cast<ElementwiseOp>(function), static_cast<int>(a), static_cast<int>(b)});
  }
  for (const int64_t step : result_steps) {
    if (step < 0 || step >= static_cast<int64_t>(steps.size())) {
      throw InvalidArgument("the program has no step {}", step);
    }
    results.push_back(static_cast<int>(step));
  }
}

void RegisterElementwiseRegion(OpRegistry& registry) {
  registry.Add(OpDef("_Elementwise")
                   .Inputs("inputs:N*T")
                   .Outputs("outputs:M*T")
                   .Attrs("N:int>=1; M:int>=1; T:type in [float]; program:list(int); "
                          "results:list(int); constants:list(float)=[]")
                   .Doc("Element-wise ops computed together; see elementwise_region.h.")
                   .Shape(RegionShape)
                   .NotDifferentiable("made only after gradients"));
}

}  // namespace sextant
