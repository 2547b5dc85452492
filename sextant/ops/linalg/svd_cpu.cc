#include <Eigen/SVD>
#include <limits>

#include "sextant/ops/linalg/linalg_kernel.h"

namespace sextant {
namespace {

template <typename C>
class SvdKernel : public LinalgKernel<C> {
 public:
  explicit SvdKernel(KernelInit& init)
      : compute_uv_(init.attr<bool>("compute_uv")), full_(init.attr<bool>("full_matrices")) {}

 private:
  std::vector<Shape> OutputShapes(const std::vector<Shape>& inputs) const override {
    const int64_t rows = inputs[0][0], columns = inputs[0][1], rank = std::min(rows, columns);
    if (!compute_uv_) return {{rank}};
    return {{rank}, {rows, full_ ? rows : rank}, {columns, full_ ? columns : rank}};
  }
  void Run(const std::vector<Matrix<C>>& in, std::vector<Matrix<C>>& out) const override {
    if (in[0].size() == 0) {
      for (size_t i = 1; i < out.size(); ++i) out[i].setIdentity();
      return;
    }
    const unsigned thin = Eigen::ComputeThinU | Eigen::ComputeThinV;
    const unsigned full = Eigen::ComputeFullU | Eigen::ComputeFullV;
    const Eigen::JacobiSVD<Matrix<C>> svd(in[0], !compute_uv_ ? 0 : full_ ? full : thin);
    if (svd.info() != Eigen::Success) {  // an element is not finite
      for (Matrix<C>& result : out) result.setConstant(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    out[0] = svd.singularValues().template cast<C>();
    if (!compute_uv_) return;
    out[1] = svd.matrixU();
    out[2] = svd.matrixV();
  }
  const bool compute_uv_, full_;
};

}  // namespace

void RegisterSvdCpu(KernelRegistry& registry) {
  // Complex matrices would double the time this file takes to compile.
  AddRealLinalgKernel<SvdKernel>(registry, "Svd");
}

}  // namespace sextant
