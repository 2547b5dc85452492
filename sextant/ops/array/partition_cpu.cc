#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

// The shape of the slices of "data" that each number in "prefix" stands for.
Shape SliceShape(const Tensor& data, const Tensor& prefix, const char* what) {
  bool fits = prefix.rank() <= data.rank();
  for (int d = 0; fits && d < prefix.rank(); ++d) fits = data.dim(d) == prefix.dim(d);
  if (!fits) {
    throw InvalidArgument("data.shape {} does not start with {}.shape {}", data.shape().ToString(),
                          what, prefix.shape().ToString());
  }
  return Shape(data.shape().dims().subspan(prefix.rank()));
}

class PartitionKernel : public Kernel {
 public:
  explicit PartitionKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& data = ctx.input(0);
    const Shape slice = SliceShape(data, ctx.input(1), "partitions");
    const auto partitions = ctx.input(1).flat<int32_t>();
    const int count = ctx.num_outputs();
    sizes_.assign(count, 0);
    for (size_t i = 0; i < partitions.size(); ++i) {
      if (partitions[i] < 0 || partitions[i] >= count) {
        throw InvalidArgument("partitions{} = {} is not in [0, {})",
                              CoordinatesText(ctx.input(1).shape(), static_cast<int64_t>(i)),
                              partitions[i], count);
      }
      ++sizes_[partitions[i]];
    }
    ends_.assign(count, nullptr);
    for (int p = 0; p < count; ++p) {
      Shape shape = slice;
      shape.Insert(0, sizes_[p]);
      ends_[p] = ctx.AllocateOutput(p, shape).raw_data();
    }
    const int64_t length = slice.num_elements();
    WithElement(data.dtype(), [&]<typename T>() {
      const T* from = static_cast<const T*>(data.raw_data());
      for (int32_t p : partitions) {
        ends_[p] = std::copy_n(from, length, static_cast<T*>(ends_[p]));
        from += length;
      }
    });
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<void*> ends_;
};

class StitchKernel : public Kernel {
 public:
  explicit StitchKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const int count = ctx.num_inputs() / 2;
    const Shape slice = SliceShape(ctx.input(count), ctx.input(0), "indices[0]");
    int64_t rows = 0;
    for (int m = 0; m < count; ++m) {
      const Tensor& indices = ctx.input(m);
      const Shape other = SliceShape(ctx.input(count + m), indices, "indices");
      if (!(other == slice)) {
        throw InvalidArgument("slices of data[{}] have shape {}, those of data[0] {}", m,
                              other.ToString(), slice.ToString());
      }
      for (int64_t i = 0; i < indices.num_elements(); ++i) {
        const int32_t index = indices.data<int32_t>()[i];
        if (index < 0) {
          throw InvalidArgument("indices[{}]{} = {} is negative", m,
                                CoordinatesText(indices.shape(), i), index);
        }
        rows = std::max<int64_t>(rows, index + int64_t{1});
      }
    }
    Shape shape = slice;
    shape.Insert(0, rows);
    Tensor& out = ctx.AllocateOutput(0, shape);
    WithElement(out.dtype(), [&]<typename T>() {
      Merge(ctx, count, static_cast<T*>(out.raw_data()), rows, slice.num_elements());
    });
  }

 private:
  template <typename T>
  void Merge(KernelContext& ctx, int count, T* out, int64_t rows, int64_t length) {
    written_.assign(rows, 0);
    for (int m = 0; m < count; ++m) {
      const T* from = static_cast<const T*>(ctx.input(count + m).raw_data());
      for (int32_t index : ctx.input(m).flat<int32_t>()) {
        std::copy_n(from, length, out + index * length);
        written_[index] = 1;
        from += length;
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      if (!written_[row]) std::fill_n(out + row * length, length, T{});
    }
  }
  std::vector<uint8_t> written_;
};

}  // namespace

void RegisterPartitionCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("DynamicPartition").Make<PartitionKernel>());
  registry.Add(KernelDef("DynamicStitch").Make<StitchKernel>());
  registry.Add(KernelDef("ParallelDynamicStitch").Make<StitchKernel>());
}

}  // namespace sextant
