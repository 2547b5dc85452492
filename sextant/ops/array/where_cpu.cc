#include <algorithm>
#include <complex>
#include <vector>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

template <typename T>
bool Holds(const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return (x.bits & 0x7fff) != 0;
  } else {
    return x != T(0);
  }
}

template <typename T>
class WhereKernel : public Kernel {
 public:
  explicit WhereKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int rank = input.rank();
    if (rank == 0) throw InvalidArgument("the condition must have at least one dimension");
    const auto x = input.flat<T>();
    const int64_t count = std::count_if(x.begin(), x.end(), Holds<T>);
    int64_t* out = ctx.AllocateOutput(0, Shape{count, rank}).template data<int64_t>();
    index_.assign(rank, 0);
    for (const T& element : x) {
      if (Holds(element)) out = std::copy(index_.begin(), index_.end(), out);
      for (int d = rank - 1; d >= 0 && ++index_[d] == input.dim(d); --d) index_[d] = 0;
    }
  }

 private:
  std::vector<int64_t> index_;
};

}  // namespace

void RegisterWhereCpu(KernelRegistry& registry) {
  ForTypes<bool, float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
           uint16_t, uint32_t, uint64_t, std::complex<float>, std::complex<double>>(
      [&]<typename T>() {
        registry.Add(KernelDef("Where").Type<T>("T").template Make<WhereKernel<T>>());
      });
}

}  // namespace sextant
