#include "sextant/device/cpu/few_channel_conv.h"
#include "sextant/device/cpu/winograd_conv.h"
#include "sextant/ops/blocked/blocked_conv_list.h"
#include "sextant/ops/nn/conv_products.h"

namespace sextant {
namespace {

class WinogradFilterGrad final : public FilterGradConv {
 public:
  static std::unique_ptr<FilterGradConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<WinogradFilterGrad>(p);
  }
  explicit WinogradFilterGrad(const BlockedConvProblem& p) : conv_(p.sizes()) {}

  void Run(KernelContext& ctx, const float* input, const float* out_backprop,
           float* grad) override {
    conv_.Run(ctx, input, out_backprop, grad);
  }

 private:
  winograd::ConvBackwardFilter conv_;
};

class FewChannelsFilterGrad final : public FilterGradConv {
 public:
  static std::string Refusal(const BlockedConvProblem& p) {
    if (p.blocked_input) return "the input is blocked";
    std::string reason = OnednnRefusal(p);
    return reason.empty() ? few_channels::Refusal(p.sizes()) : reason;
  }
  static std::unique_ptr<FilterGradConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<FewChannelsFilterGrad>(p);
  }
  explicit FewChannelsFilterGrad(const BlockedConvProblem& p)
      : conv_(p.sizes(), p.channels_first) {}

  void Run(KernelContext& ctx, const float* input, const float* out_backprop,
           float* grad) override {
    conv_.Run(ctx, input, out_backprop, grad);
  }

 private:
  const few_channels::ConvBackwardFilter conv_;
};

class OnednnFilterGrad final : public FilterGradConv {
 public:
  static std::unique_ptr<FilterGradConv> Make(const BlockedConvProblem& p) {
    auto conv = onednn::ConvBackwardFilter::Make(p.sizes(), p.layouts(), p.threads);
    return conv ? std::make_unique<OnednnFilterGrad>(p, std::move(conv)) : nullptr;
  }
  OnednnFilterGrad(const BlockedConvProblem& p, std::unique_ptr<onednn::ConvBackwardFilter> conv)
      : problem_(p), conv_(std::move(conv)) {}

  void Run(KernelContext& ctx, const float* input, const float* out_backprop,
           float* grad) override {
    conv_->Run(ctx, InputForOnednn(ctx, problem_, input), out_backprop, grad);
  }

 private:
  const BlockedConvProblem problem_;
  const std::unique_ptr<onednn::ConvBackwardFilter> conv_;
};

// Matrix products over patches of a plain copy.
class ProductsFilterGrad final : public FilterGradConv {
 public:
  static std::unique_ptr<FilterGradConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<ProductsFilterGrad>(p);
  }
  explicit ProductsFilterGrad(const BlockedConvProblem& p) : problem_(p) {}

  void Run(KernelContext& ctx, const float* input, const float* out_backprop,
           float* grad) override {
    Tensor input_copy, output_copy;
    const float* x = InputWithChannelsLast(ctx, problem_, input, &input_copy);
    const float* dy = OutputWithChannelsLast(ctx, problem_, out_backprop, &output_copy);
    ConvBackpropFilter<float>(ctx, problem_.geometry, x, dy, grad);
  }

 private:
  const BlockedConvProblem problem_;
};

}  // namespace

std::span<const ConvImplementation<FilterGradConv>> FilterGradConvs() {
  static constexpr ConvImplementation<FilterGradConv> kList[] = {
      {"winograd", WinogradRefusal, WinogradFilterGrad::Make},
      {"few channels", FewChannelsFilterGrad::Refusal, FewChannelsFilterGrad::Make},
      {"onednn", OnednnRefusal, OnednnFilterGrad::Make},
      {"products", NoRefusal, ProductsFilterGrad::Make},
  };
  return kList;
}

}  // namespace sextant
