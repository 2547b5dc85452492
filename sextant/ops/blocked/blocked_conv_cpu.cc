// Convolutions on blocked images: oneDNN where it has a fast kernel for the sizes, else the
// products of ops/nn on a plain copy.
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/cpu/few_channel_conv.h"
#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/device/cpu/thread_scratch.h"
#include "sextant/device/cpu/winograd_conv.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/blocked/blocked_shape.h"
#include "sextant/ops/blocked/image_copy.h"
#include "sextant/ops/nn/conv_products.h"
#include "sextant/ops/nn/onednn_sizes.h"

namespace sextant {
namespace {

// Scratch memory, see ThreadScratch.
struct ChannelsFirstImages;
struct InputCopy;

// What the three kernels share: attributes, and images of which some are blocked.
class BlockedConvBase : public Kernel {
 protected:
  explicit BlockedConvBase(const KernelInit& init)
      : attrs_(init.node(), 2),
        format_(init.attr<std::string>("data_format")),
        block_(init.attr<int64_t>("block")),
        winograd_(init.attr<bool>("winograd")) {}

  Shape PlainShape(const Tensor& images, bool blocked) const {
    if (images.rank() != (blocked ? 5 : 4) || (blocked && images.dim(4) != block_)) {
      throw InvalidArgument("images of shape {} where the layout has blocks of {} channels",
                            images.shape().ToString(), block_);
    }
    return blocked ? ImageShape::OfBlocked(images.shape()).Plain(format_) : images.shape();
  }
  Shape BlockedShape(const ConvGeometry& g) const {
    if (g.out_c % block_ != 0)
      throw InvalidArgument("{} channels in blocks of {}", g.out_c, block_);
    return {g.batch, g.out_c / block_, g.height.out, g.width.out, block_};
  }
  // The only plain images that oneDNN takes beside blocked ones have channels first.
  static onednn::ConvLayouts Layouts(bool blocked_input) {
    using onednn::ImageLayout;
    return {blocked_input ? ImageLayout::kBlocked : ImageLayout::kNchw, ImageLayout::kBlocked};
  }
  // Whether channels come first, or there is one only and it makes no difference.
  bool ChannelsFirst(const ConvGeometry& g) const { return format_ == "NCHW" || g.in_c == 1; }
  const float* ForOnednn(KernelContext& ctx, const Tensor& input, const ConvGeometry& g,
                         bool blocked) const {
    if (blocked || ChannelsFirst(g)) return input.data<float>();
    auto* first = ThreadScratch<ChannelsFirstImages, float>(input.num_elements());
    CopyToBlocked(ctx, input.data<float>(), first, InShape(g), 1, false);
    return first;
  }
  bool MayUseWinograd(const ConvGeometry& g, bool blocked_input) const {
    return winograd_ && blocked_input && block_ == onednn::ChannelBlock() &&
           winograd::Suits(OnednnSizes(g));
  }
  bool MayUseOnednn() const { return block_ == onednn::ChannelBlock(); }

  static ImageShape InShape(const ConvGeometry& g) {
    return {g.batch, g.height.in, g.width.in, g.in_c};
  }
  static ImageShape OutShape(const ConvGeometry& g) {
    return {g.batch, g.height.out, g.width.out, g.out_c};
  }

  // The images with channels last.
  Tensor ChannelsLast(KernelContext& ctx, const Tensor& images, const ImageShape& shape,
                      bool blocked) const {
    if (!blocked && format_ != "NCHW") return images;
    Tensor plain = ctx.AllocateTemp(DType::kFloat, shape.Plain("NHWC"));
    // Plain images with channels first are blocked ones with blocks of one channel.
    CopyFromBlocked(ctx, images.data<float>(), plain.data<float>(), shape, blocked ? block_ : 1,
                    false);
    return plain;
  }
  void FromChannelsLast(KernelContext& ctx, const Tensor& plain, Tensor& images,
                        const ImageShape& shape, bool blocked) const {
    CopyToBlocked(ctx, plain.data<float>(), images.data<float>(), shape, blocked ? block_ : 1,
                  false);
  }

  const ConvAttrs attrs_;
  const std::string format_;
  const int64_t block_;
  const bool winograd_;
};

// A primitive for the sizes of the last run.
template <typename P>
class Prepared {
 public:
  // Makes it with make() when the sizes are others.
  template <typename F>
  P* Get(const ConvGeometry& g, const F& make) {
    if (!valid_ || !(g == geometry_)) {
      primitive_ = make();
      geometry_ = g;
      valid_ = true;
    }
    return primitive_.get();
  }

