#include <cmath>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/testing/case_checks.h"
#include "sextant/testing/case_graph.h"
#include "sextant/testing/case_values.h"

namespace sextant::testing {
namespace {

// Error of a central difference with this step in double: about 1e-10 from rounding, 1e-11 from
// curvature.
constexpr double kStep = 5e-6;
constexpr double kRelativeTolerance = 1e-5, kAbsoluteTolerance = 2e-7;

std::vector<Output> DoubleOutputs(const CaseGraph& graph) {
  std::vector<Output> outputs;
  for (const Output& y : graph.outputs()) {
    if (y.dtype() == DType::kDouble) outputs.push_back(y);
  }
  return outputs;
}

double Loss(const std::vector<Tensor>& ys, const std::vector<Tensor>& weights) {
  double sum = 0;
  for (size_t i = 0; i < ys.size(); ++i) {
    const auto y = ys[i].flat<double>(), w = weights[i].flat<double>();
    for (size_t k = 0; k < y.size(); ++k) sum += y[k] * w[k];
  }
  return sum;
}

// d loss / d input for every double input, in the order of CaseGraph::inputs(); others are left
// without value.
std::vector<Tensor> Differences(const OpCase& op_case, std::vector<Tensor>& weights) {
  const CaseGraph graph(op_case, StaticShapes::kFull);
  const std::vector<Output> ys = DoubleOutputs(graph);
  Session session(graph.node()->graph());
  CaseRandom random(op_case.text + " weights");
  for (const Tensor& y : graph.Run(session, ys)) {
    weights.push_back(RandomTensor(DType::kDouble, y.shape(), 0.5, 2, random));
  }
  std::vector<CaseGraph::Input> inputs = graph.inputs();
  std::vector<Tensor> differences;
  for (CaseGraph::Input& input : inputs) {
    if (input.value.dtype() != DType::kDouble) {
      differences.emplace_back();
      continue;
    }
    const Tensor original = input.value;
    Tensor difference(DType::kDouble, original.shape());
    for (int64_t k = 0; k < original.num_elements(); ++k) {
      const double x = original.data<double>()[k], step = kStep * std::max(1.0, std::abs(x));
      const auto loss_at = [&](double value) {
        input.value = original.Clone();
        input.value.data<double>()[k] = value;
        return Loss(graph.Run(session, inputs, ys), weights);
      };
      difference.data<double>()[k] = (loss_at(x + step) - loss_at(x - step)) / (2 * step);
    }
    input.value = original;
    differences.push_back(std::move(difference));
  }
  return differences;
}

// The same by Gradients(); none() becomes zeros.
std::vector<Tensor> Analytic(const OpCase& op_case, StaticShapes shapes,
                             const std::vector<Tensor>& weights) {
  CaseGraph graph(op_case, shapes);
  const GraphScope scope(graph.graph());
  GradientOptions options;
  for (const Tensor& weight : weights) options.grad_ys.push_back(Const(weight));
  std::vector<Output> xs, fetches;
  for (const CaseGraph::Input& input : graph.inputs()) {
    if (input.value.dtype() == DType::kDouble) xs.push_back(input.x);
  }
  const std::vector<Gradient> gradients = Gradients(DoubleOutputs(graph), xs, options);
  for (const Gradient& gradient : gradients) {
    if (!gradient.none()) fetches.push_back(gradient.dense());
  }
  Session session(graph.graph());
  const std::vector<Tensor> values = graph.Run(session, fetches);
  std::vector<Tensor> results;
  size_t next_gradient = 0, next_value = 0;
  for (const CaseGraph::Input& input : graph.inputs()) {
    if (input.value.dtype() != DType::kDouble) {
      results.emplace_back();
    } else if (gradients[next_gradient++].none()) {
      results.push_back(Tensor::Zeros(DType::kDouble, input.value.shape()));
    } else {
      results.push_back(values[next_value++]);
    }
  }
  return results;
}

std::string Compare(const Tensor& analytic, const Tensor& difference, size_t input) {
  if (!(analytic.shape() == difference.shape())) {
    return fmt::format("gradient of input {} has shape {}, the input {}", input,
                       analytic.shape().ToString(), difference.shape().ToString());
  }
  for (int64_t k = 0; k < analytic.num_elements(); ++k) {
    const double a = analytic.data<double>()[k], d = difference.data<double>()[k];
    if (!(std::abs(a - d) <= kAbsoluteTolerance + kRelativeTolerance * std::abs(d))) {
      return fmt::format("gradient of input {} at element {} is {:.9g}, by differences {:.9g}",
                         input, k, a, d);
    }
  }
  return "";
}

}  // namespace

std::string CheckGradients(const OpCase& op_case) {
  if (!op_case.check_gradient) return "";
  try {
    const CaseGraph graph(op_case, StaticShapes::kFull);
    if (!graph.node()->op().gradient() || DoubleOutputs(graph).empty()) return "";
    std::vector<Tensor> weights;
    const std::vector<Tensor> differences = Differences(op_case, weights);
    for (const StaticShapes shapes : kAllStaticShapes) {
      const std::vector<Tensor> analytic = Analytic(op_case, shapes, weights);
      for (size_t i = 0; i < differences.size(); ++i) {
        if (!differences[i].valid()) continue;
        const std::string problem = Compare(analytic[i], differences[i], i);
        if (!problem.empty()) return fmt::format("{} ({})", problem, StaticShapesName(shapes));
      }
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace sextant::testing
