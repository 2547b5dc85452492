#include <Eigen/Cholesky>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

template <typename C>
class CholeskyKernel : public LinalgKernel<C> {
 public:
  explicit CholeskyKernel(KernelInit&) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    return {inputs[0]};
  }
  // As TensorFlow, a matrix that is not positive definite gives NaN, or 0 when it is complex.
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].rows() == 0) return;
    const Eigen::LLT<Matrix<C>, Eigen::Lower> llt(in[0]);
    if (llt.info() == Eigen::Success) {
      out[0] = llt.matrixL();
    } else {
      out[0].setZero();
      out[0].template triangularView<Eigen::Lower>().setConstant(kNoFactor);
    }
  }
  static constexpr C kNoFactor = std::numeric_limits<C>::quiet_NaN();
};

class CholeskyGradKernel : public LinalgKernel<double> {
 public:
  explicit CholeskyGradKernel(KernelInit&) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    if (!(inputs[0] == inputs[1])) {
      throw InvalidArgument("Inputs to CholeskyGrad must have the same shape, not {} and {}",
                            inputs[0].ToString(), inputs[1].ToString());
    }
    return {inputs[0]};
  }
  void Run(const std::vector<Matrix<double>>& in, std::vector<Matrix<double>>& out) const override {
    if (in[0].rows() == 0) return;
    const auto l = in[0].triangularView<Eigen::Lower>();
    const Matrix<double> lower_grad = in[1].triangularView<Eigen::Lower>();
    Matrix<double> middle = l.adjoint() * lower_grad;
    middle.diagonal() *= 0.5;
    middle = Matrix<double>(middle.triangularView<Eigen::Lower>());
    l.adjoint().solveInPlace(middle);
    l.solveInPlace<Eigen::OnTheRight>(middle);
    out[0] = (middle + middle.transpose()) * 0.5;
  }
};

}  // namespace

void RegisterCholeskyCpu(KernelRegistry& registry) {
  AddLinalgKernels<CholeskyKernel>(registry, "Cholesky");
  registry.Add(KernelDef("CholeskyGrad")
                   .Types("T", {DType::kFloat, DType::kDouble})
                   .Make<CholeskyGradKernel>());
}

}  // namespace sextant