 private:
  bool valid_ = false;
  ConvGeometry geometry_;
  std::unique_ptr<P> primitive_;
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
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
  std::vector<float> filter_, scale_;
};

class BlockedConvKernel final : public BlockedConvBase {
 public:
  explicit BlockedConvKernel(KernelInit& init)
      : BlockedConvBase(init),
        blocked_input_(init.attr<bool>("blocked_input")),
        norm_(init.attr<bool>("norm")),
        epsilon_(init.attr<float>("epsilon")),
        epilogue_{.bias = init.attr<bool>("bias") || norm_,
                  .sum = init.attr<bool>("sum"),
                  .relu = init.attr<bool>("relu")} {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    const ConvGeometry g = attrs_.Convolution(PlainShape(input, blocked_input_), filter.shape());
    Tensor& output = ctx.AllocateOutput(0, BlockedShape(g));
    if (epilogue_.sum && ctx.input(2).num_elements() != output.num_elements()) {
      throw InvalidArgument("{} added to {}", ctx.input(2).Describe(), output.Describe());
    }
    if (output.num_elements() == 0) return;
    ReadChannels(ctx, g.out_c);
    if (MayUseWinograd(g, blocked_input_)) return ComputeByWinograd(ctx, g, output);
    onednn::ConvForward* conv = nullptr;
    if (MayUseOnednn()) {
      conv = conv_.Get(g, [&] {
        watch_.Forget();
        return onednn::ConvForward::Make(OnednnSizes(g), Layouts(blocked_input_), epilogue_,
                                         ctx.threads());
      });
    }
    if (conv == nullptr) return ComputeByProducts(ctx, g, output);
    const float* source = PrepareOutput(ctx, ForOnednn(ctx, input, g, blocked_input_), output);
    if (watch_.Changed(filter, scale_)) {
      conv->SetFilter(filter.data<float>(), norm_ ? scale_.data() : nullptr);
    }
    conv->Run(ctx, source, bias_.data(), output.data<float>());
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
      input = static_cast<const float*>(std::memcpy(ThreadScratch<InputCopy, char>(static_cast<int64_t>(bytes)), input, bytes));
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

  void ComputeByWinograd(KernelContext& ctx, const ConvGeometry& g, Tensor& output) {
    winograd::ConvForward* conv = winograd_conv_.Get(g, [&] {
      watch_.Forget();
      return std::make_unique<winograd::ConvForward>(OnednnSizes(g), epilogue_, false);
    });
    const float* source = PrepareOutput(ctx, ctx.input(0).data<float>(), output);
    if (watch_.Changed(ctx.input(1), scale_)) {
      conv->SetFilter(ctx, ctx.input(1).data<float>(), norm_ ? scale_.data() : nullptr);
    }
    conv->Run(ctx, source, bias_.data(), output.data<float>());
  }

  void ComputeByProducts(KernelContext& ctx, const ConvGeometry& g, Tensor& output) {
    const Tensor input = ChannelsLast(ctx, ctx.input(0), InShape(g), blocked_input_);
    Tensor addend;
    if (epilogue_.sum) addend = ChannelsLast(ctx, ctx.input(2), OutShape(g), true);
    Tensor plain = ctx.AllocateTemp(DType::kFloat, OutShape(g).Plain("NHWC"));
    float* y = plain.data<float>();
    ConvForward<float>(ctx, g, input.data<float>(), ctx.input(1).data<float>(), y);
    for (int64_t i = 0; i < plain.num_elements(); ++i) {
      const int64_t c = i % g.out_c;
      if (norm_) y[i] *= scale_[c];
      if (epilogue_.bias) y[i] += bias_[c];
      if (epilogue_.sum) y[i] += addend.data<float>()[i];
      if (epilogue_.relu && y[i] < 0) y[i] = 0;
    }
    FromChannelsLast(ctx, plain, output, OutShape(g), true);
  }

  const bool blocked_input_, norm_;
  const float epsilon_;
  const onednn::ConvEpilogue epilogue_;
  Prepared<onednn::ConvForward> conv_;
  Prepared<winograd::ConvForward> winograd_conv_;
  FilterWatch watch_;
  std::vector<float> scale_, bias_;
};

class BlockedConvBackpropInputKernel final : public BlockedConvBase {
 public:
  explicit BlockedConvBackpropInputKernel(KernelInit& init)
      : BlockedConvBase(init),
        blocked_output_(init.attr<bool>("blocked_output")),
        shape_(init.attr<PartialShape>("input_shape").AsShape()) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &filter = ctx.input(0), &out_backprop = ctx.input(1);
    const ConvGeometry g = attrs_.Backprop(shape_, filter.shape(), PlainShape(out_backprop, true));
    Tensor& grad = ctx.AllocateOutput(0, blocked_output_ ? InShape(g).Blocked(block_) : shape_);
    if (grad.num_elements() == 0) return;
    if (MayUseWinograd(g, blocked_output_)) {
      winograd::ConvForward* conv = winograd_conv_.Get(g, [&] {
        return std::make_unique<winograd::ConvForward>(OnednnSizes(g), onednn::ConvEpilogue(),
                                                       true);
      });
      conv->SetFilter(ctx, filter.data<float>());
      return conv->Run(ctx, out_backprop.data<float>(), nullptr, grad.data<float>());
    }
    onednn::ConvBackwardData* conv = nullptr;
    if (MayUseOnednn() && out_backprop.num_elements() > 0) {
      conv = conv_.Get(g, [&] {
        return onednn::ConvBackwardData::Make(OnednnSizes(g), Layouts(blocked_output_),
                                              ctx.threads());
      });
    }
    if (conv != nullptr) {
      conv->SetFilter(filter.data<float>());
      if (blocked_output_ || ChannelsFirst(g))
        return conv->Run(ctx, out_backprop.data<float>(), grad.data<float>());
      auto* first = ThreadScratch<ChannelsFirstImages, float>(grad.num_elements());
      conv->Run(ctx, out_backprop.data<float>(), first);
      return CopyFromBlocked(ctx, first, grad.data<float>(), InShape(g), 1, false);
    }
    const Tensor dy = ChannelsLast(ctx, out_backprop, OutShape(g), true);
    Tensor plain = ctx.AllocateTemp(DType::kFloat, InShape(g).Plain("NHWC"));
    ConvBackpropInput<float>(ctx, g, filter.data<float>(), dy.data<float>(), plain.data<float>());
    if (blocked_output_ || format_ == "NCHW")
      return FromChannelsLast(ctx, plain, grad, InShape(g), blocked_output_);
    std::memcpy(grad.raw_data(), plain.raw_data(), grad.bytes());
  }

