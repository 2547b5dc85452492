// Square float32 matrix products through a Session, operands in variables.
#include "benchmarks/report.h"
#include "sextant/sextant.h"

namespace sextant::bench {

void Matmul(const Options& options, const std::vector<int>& sizes) {
  for (const int n : sizes) {
    Graph graph;
    GraphScope use(graph);
    const Variable a("a", RandomUniform({n, n}, {.seed = 1}));
    const Variable b("b", RandomUniform({n, n}, {.seed = 2}));
    // A corner is fetched, so that the product is not pruned and little is copied.
    const Output corner = Slice(MatMul(a, b), {0, 0}, {1, 1});
    Session session(graph, {.threads = options.threads});
    session.Run(GlobalVariablesInitializer());
    const Callable call = session.MakeCallable({}, {corner});
    Tensor result;
    std::vector<double> values;
    for (const double rate : Repeat([&] { call.Call({}, std::span(&result, 1)); }, options)) {
      values.push_back(rate * 2e-9 * n * n * n);
    }
    Emit("matmul", "GFLOP/s", values, false,
         {{"size", std::to_string(n)}, {"threads", std::to_string(options.threads)}});
  }
}

}  // namespace sextant::bench
