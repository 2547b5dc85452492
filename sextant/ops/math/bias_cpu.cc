#include <algorithm>

#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

bool ChannelsFirst(const KernelInit& init) {
  const Attr* format = init.node().FindAttr("data_format");
  return format != nullptr && format->Get<std::string>() == "NCHW";
}

// A tensor seen as [outer, channels, inner]; inner is 1 when the channels come last.
struct ChannelView {
  int64_t outer = 1, channels = 1, inner = 1;

  ChannelView(const Shape& shape, bool channels_first) {
    const int at = channels_first ? 1 : shape.rank() - 1;
    channels = shape[at];
    for (int i = 0; i < at; ++i) outer *= shape[i];
    for (int i = at + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

class BiasAddKernel final : public Kernel {
 public:
  BiasAddKernel(const KernelInit& init, BinaryLoop add)
      : channels_first_(ChannelsFirst(init)),
        size_(static_cast<int64_t>(DTypeSize(init.input_type(0)))),
        add_(add) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& value = ctx.input(0);
    const Tensor& bias = ctx.input(1);
    if (value.rank() < 2) {
      throw InvalidArgument("Input tensor must be at least 2D: {}", value.shape().ToString());
    }
    if (bias.rank() != 1) throw InvalidArgument("Biases must be 1D: {}", bias.shape().ToString());
    const ChannelView view(value.shape(), channels_first_);
    if (view.channels != bias.dim(0)) {
      throw InvalidArgument(
          "Must provide as many biases as the channel dimension of the input tensor: {} vs. {}",
          bias.shape().ToString(), value.shape().ToString());
    }
    const char* x = static_cast<const char*>(value.raw_data());
    const char* b = static_cast<const char*>(bias.raw_data());
    char* y = static_cast<char*>(ctx.AllocateOutput(0, value.shape()).raw_data());
    // Rows run along the channels when these come last, else along what follows them.
    const int64_t row = view.inner == 1 ? view.channels : view.inner;
    const int64_t rows = view.inner == 1 ? view.outer : view.outer * view.channels;
    ctx.ParallelFor(rows, 0.5 * static_cast<double>(row) + 5.0, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t first = r * row * size_;
        if (view.inner == 1) {
          add_(x + first, 1, b, 1, y + first, row);
        } else {
          add_(x + first, 1, b + r % view.channels * size_, 0, y + first, row);
        }
      }
    });
  }

 private:
  const bool channels_first_;
  const int64_t size_;
  const BinaryLoop add_;
};

// Sums are made over blocks of fixed size, so that they do not depend on the number of threads.
template <typename T>
class BiasAddGradKernel final : public Kernel {
 public:
  explicit BiasAddGradKernel(KernelInit& init) : channels_first_(ChannelsFirst(init)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    if (input.rank() < 2) {
      throw InvalidArgument("Input tensor must be at least 2D: {}", input.shape().ToString());
    }
    const ChannelView view(input.shape(), channels_first_);
    T* out = ctx.AllocateOutput(0, Shape{view.channels}).template data<T>();
    if (view.inner == 1) {
      SumColumns(ctx, view, input.data<T>(), out);
    } else {
      SumPlanes(ctx, view, input.data<T>(), out);
    }
  }

 private:
  using Sum = Arithmetic<T>;
  static constexpr int64_t kBlockRows = 512;

  static void SumColumns(KernelContext& ctx, const ChannelView& view, const T* in, T* out) {
    const int64_t blocks = (view.outer + kBlockRows - 1) / kBlockRows, width = view.channels;
    Tensor partial;
    Sum* sums = nullptr;
    if constexpr (std::is_same_v<Sum, T>) {
      if (blocks <= 1) sums = out;
    }
    if (sums == nullptr) {
      partial = ctx.AllocateTemp(DTypeOf<Sum>, Shape{std::max<int64_t>(blocks, 1), width});
      sums = partial.data<Sum>();
    }
    std::fill_n(sums, std::max<int64_t>(blocks, 1) * width, Sum(0));
    const double cost = 0.5 * static_cast<double>(std::min(kBlockRows, view.outer) * width) + 1.0;
    ctx.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        Sum* sum = sums + block * width;
        const int64_t last = std::min(view.outer, (block + 1) * kBlockRows);
        int64_t r = block * kBlockRows;
        for (; r + 4 <= last; r += 4) AddRows<4>(in + r * width, width, sum);
        for (; r < last; ++r) AddRows<1>(in + r * width, width, sum);
      }
    });
    for (int64_t block = 1; block < blocks; ++block) {
      const Sum* more = sums + block * width;
      for (int64_t c = 0; c < width; ++c) sums[c] = Wrapping::Add<Sum>(sums[c], more[c]);
    }
    for (int64_t c = 0; c < width; ++c) out[c] = T(sums[c]);
  }

  // Adds rows to the sums of columns one after another; several at a time read the sums less often.
  template <int kRows>
  static void AddRows(const T* rows, int64_t width, Sum* __restrict sum) {
    for (int64_t c = 0; c < width; ++c) {
      Sum total = sum[c];
      for (int r = 0; r < kRows; ++r) {
        total = Wrapping::Add<Sum>(total, ToArithmetic(rows[r * width + c]));
      }
      sum[c] = total;
    }
  }

  static void SumPlanes(KernelContext& ctx, const ChannelView& view, const T* in, T* out) {
    const double cost = static_cast<double>(view.outer * view.inner);
    ctx.ParallelFor(view.channels, cost, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        Sum total(0);
        for (int64_t n = 0; n < view.outer; ++n) {
          const T* plane = in + (n * view.channels + c) * view.inner;
          total = Wrapping::Add<Sum>(total, SumPlane(plane, view.inner));
        }
        out[c] = T(total);
      }
    });
  }

  // Several partial sums: faster and more accurate than one.
  static Sum SumPlane(const T* plane, int64_t count) {
    constexpr int kLanes = 8;
    Sum lanes[kLanes] = {};
    for (int64_t i = 0; i < count; ++i) {
      Sum& lane = lanes[i % kLanes];
      lane = Wrapping::Add<Sum>(lane, ToArithmetic(plane[i]));
    }
    Sum total(0);
    for (Sum lane : lanes) total = Wrapping::Add<Sum>(total, lane);
    return total;
  }

  const bool channels_first_;
};

void AddBiasAdd(KernelRegistry& registry, DType type, BinaryLoop add) {
  for (const char* op : {"BiasAdd", "BiasAddV1"}) {
    registry.Add(KernelDef(op).Types("T", {type}).InPlace(0, 0).Make([=](KernelInit& init) {
      return std::make_unique<BiasAddKernel>(init, add);
    }));
  }
}

}  // namespace

void RegisterBiasCpu(KernelRegistry& registry) {
  AddBiasAdd(registry, DType::kFloat, FloatBinaryLoop(ElementwiseOp::kAdd));
  ForTypes<Half, BFloat16, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
           uint64_t, std::complex<float>, std::complex<double>>([&]<typename T>() {
    AddBiasAdd(registry, DTypeOf<T>,
               BinaryLoopOf<T, T>([](auto x, auto y) { return Wrapping::Add(x, y); }));
  });
  ForTypes<Half, BFloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, std::complex<float>, std::complex<double>>([&]<typename T>() {
    registry.Add(KernelDef("BiasAddGrad").Type<T>("T").template Make<BiasAddGradKernel<T>>());
  });
}

}  // namespace sextant
