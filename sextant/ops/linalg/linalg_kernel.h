// LinalgKernel: runs a function of matrices on each matrix of a batch.
//
// Matrices are computed in double precision whatever the element type is: single precision would
// double the time to compile for matrices too small for it to matter.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

#include "sextant/device/kernel_registry.h"

namespace sextant {

template <typename C>
using Matrix = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// C is double, or std::complex<double> for complex element types.
template <typename C>
class LinalgKernel : public Kernel {
 public:
  void Compute(KernelContext& ctx) override;

 protected:
  // The shapes of the results (matrices, vectors or scalars) for one matrix of each input. Outputs
  // beyond these are empty vectors. Throws INVALID_ARGUMENT when the matrices do not fit.
  virtual std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const = 0;
  // Vectors and scalars are matrices of one column. Results are of the size they must have.
  // Called by several threads at once.
  virtual void Run(const std::vector<Matrix<C>>& inputs, std::vector<Matrix<C>>& outputs) const = 0;
  // Whether the batch dimensions of the inputs are broadcast, else they must be equal.
  virtual bool Broadcasts() const { return false; }
};

extern template class LinalgKernel<double>;
extern template class LinalgKernel<std::complex<double>>;

// Throws INVALID_ARGUMENT unless the shape is that of a square matrix.
void CheckSquare(const Shape& matrix);

// Registers Kernel<double> for real "T".
template <template <typename> class Kernel>
void AddRealLinalgKernel(KernelRegistry& registry, const char* op, bool with_half = false) {
  std::vector<DType> reals{DType::kFloat, DType::kDouble};
  if (with_half) reals.push_back(DType::kHalf);
  registry.Add(KernelDef(op).Types("T", std::move(reals)).template Make<Kernel<double>>());
}
// And Kernel<std::complex<double>> for complex ones.
template <template <typename> class Kernel>
void AddLinalgKernels(KernelRegistry& registry, const char* op, bool with_half = false) {
  AddRealLinalgKernel<Kernel>(registry, op, with_half);
  registry.Add(KernelDef(op)
                   .Types("T", {DType::kComplex64, DType::kComplex128})
                   .template Make<Kernel<std::complex<double>>>());
}

}  // namespace sextant