 private:
  const bool blocked_output_;
  const Shape shape_;
  Prepared<onednn::ConvBackwardData> conv_;
  Prepared<winograd::ConvForward> winograd_conv_;
};

class BlockedConvBackpropFilterKernel final : public BlockedConvBase {
 public:
  explicit BlockedConvBackpropFilterKernel(KernelInit& init)
      : BlockedConvBase(init),
        blocked_input_(init.attr<bool>("blocked_input")),
        shape_(init.attr<PartialShape>("filter_shape").AsShape()) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &out_backprop = ctx.input(1);
    const ConvGeometry g =
        attrs_.Backprop(PlainShape(input, blocked_input_), shape_, PlainShape(out_backprop, true));
    Tensor& grad = ctx.AllocateOutput(0, shape_);
    if (grad.num_elements() == 0) return;
    if (MayUseWinograd(g, blocked_input_)) {
      winograd::ConvBackwardFilter* conv = winograd_conv_.Get(
          g, [&] { return std::make_unique<winograd::ConvBackwardFilter>(OnednnSizes(g)); });
      return conv->Run(ctx, input.data<float>(), out_backprop.data<float>(), grad.data<float>());
    }
    if (!blocked_input_ && MayUseOnednn() && out_backprop.num_elements() > 0 &&
        few_channels::Suits(OnednnSizes(g))) {
      few_channels::ConvBackwardFilter* conv = few_channels_conv_.Get(g, [&] {
        return std::make_unique<few_channels::ConvBackwardFilter>(OnednnSizes(g),
                                                                  format_ == "NCHW");
      });
      return conv->Run(ctx, input.data<float>(), out_backprop.data<float>(), grad.data<float>());
    }
    onednn::ConvBackwardFilter* conv = nullptr;
    if (MayUseOnednn() && out_backprop.num_elements() > 0) {
      conv = conv_.Get(g, [&] {
        return onednn::ConvBackwardFilter::Make(OnednnSizes(g), Layouts(blocked_input_),
                                                ctx.threads());
      });
    }
    if (conv != nullptr) {
      const float* source = ForOnednn(ctx, input, g, blocked_input_);
      return conv->Run(ctx, source, out_backprop.data<float>(), grad.data<float>());
    }
    const Tensor x = ChannelsLast(ctx, input, InShape(g), blocked_input_);
    const Tensor dy = ChannelsLast(ctx, out_backprop, OutShape(g), true);
    ConvBackpropFilter<float>(ctx, g, x.data<float>(), dy.data<float>(), grad.data<float>());
  }

 private:
  const bool blocked_input_;
  const Shape shape_;
  Prepared<onednn::ConvBackwardFilter> conv_;
  Prepared<few_channels::ConvBackwardFilter> few_channels_conv_;
  Prepared<winograd::ConvBackwardFilter> winograd_conv_;
};

}  // namespace

void RegisterBlockedConvCpu(KernelRegistry& registry) {
  // Where there is an addend it is input 2.
  registry.Add(KernelDef("_BlockedConv2D").InPlace(0, 2).Make<BlockedConvKernel>());
  registry.Add(KernelDef("_BlockedConv2DBackpropInput").Make<BlockedConvBackpropInputKernel>());
  registry.Add(KernelDef("_BlockedConv2DBackpropFilter").Make<BlockedConvBackpropFilterKernel>());
}

}  // namespace sextant
