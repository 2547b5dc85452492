#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename C>
using Factors = Eigen::PartialPivLU<Matrix<C>>;

template <typename C>
Factors<C> InvertibleFactors(const Matrix<C>& matrix, const char* what = "Input") {
  Factors<C> lu(matrix);
  double least = std::abs(lu.matrixLU()(0, 0));
  for (Eigen::Index i = 1; i < matrix.rows(); ++i) {
    least = std::min(least, std::abs(lu.matrixLU()(i, i)));  // which passes over NaN
  }
  // In TensorFlow NaN becomes the pivot: the first one is refused, later ones spread.
  if (!(least > 0) || matrix.col(0).hasNaN()) throw InvalidArgument("{} is not invertible.", what);
  return lu;
}

template <typename C>
class InverseKernel : public LinalgKernel<C> {
 public:
  explicit InverseKernel(KernelInit& init) : adjoint_(init.attr<bool>("adjoint")) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    return {inputs[0]};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].rows() == 0) return;
    out[0] = InvertibleFactors<C>(adjoint_ ? Matrix<C>(in[0].adjoint()) : in[0]).inverse();
  }
  const bool adjoint_;
};

template <typename C>
class SolveKernel : public LinalgKernel<C> {
 public:
  explicit SolveKernel(KernelInit& init) : adjoint_(init.attr<bool>("adjoint")) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    if (inputs[0][0] != inputs[1][0]) {
      throw InvalidArgument("a matrix of {} rows does not fit a right-hand side of {}",
                            inputs[0][0], inputs[1][0]);
    }
    return {inputs[1]};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].rows() == 0 || in[1].cols() == 0) return;
    const Factors<C> lu =
        InvertibleFactors<C>(adjoint_ ? Matrix<C>(in[0].adjoint()) : in[0], "Input matrix");
    out[0] = lu.solve(in[1]);
  }
  const bool adjoint_;
};

// (sign, log of the absolute value) of the determinant. As TensorFlow, the sign is 0 when the
// logarithm is not finite, and NaN counts as a determinant of 0.
template <typename C>
std::pair<C, double> LogDeterminant(const Matrix<C>& matrix) {
  if (matrix.rows() == 0) return {C(1), 0};
  const Factors<C> lu(matrix);
  C sign(static_cast<double>(lu.permutationP().determinant()));
  double log = 0;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    const C pivot = lu.matrixLU()(i, i);
    const double size = std::abs(pivot);
    sign *= pivot / size;
    log += std::log(size);
  }
  if (std::isfinite(log)) return {sign, log};
  return {C(0), log > 0 ? kInfinity : -kInfinity};
}

template <typename C>
class DeterminantKernel : public LinalgKernel<C> {
 public:
  explicit DeterminantKernel(KernelInit& init) : log_(init.num_outputs() == 2) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    return std::vector<Shape>(log_ ? 2 : 1);
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    const auto [sign, log] = LogDeterminant(in[0]);
    out[0](0, 0) = log_ ? sign : sign * std::exp(log);
    if (log_) out[1](0, 0) = log;
  }
  const bool log_;
};

template <typename C>
class LuKernel : public LinalgKernel<C> {
 public:
  explicit LuKernel(KernelInit&) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    return {inputs[0], {inputs[0][0]}};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].rows() == 0) return;
    const Factors<C> lu = InvertibleFactors<C>(in[0]);
    out[0] = lu.matrixLU();
    const auto& positions = lu.permutationP().indices();
    for (Eigen::Index i = 0; i < positions.size(); ++i) {
      out[1](positions(i), 0) = C(static_cast<double>(i));
    }
  }
};

}  // namespace

void RegisterMatrixSolveCpu(KernelRegistry& registry) {
  AddLinalgKernels<InverseKernel>(registry, "MatrixInverse", true);
  AddLinalgKernels<SolveKernel>(registry, "MatrixSolve");
  AddLinalgKernels<DeterminantKernel>(registry, "MatrixDeterminant");
  AddLinalgKernels<DeterminantKernel>(registry, "LogMatrixDeterminant");
  AddLinalgKernels<LuKernel>(registry, "Lu");
}

}  // namespace sextant
