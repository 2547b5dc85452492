// A user's own op: definition, shape, gradient and kernel, registered against the installed
// library.
#include <sextant/sextant.h>

#include <cmath>
#include <cstdio>

namespace sx = sextant;

namespace {

// y = x³
sx::Output Cube(sx::Output x) { return sx::OpBuilder("Cube").Input(x).Build(); }

void CubeGradient(sx::GradientContext& ctx) {
  ctx.set(0, ctx.grad() * (sx::Square(ctx.input(0)) * 3.0));
}

class CubeKernel : public sx::Kernel {
 public:
  explicit CubeKernel(sx::KernelInit&) {}
  void Compute(sx::KernelContext& ctx) override {
    const sx::Tensor& x = ctx.input(0);
    sx::Tensor& y = ctx.AllocateOutput(0, x.shape());
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const float v = x.data<float>()[i];
      y.data<float>()[i] = v * v * v;
    }
  }
};

}  // namespace

int main() {
  sx::OpRegistry::Global().Add(sx::OpDef("Cube")
                                   .Inputs("x:T")
                                   .Outputs("y:T")
                                   .Attrs("T:type in [float]")
                                   .Doc("The third power of x.")
                                   .Shape(sx::shapes::Unchanged)
                                   .Gradient(CubeGradient));
  sx::KernelRegistry::Global().Add(
      sx::KernelDef("Cube").Type<float>("T").InPlace(0, 0).Make<CubeKernel>());

  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1});
  const sx::Output y = Cube(x) + 1.0;
  const sx::Output dx = sx::Gradients(y, {x})[0];
  sx::Session session(graph);
  const auto results =
      session.Run({{x, sx::Tensor::Of<float>({2, -1})}}, std::vector<sx::Output>{y, dx});
  const bool ok = results[0].Identical(sx::Tensor::Of<float>({9, 0})) &&
                  results[1].Identical(sx::Tensor::Of<float>({12, 3}));
  std::printf("%s\n", ok ? "own op works" : "own op gives wrong values");
  return ok ? 0 : 1;
}
