#include "sextant/testing/case_checks.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/testing/case_graph.h"

namespace sextant::testing {
namespace {

constexpr OptimizerOptions kNoOptimizations{.fold_constants = false,
                                            .merge_common = false,
                                            .fuse_updates = false,
                                            .block_images = false,
                                            .fuse_images = false,
                                            .winograd = false,
                                            .fuse_products = false,
                                            .fuse_elementwise = false,
                                            .static_memory = false};

std::string CompareAll(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                       std::string_view what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!actual[i].Identical(expected[i])) {
      return fmt::format("output {} differs {}: {} instead of {}", i, what, actual[i].ToString(),
                         expected[i].ToString());
    }
  }
  return "";
}

// The outputs, and of the floating ones also -(y*y): something to fuse with.
std::vector<Output> WithFollowers(CaseGraph& graph) {
  std::vector<Output> fetches = graph.outputs();
  const GraphScope scope(graph.graph());
  for (const Output& y : graph.outputs()) {
    if (!IsFloating(RemoveRef(y.dtype()))) continue;
    const Output square = OpBuilder("Square").Input(y).Build();
    fetches.push_back(OpBuilder("Neg").Input(square).Build());
  }
  return fetches;
}

std::vector<Tensor> RunFresh(const OpCase& op_case, bool constants, const SessionOptions& options) {
  CaseGraph graph(op_case, StaticShapes::kFull, constants);
  const std::vector<Output> fetches = WithFollowers(graph);
  Session session(graph.graph(), options);
  return graph.Run(session, fetches);
}

std::string CheckShapes(const OpCase& op_case, StaticShapes shapes, bool constants) {
  CaseGraph graph(op_case, shapes, constants);
  Session session(graph.graph());
  const std::vector<Tensor> results = graph.Run(session, graph.outputs());
  for (size_t i = 0; i < results.size(); ++i) {
    const PartialShape& inferred = graph.outputs()[i].shape();
    const Shape& actual = results[i].shape();
    if (constants && op_case.exact_shape ? !(inferred == PartialShape(actual))
                                         : !inferred.CompatibleWith(actual)) {
      return fmt::format("output {} has shape {}, inferred was {}", i, actual.ToString(),
                         inferred.ToString());
    }
  }
  return "";
}

}  // namespace

std::string CheckShapes(const OpCase& op_case) {
  const auto check = [&](StaticShapes shapes, bool constants,
                         std::string_view name) -> std::string {
    std::string problem;
    try {
      problem = CheckShapes(op_case, shapes, constants);
    } catch (const Error& e) {
      problem = e.what();
    }
    return problem.empty() ? "" : fmt::format("{} ({})", problem, name);
  };
  std::string problem = check(StaticShapes::kFull, true, "all inputs constant");
  for (const StaticShapes shapes : kAllStaticShapes) {
    if (problem.empty()) problem = check(shapes, false, StaticShapesName(shapes));
  }
  return problem;
}

std::string CheckOptimizations(const OpCase& op_case) {
  // Images in the blocked layout are summed in another order.
  const SessionOptions optimised{.optimizer = {.block_images = false}};
  try {
    const auto expected = RunFresh(op_case, false, {.optimizer = kNoOptimizations});
    std::string problem =
        CompareAll(RunFresh(op_case, false, optimised), expected, "when optimised");
    if (!problem.empty()) return problem;
    problem = CompareAll(RunFresh(op_case, true, {.optimizer = kNoOptimizations}), expected,
                         "with constant inputs");
    if (!problem.empty()) return problem;
    return CompareAll(RunFresh(op_case, true, optimised), expected,
                      "with constant inputs, optimised");
  } catch (const Error& e) {
    return e.what();
  }
}

std::string CheckThreads(const OpCase& op_case) {
  try {
    const auto expected = RunFresh(op_case, false, {.threads = 1});
    return CompareAll(RunFresh(op_case, false, {}), expected, "with several threads");
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace sextant::testing
