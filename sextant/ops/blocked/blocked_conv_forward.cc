#include "sextant/device/cpu/winograd_conv.h"
#include "sextant/ops/blocked/blocked_conv_list.h"
#include "sextant/ops/blocked/image_copy.h"
#include "sextant/ops/nn/conv_products.h"

namespace sextant {
namespace {

class WinogradForward final : public ForwardConv {
 public:
  static std::unique_ptr<ForwardConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<WinogradForward>(p);
  }
  explicit WinogradForward(const BlockedConvProblem& p) : conv_(p.sizes(), p.epilogue, false) {}

  void Run(KernelContext& ctx, const Args& args) override {
    if (args.filter_changed) conv_.SetFilter(ctx, args.filter, args.scale);
    conv_.Run(ctx, args.input, args.bias, args.output);
  }

 private:
  winograd::ConvForward conv_;
};

class OnednnForward final : public ForwardConv {
 public:
  static std::unique_ptr<ForwardConv> Make(const BlockedConvProblem& p) {
    auto conv = onednn::ConvForward::Make(p.sizes(), p.layouts(), p.epilogue, p.threads);
    return conv ? std::make_unique<OnednnForward>(p, std::move(conv)) : nullptr;
  }
  OnednnForward(const BlockedConvProblem& p, std::unique_ptr<onednn::ConvForward> conv)
      : problem_(p), conv_(std::move(conv)) {}

  void Run(KernelContext& ctx, const Args& args) override {
    const float* input = InputForOnednn(ctx, problem_, args.input);
    if (args.filter_changed) conv_->SetFilter(args.filter, args.scale);
    conv_->Run(ctx, input, args.bias, args.output);
  }

 private:
  const BlockedConvProblem problem_;
  const std::unique_ptr<onednn::ConvForward> conv_;
};

// Matrix products over patches of a plain copy.
class ProductsForward final : public ForwardConv {
 public:
  static std::unique_ptr<ForwardConv> Make(const BlockedConvProblem& p) {
    return std::make_unique<ProductsForward>(p);
  }
  explicit ProductsForward(const BlockedConvProblem& p) : problem_(p) {}

  void Run(KernelContext& ctx, const Args& args) override {
    const ConvGeometry& g = problem_.geometry;
    Tensor input_copy, addend_copy;
    const float* input = InputWithChannelsLast(ctx, problem_, args.input, &input_copy);
    const float* addend = nullptr;
    if (problem_.epilogue.sum) {
      addend = OutputWithChannelsLast(ctx, problem_, args.output, &addend_copy);
    }
    Tensor plain = ctx.AllocateTemp(DType::kFloat, problem_.output_shape().Plain("NHWC"));
    float* y = plain.data<float>();
    sextant::ConvForward<float>(ctx, g, input, args.filter, y);
    for (int64_t i = 0; i < plain.num_elements(); ++i) {
      const int64_t c = i % g.out_c;
      if (args.scale != nullptr) y[i] *= args.scale[c];
      if (problem_.epilogue.bias) y[i] += args.bias[c];
      if (addend != nullptr) y[i] += addend[i];
      if (problem_.epilogue.relu && y[i] < 0) y[i] = 0;
    }
    CopyToBlocked(ctx, y, args.output, problem_.output_shape(), problem_.block, false);
  }

 private:
  const BlockedConvProblem problem_;
};

}  // namespace

std::span<const ConvImplementation<ForwardConv>> ForwardConvs() {
  static constexpr ConvImplementation<ForwardConv> kList[] = {
      {"winograd", WinogradRefusal, WinogradForward::Make},
      {"onednn", OnednnRefusal, OnednnForward::Make},
      {"products", NoRefusal, ProductsForward::Make},
  };
  return kList;
}

}  // namespace sextant
