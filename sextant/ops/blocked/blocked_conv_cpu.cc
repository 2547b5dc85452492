// The kernels of the convolutions on blocked images: they check the operands and hand them to the
// first implementation of the lists in blocked_conv_list.h that accepts the sizes.
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/cpu/thread_scratch.h"
#include "sextant/device/implementation_name.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/blocked/blocked_conv_list.h"

namespace sextant {
namespace {

struct InputCopy;  // scratch memory, see ThreadScratch

// What the three kernels share: attributes, images of which some are blocked, and the
// implementation.
template <typename Conv>
class BlockedConvBase : public Kernel, public ImplementationName {
 public:
  std::string_view implementation() const final { return chosen_.name(); }

 protected:
  // "blocked" is the attribute that tells how the input lies.
  BlockedConvBase(const KernelInit& init, const char* blocked)
      : attrs_(init.node(), 2),
        format_(init.attr<std::string>("data_format")),
        block_(init.attr<int64_t>("block")),
        blocked_input_(init.attr<bool>(blocked)),
        winograd_(init.attr<bool>("winograd")) {}

  Shape PlainShape(const Tensor& images, bool blocked) const {
    if (images.rank() != (blocked ? 5 : 4) || (blocked && images.dim(4) != block_)) {
      throw InvalidArgument("images of shape {} where the layout has blocks of {} channels",
                            images.shape().ToString(), block_);
    }
    return blocked ? ImageShape::OfBlocked(images.shape()).Plain(format_) : images.shape();
  }
  // Whether another implementation than in the last run may have been taken.
  bool Choose(KernelContext& ctx, std::span<const ConvImplementation<Conv>> list,
              const ConvGeometry& g, const onednn::ConvEpilogue& epilogue = {}) {
    if (!chosen_.Outdated(g)) return false;
    chosen_.Choose(list,
                   {.geometry = g,
                    .block = block_,
                    .blocked_input = blocked_input_,
                    .channels_first = format_ == "NCHW",
                    .winograd = winograd_,
                    .epilogue = epilogue,
                    .threads = ctx.threads()},
                   ctx.node_name());
    return true;
  }

  const ConvAttrs attrs_;
  const std::string format_;
  const int64_t block_;
  const bool blocked_input_, winograd_;
  ChosenConv<Conv> chosen_;
};

// Tells whether a filter is the one that was seen last, so that a derived copy of it still holds.
class FilterWatch {
 public:
  bool Changed(const Tensor& filter, std::span<const float> scale) {
    const std::span<const float> now = filter.flat<float>();
    if (Same(now, filter_) && Same(scale, scale_)) return false;
    filter_.assign(now.begin(), now.end());
    scale_.assign(scale.begin(), scale.end());
    return true;
  }
  // The derived copy is gone.
  void Forget() { filter_.clear(); }

 private:
  static bool Same(std::span<const float> a, const std::vector<float>& b) {
    if (a.size() != b.size()) return false;
    return a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
  std::vector<float> filter_, scale_;
};

class BlockedConvKernel final : public BlockedConvBase<ForwardConv> {
 public:
  explicit BlockedConvKernel(KernelInit& init)
      : BlockedConvBase(init, "blocked_input"),
        norm_(init.attr<bool>("norm")),
        epsilon_(init.attr<float>("epsilon")),
        epilogue_{.bias = init.attr<bool>("bias") || norm_,
                  .sum = init.attr<bool>("sum"),
                  .relu = init.attr<bool>("relu")} {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    const ConvGeometry g = attrs_.Convolution(PlainShape(input, blocked_input_), filter.shape());
    if (g.out_c % block_ != 0) {
      throw InvalidArgument("{} channels in blocks of {}", g.out_c, block_);
    }
    Tensor& output =
        ctx.AllocateOutput(0, Shape{g.batch, g.out_c / block_, g.height.out, g.width.out, block_});
    if (epilogue_.sum && ctx.input(2).num_elements() != output.num_elements()) {
      throw InvalidArgument("{} added to {}", ctx.input(2).Describe(), output.Describe());
    }
    if (output.num_elements() == 0) return;
    ReadChannels(ctx, g.out_c);
    if (Choose(ctx, ForwardConvs(), g, epilogue_)) watch_.Forget();
    const float* source = PrepareOutput(ctx, input.data<float>(), output);
    chosen_.get().Run(ctx, {.input = source,
                            .filter = filter.data<float>(),
                            .filter_changed = watch_.Changed(filter, scale_),
                            .scale = norm_ ? scale_.data() : nullptr,
                            .bias = bias_.data(),
                            .output = output.data<float>()});
  }

