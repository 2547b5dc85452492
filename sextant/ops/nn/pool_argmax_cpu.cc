// MaxPoolWithArgmax and the ops that follow its indices.
#include <vector>

#include "sextant/ops/nn/pool_argmax.h"
#include "sextant/ops/nn/pool_kernel.h"

namespace sextant {
namespace {

// A tensor of int32 or int64 indices.
class IndexWriter {
 public:
  explicit IndexWriter(Tensor& tensor)
      : data_(tensor.raw_data()), wide_(tensor.dtype() == DType::kInt64) {}
  void Set(int64_t i, int64_t value) const {
    if (wide_) {
      static_cast<int64_t*>(data_)[i] = value;
    } else {
      static_cast<int32_t*>(data_)[i] = static_cast<int32_t>(value);
    }
  }

 private:
  void* data_;
  bool wide_;
};

int64_t ArgmaxAt(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == DType::kInt64 ? static_cast<const int64_t*>(tensor.raw_data())[i]
                                         : static_cast<const int32_t*>(tensor.raw_data())[i];
}

template <typename T>
class MaxPoolWithArgmaxKernel final : public PoolKernel {
 public:
  explicit MaxPoolWithArgmaxKernel(KernelInit& init)
      : PoolKernel(init, 4), batch_in_index_(init.attr<bool>("include_batch_in_index")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const PoolGeometry g = Geometry(ctx, input.shape());
    RefuseChannelWindow("MaxPoolWithArgmax");
    const T* x = input.data<T>();
    T* y = ctx.AllocateOutput(0, g.output).template data<T>();
    const IndexWriter indices(ctx.AllocateOutput(1, g.output));
    ForImageChunks(ctx, g, [&](int64_t n, int64_t first, int64_t count) {
      const int64_t in = n * g.in_pixels() * g.channels + first;
      const int64_t base = (batch_in_index_ ? in : first);
      ForWindows(g, [&](int64_t pixel, const PoolRegion& region) {
        Argmax<T> argmax;
        argmax.Find(g, region, x + in, count);
        const int64_t out = (n * g.out_pixels() + pixel) * g.channels + first;
        for (int64_t c = 0; c < count; ++c) {
          y[out + c] = argmax.value[c];
          indices.Set(out + c, base + argmax.pixel[c] * g.channels + c);
        }
      });
    });
  }

 private:
  const bool batch_in_index_;
};

// Follows "argmax" (input 2) from the windows of each image to its elements.
class ArgmaxFollower : public PoolKernel {
 protected:
  explicit ArgmaxFollower(KernelInit& init)
      : PoolKernel(init, 4), batch_in_index_(init.attr<bool>("include_batch_in_index")) {}

  // body(window element, image element) for those of one image after the other, images in parallel.
  template <typename Body>
  void Follow(KernelContext& ctx, const PoolGeometry& g, Body body) {
    const Tensor& argmax = ctx.input(2);
    const int64_t in = g.in_pixels() * g.channels, out = g.out_pixels() * g.channels;
    ctx.ParallelFor(g.batch, 2.0 * static_cast<double>(out) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * out; i < end * out; ++i) {
        const int64_t start = i / out * in, base = batch_in_index_ ? 0 : start;
        const int64_t index = ArgmaxAt(argmax, i);
        if (index < start - base || index >= start - base + in) {
          throw InvalidArgument("argmax {} at {} is outside of its image: [{}, {})", index, i,
                                start - base, start - base + in);
        }
        body(i, base + index);
      }
    });
  }

 private:
  const bool batch_in_index_;
};

template <typename T>
class MaxPoolGradWithArgmaxKernel final : public ArgmaxFollower {
 public:
  explicit MaxPoolGradWithArgmaxKernel(KernelInit& init) : ArgmaxFollower(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const PoolGeometry g = Geometry(ctx, input.shape());
    g.CheckOutput(ctx.input(1).shape(), "grad");
    g.CheckOutput(ctx.input(2).shape(), "argmax");
    const T* dy = ctx.input(1).data<T>();
    T* dx = ctx.AllocateOutput(0, input.shape()).template data<T>();
    std::fill_n(dx, input.num_elements(), T(0));
    Follow(ctx, g, [=](int64_t window, int64_t element) { AddTo(dx[element], dy[window]); });
  }
};

// T is any type of the elements' size: they are only moved.
template <typename T>
class MaxPoolGradGradWithArgmaxKernel final : public ArgmaxFollower {
 public:
  explicit MaxPoolGradGradWithArgmaxKernel(KernelInit& init) : ArgmaxFollower(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &grad = ctx.input(1);
    const PoolGeometry g = Geometry(ctx, input.shape());
    if (!(grad.shape() == input.shape())) {
      throw InvalidArgument("Expected grad shape to be {}, but got {}", input.shape().ToString(),
                            grad.shape().ToString());
    }
    g.CheckOutput(ctx.input(2).shape(), "argmax");
    const T* dx = static_cast<const T*>(grad.raw_data());
    T* dy = static_cast<T*>(ctx.AllocateOutput(0, g.output).raw_data());
    Follow(ctx, g, [=](int64_t window, int64_t element) { dy[window] = dx[element]; });
  }
};

}  // namespace

void RegisterArgmaxPoolCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(
        KernelDef("MaxPoolWithArgmax").Type<T>("T").template Make<MaxPoolWithArgmaxKernel<T>>());
    registry.Add(KernelDef("MaxPoolGradWithArgmax")
                     .Type<T>("T")
                     .template Make<MaxPoolGradWithArgmaxKernel<T>>());
  });
  const auto add_mover = [&]<typename T>(std::vector<DType> types) {
    registry.Add(KernelDef("MaxPoolGradGradWithArgmax")
                     .Types("T", std::move(types))
                     .template Make<MaxPoolGradGradWithArgmaxKernel<T>>());
  };
  add_mover.operator()<uint8_t>({DType::kInt8, DType::kUInt8});
  add_mover.operator()<uint16_t>({DType::kHalf, DType::kBFloat16, DType::kInt16, DType::kUInt16});
  add_mover.operator()<uint32_t>({DType::kFloat, DType::kInt32, DType::kUInt32});
  add_mover.operator()<uint64_t>({DType::kDouble, DType::kInt64, DType::kUInt64});
}

}  // namespace sextant
