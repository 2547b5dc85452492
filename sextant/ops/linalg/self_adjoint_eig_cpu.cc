#include <Eigen/Eigenvalues>

#include "sextant/base/error.h"
#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

template <typename C>
class SelfAdjointEigKernel : public LinalgKernel<C> {
 public:
  explicit SelfAdjointEigKernel(KernelInit& init) : compute_v_(init.attr<bool>("compute_v")) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    CheckSquare(inputs[0]);
    const Shape values{inputs[0][0]};
    return compute_v_ ? std::vector<Shape>{values, inputs[0]} : std::vector<Shape>{values};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].rows() == 0) return;
    const Eigen::SelfAdjointEigenSolver<Matrix<C>> eig(
        in[0], compute_v_ ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (eig.info() != Eigen::Success) {
      throw InvalidArgument(
          "Self-adjoint eigen decomposition was not successful. "
          "The input might not be valid.");
    }
    out[0] = eig.eigenvalues().template cast<C>();
    if (compute_v_) out[1] = eig.eigenvectors();
  }
  const bool compute_v_;
};

}  // namespace

void RegisterSelfAdjointEigCpu(KernelRegistry& registry) {
  // Complex matrices would double the time this file takes to compile.
  AddRealLinalgKernel<SelfAdjointEigKernel>(registry, "SelfAdjointEigV2");
}

}  // namespace sextant