 private:
  // scale_ and bias_, from what the extra inputs say of the channels.
  void ReadChannels(KernelContext& ctx, int64_t channels) {
    const int first = epilogue_.sum ? 3 : 2;
    if (!epilogue_.bias) return;
    for (int i = first; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).num_elements() != channels) {
        throw InvalidArgument("{} for {} channels", ctx.input(i).Describe(), channels);
      }
    }
    const float* v = ctx.input(first).data<float>();
    if (!norm_) {
      bias_.assign(v, v + channels);
      return;
    }
    const float *offset = ctx.input(first + 1).data<float>(),
                *mean = ctx.input(first + 2).data<float>(),
                *variance = ctx.input(first + 3).data<float>();
    scale_.resize(channels);
    bias_.resize(channels);
    for (int64_t c = 0; c < channels; ++c) {
      scale_[c] = v[c] / std::sqrt(variance[c] + epsilon_);
      bias_[c] = offset[c] - mean[c] * scale_[c];
    }
  }

  // Puts the addend where the result will be. Gives the input, or a copy: the output may lie in the
  // addend's memory, and that may be the input's too.
  const float* PrepareOutput(KernelContext& ctx, const float* input, Tensor& output) const {
    if (input == output.raw_data()) {
      const size_t bytes = ctx.input(0).bytes();
      input = static_cast<const float*>(
          std::memcpy(ThreadScratch<InputCopy, char>(static_cast<int64_t>(bytes)), input, bytes));
    }
    if (epilogue_.sum && ctx.input(2).raw_data() != output.raw_data()) {
      const char* from = static_cast<const char*>(ctx.input(2).raw_data());
      char* to = static_cast<char*>(output.raw_data());
      ctx.ParallelFor(static_cast<int64_t>(output.bytes()), 0.1, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, end - begin);
      });
    }
    return input;
  }

  const bool norm_;
  const float epsilon_;
  const onednn::ConvEpilogue epilogue_;
  FilterWatch watch_;
  std::vector<float> scale_, bias_;
};

class BlockedConvBackpropInputKernel final : public BlockedConvBase<InputGradConv> {
 public:
  explicit BlockedConvBackpropInputKernel(KernelInit& init)
      : BlockedConvBase(init, "blocked_output"),
        shape_(init.attr<PartialShape>("input_shape").AsShape()) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &filter = ctx.input(0), &out_backprop = ctx.input(1);
    const ConvGeometry g = attrs_.Backprop(shape_, filter.shape(), PlainShape(out_backprop, true));
    Tensor& grad = ctx.AllocateOutput(
        0, blocked_input_ ? ImageShape::OfPlain(shape_, format_).Blocked(block_) : shape_);
    if (grad.num_elements() == 0) return;
    Choose(ctx, InputGradConvs(), g);
    chosen_.get().Run(ctx, filter.data<float>(), out_backprop.data<float>(), grad.data<float>());
  }

 private:
  const Shape shape_;
};

class BlockedConvBackpropFilterKernel final : public BlockedConvBase<FilterGradConv> {
 public:
  explicit BlockedConvBackpropFilterKernel(KernelInit& init)
      : BlockedConvBase(init, "blocked_input"),
        shape_(init.attr<PartialShape>("filter_shape").AsShape()) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &out_backprop = ctx.input(1);
    const ConvGeometry g =
        attrs_.Backprop(PlainShape(input, blocked_input_), shape_, PlainShape(out_backprop, true));
    Tensor& grad = ctx.AllocateOutput(0, shape_);
    if (grad.num_elements() == 0) return;
    Choose(ctx, FilterGradConvs(), g);
    chosen_.get().Run(ctx, input.data<float>(), out_backprop.data<float>(), grad.data<float>());
  }

 private:
  const Shape shape_;
};

}  // namespace

void RegisterBlockedConvCpu(KernelRegistry& registry) {
  // Where there is an addend it is input 2.
  registry.Add(KernelDef("_BlockedConv2D").InPlace(0, 2).Make<BlockedConvKernel>());
  registry.Add(KernelDef("_BlockedConv2DBackpropInput").Make<BlockedConvBackpropInputKernel>());
  registry.Add(KernelDef("_BlockedConv2DBackpropFilter").Make<BlockedConvBackpropFilterKernel>());
}

}  // namespace sextant
