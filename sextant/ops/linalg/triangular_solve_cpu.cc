#include "sextant/base/error.h"
#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

template <typename C>
class TriangularSolveKernel : public LinalgKernel<C> {
 public:
  explicit TriangularSolveKernel(KernelInit& init)
      : lower_(init.attr<bool>("lower")), adjoint_(init.attr<bool>("adjoint")) {}

 private:
  bool Broadcasts() const override { return true; }
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    if (inputs[0][0] != inputs[1][0]) {
      throw InvalidArgument("a matrix of {} rows does not fit a right-hand side of {}",
                            inputs[0][0], inputs[1][0]);
    }
    return {inputs[1]};
  }
  // Plain substitution, row by row of the right-hand sides. A zero on the diagonal divides, as in
  // TensorFlow.
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    const Matrix<C>& a = in[0];
    Matrix<C>& x = out[0];
    x = in[1];
    const Eigen::Index rows = a.rows();
    const bool forwards = lower_ != adjoint_;
    for (Eigen::Index step = 0; step < rows; ++step) {
      const Eigen::Index i = forwards ? step : rows - 1 - step;
      const Eigen::Index begin = forwards ? 0 : i + 1, end = forwards ? i : rows;
      for (Eigen::Index k = begin; k < end; ++k) x.row(i) -= At(a, i, k) * x.row(k);
      // By std::complex: Eigen's quotient of a finite by an infinite number is NaN.
      for (Eigen::Index k = 0; k < x.cols(); ++k) x(i, k) /= At(a, i, i);
    }
  }
  C At(const Matrix<C>& a, Eigen::Index i, Eigen::Index k) const {
    return adjoint_ ? Eigen::numext::conj(a(k, i)) : a(i, k);
  }

  const bool lower_, adjoint_;
};

}  // namespace

void RegisterTriangularSolveCpu(KernelRegistry& registry) {
  AddLinalgKernels<TriangularSolveKernel>(registry, "MatrixTriangularSolve", true);
}

}  // namespace sextant
