#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"
#include "sextant/ops/sparse/sum_type.h"

namespace sextant {
namespace {

class FillEmptyRowsKernel : public Kernel {
 public:
  explicit FillEmptyRowsKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2));
    const Tensor& default_value = ctx.input(3);
    if (default_value.rank() != 0) {
      throw InvalidArgument("default_value must be a scalar, got shape {}",
                            default_value.shape().ToString());
    }
    if (input_.rank() == 0) throw InvalidArgument("dense_shape must not be empty");
    const int64_t rows = input_.shape()[0], count = input_.count();
    for (int64_t i = 0; i < count; ++i) {
      if (RowOf(i) < 0 || RowOf(i) >= rows) {
        throw InvalidArgument("indices({}, 0) = {} is not in [0, {})", i, RowOf(i), rows);
      }
    }
    bool* const empty = ctx.AllocateOutput(2, {rows}).data<bool>();
    int64_t* const map = ctx.AllocateOutput(3, {count}).data<int64_t>();
    const int64_t size = FindStarts(rows, empty);
    next_ = starts_;
    for (int64_t i = 0; i < count; ++i) map[i] = next_[RowOf(i)]++;
    FillIndices(empty, rows, map, ctx.AllocateOutput(0, {size, input_.rank()}).data<int64_t>());
    FillValues(ctx, map, ctx.AllocateOutput(1, {size}));
  }

 private:
  int64_t RowOf(int64_t i) const { return input_.indices()[i * input_.rank()]; }

  // Sets starts_ to the place of each row's first entry; returns the number of entries.
  int64_t FindStarts(int64_t rows, bool* empty) {
    starts_.assign(static_cast<size_t>(rows), 0);
    for (int64_t i = 0; i < input_.count(); ++i) ++starts_[RowOf(i)];
    int64_t size = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t entries = starts_[row];
      empty[row] = entries == 0;
      starts_[row] = size;
      size += std::max<int64_t>(entries, 1);
    }
    return size;
  }
  void FillIndices(const bool* empty, int64_t rows, const int64_t* map, int64_t* out) const {
    const int rank = input_.rank();
    for (int64_t row = 0; row < rows; ++row) {
      if (!empty[row]) continue;
      int64_t* const index = out + starts_[row] * rank;
      std::fill_n(index, rank, int64_t{0});
      index[0] = row;
    }
    for (int64_t i = 0; i < input_.count(); ++i) {
      std::copy_n(input_.indices() + i * rank, rank, out + map[i] * rank);
    }
  }
  void FillValues(KernelContext& ctx, const int64_t* map, Tensor& values) const {
    WithElement(values.dtype(), [&]<typename T>() {
      T* const dst = static_cast<T*>(values.raw_data());
      const T* const src = static_cast<const T*>(ctx.input(1).raw_data());
      std::fill_n(dst, values.num_elements(), *static_cast<const T*>(ctx.input(3).raw_data()));
      for (int64_t i = 0; i < input_.count(); ++i) dst[map[i]] = src[i];
    });
  }

  SparseInput input_;
  std::vector<int64_t> starts_, next_;  // per row: place of its first entry, of its next one
};

template <typename T>
class FillEmptyRowsGradKernel : public Kernel {
 public:
  explicit FillEmptyRowsGradKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& map = ctx.input(0);
    const Tensor& grad = ctx.input(1);
    CheckVector(map, "reverse_index_map");
    CheckVector(grad, "grad_values");
    const int64_t size = grad.num_elements();
    from_input_.assign(static_cast<size_t>(size), 0);
    T* const values = ctx.AllocateOutput(0, map.shape()).template data<T>();
    for (int64_t i = 0; i < map.num_elements(); ++i) {
      const int64_t place = map.data<int64_t>()[i];
      if (place < 0 || place >= size) {
        throw InvalidArgument("reverse_index_map[{}] = {} is not in [0, {})", i, place, size);
      }
      values[i] = grad.data<T>()[place];
      from_input_[place] = 1;
    }
    SumType<T> sum{};
    for (int64_t i = 0; i < size; ++i) {
      if (!from_input_[i]) {
        sum = Wrapping::Add(sum, static_cast<SumType<T>>(grad.data<T>()[i]));
      }
    }
    *ctx.AllocateOutput(1, Shape()).template data<T>() = static_cast<T>(sum);
  }

 private:
  std::vector<uint8_t> from_input_;
};

}  // namespace

void RegisterSparseRowsCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SparseFillEmptyRows").Make<FillEmptyRowsKernel>());
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("SparseFillEmptyRowsGrad")
                     .Type<T>("T")
                     .template Make<FillEmptyRowsGradKernel<T>>());
  });
}

}  // namespace sextant
