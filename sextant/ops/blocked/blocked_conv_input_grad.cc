#include "sextant/device/cpu/thread_scratch.h"
#include "sextant/device/cpu/winograd_conv.h"
#include "sextant/ops/blocked/blocked_conv_list.h"
#include "sextant/ops/blocked/image_copy.h"
#include "sextant/ops/nn/conv_products.h"

namespace sextant {
namespace {

struct ChannelsFirstGradient;  // scratch memory, see ThreadScratch

class WinogradInputGrad final : public InputGradConv {
 public:
  static std::unique_ptr<InputGradConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<WinogradInputGrad>(p);
  }
  explicit WinogradInputGrad(const BlockedConvProblem& p)
      : conv_(p.sizes(), onednn::ConvEpilogue(), true) {}

  void Run(KernelContext& ctx, const float* filter, const float* out_backprop,
           float* grad) override {
    conv_.SetFilter(ctx, filter);
    conv_.Run(ctx, out_backprop, nullptr, grad);
  }

 private:
  winograd::ConvForward conv_;
};

class OnednnInputGrad final : public InputGradConv {
 public:
  static std::unique_ptr<InputGradConv> Make(const BlockedConvProblem& p) {
    auto conv = onednn::ConvBackwardData::Make(p.sizes(), p.layouts(), p.threads);
    return conv ? std::make_unique<OnednnInputGrad>(p, std::move(conv)) : nullptr;
  }
  OnednnInputGrad(const BlockedConvProblem& p, std::unique_ptr<onednn::ConvBackwardData> conv)
      : problem_(p), conv_(std::move(conv)) {}

  void Run(KernelContext& ctx, const float* filter, const float* out_backprop,
           float* grad) override {
    conv_->SetFilter(filter);
    if (problem_.onednn_layout()) return conv_->Run(ctx, out_backprop, grad);
    const ImageShape shape = problem_.input_shape();
    auto* first = ThreadScratch<ChannelsFirstGradient, float>(shape.Plain("NHWC").num_elements());
    conv_->Run(ctx, out_backprop, first);
    CopyFromBlocked(ctx, first, grad, shape, 1, false);
  }

 private:
  const BlockedConvProblem problem_;
  const std::unique_ptr<onednn::ConvBackwardData> conv_;
};

// Matrix products over patches of a plain copy.
class ProductsInputGrad final : public InputGradConv {
 public:
  static std::unique_ptr<InputGradConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<ProductsInputGrad>(p);
  }
  explicit ProductsInputGrad(const BlockedConvProblem& p) : problem_(p) {}

  void Run(KernelContext& ctx, const float* filter, const float* out_backprop,
           float* grad) override {
    const BlockedConvProblem& p = problem_;
    Tensor copy, plain;
    const float* dy = OutputWithChannelsLast(ctx, p, out_backprop, &copy);
    if (!p.blocked_input && !p.channels_first) {
      return ConvBackpropInput<float>(ctx, p.geometry, filter, dy, grad);
    }
    plain = ctx.AllocateTemp(DType::kFloat, p.input_shape().Plain("NHWC"));
    ConvBackpropInput<float>(ctx, p.geometry, filter, dy, plain.data<float>());
    CopyToBlocked(ctx, plain.data<float>(), grad, p.input_shape(), p.blocked_input ? p.block : 1,
                  false);
  }

 private:
  const BlockedConvProblem problem_;
};

}  // namespace

std::span<const ConvImplementation<InputGradConv>> InputGradConvs() {
  static constexpr ConvImplementation<InputGradConv> kList[] = {
      {"winograd", WinogradRefusal, WinogradInputGrad::Make},
      {"onednn", OnednnRefusal, OnednnInputGrad::Make},
      {"products", NoRefusal, ProductsInputGrad::Make},
  };
  return kList;
}

}  // namespace sextant
