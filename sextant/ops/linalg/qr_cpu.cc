#include <Eigen/Householder>

#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

template <typename C>
class QrKernel : public LinalgKernel<C> {
 public:
  explicit QrKernel(KernelInit& init) : full_(init.attr<bool>("full_matrices")) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    const int64_t rows = inputs[0][0], columns = inputs[0][1];
    const int64_t rank = full_ ? rows : std::min(rows, columns);
    return {{rows, rank}, {rank, columns}};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    const Matrix<C>& x = in[0];
    Matrix<C>&q = out[0], &r = out[1];
    // One reflection after the other: Eigen's blocked decomposition takes much longer to compile.
    Matrix<C> work = x;
    std::vector<C> factors(static_cast<size_t>(std::min(x.rows(), x.cols())));
    Eigen::Matrix<C, Eigen::Dynamic, 1> scratch(std::max(q.cols(), x.cols()));
    const auto count = static_cast<Eigen::Index>(factors.size());
    for (Eigen::Index k = 0; k < count; ++k) {
      const Eigen::Index rows = x.rows() - k, columns = x.cols() - k - 1;
      double beta;
      work.col(k).tail(rows).makeHouseholderInPlace(factors[k], beta);
      work(k, k) = beta;
      work.bottomRightCorner(rows, columns)
          .applyHouseholderOnTheLeft(work.col(k).tail(rows - 1), factors[k], scratch.data());
    }
    r.setZero();
    r.topRows(count) = work.topRows(count).template triangularView<Eigen::Upper>();
    q.setIdentity();
    for (Eigen::Index k = count - 1; k >= 0; --k) {
      const Eigen::Index rows = x.rows() - k;
      q.bottomRightCorner(rows, q.cols() - k)
          .applyHouseholderOnTheLeft(work.col(k).tail(rows - 1), Eigen::numext::conj(factors[k]),
                                     scratch.data());
    }
  }
  const bool full_;
};

}  // namespace

void RegisterQrCpu(KernelRegistry& registry) { AddLinalgKernels<QrKernel>(registry, "Qr", true); }

}  // namespace sextant
