#include "sextant/ops/blocked/blocked_conv_problem.h"

#include "sextant/device/cpu/thread_scratch.h"
#include "sextant/ops/blocked/image_copy.h"
#include "sextant/ops/nn/onednn_sizes.h"

namespace sextant {
namespace {

struct ChannelsFirstInput;  // scratch memory, see ThreadScratch

}  // namespace

ImageShape BlockedConvProblem::input_shape() const {
  return {geometry.batch, geometry.height.in, geometry.width.in, geometry.in_c};
}

ImageShape BlockedConvProblem::output_shape() const {
  return {geometry.batch, geometry.height.out, geometry.width.out, geometry.out_c};
}

onednn::ConvSizes BlockedConvProblem::sizes() const { return OnednnSizes(geometry); }

onednn::ConvLayouts BlockedConvProblem::layouts() const {
  using onednn::ImageLayout;
  return {blocked_input ? ImageLayout::kBlocked : ImageLayout::kNchw, ImageLayout::kBlocked};
}

const float* InputForOnednn(KernelContext& ctx, const BlockedConvProblem& problem,
                            const float* input) {
  if (problem.onednn_layout()) return input;
  const ImageShape shape = problem.input_shape();
  auto* copy = ThreadScratch<ChannelsFirstInput, float>(shape.Plain("NHWC").num_elements());
  // Plain images with channels first are blocked ones with blocks of one channel.
  CopyToBlocked(ctx, input, copy, shape, 1, false);
  return copy;
}

const float* InputWithChannelsLast(KernelContext& ctx, const BlockedConvProblem& problem,
                                   const float* input, Tensor* copy) {
  if (!problem.blocked_input && !problem.channels_first) return input;
  const ImageShape shape = problem.input_shape();
  *copy = ctx.AllocateTemp(DType::kFloat, shape.Plain("NHWC"));
  CopyFromBlocked(ctx, input, copy->data<float>(), shape, problem.blocked_input ? problem.block : 1,
                  false);
  return copy->data<float>();
}

const float* OutputWithChannelsLast(KernelContext& ctx, const BlockedConvProblem& problem,
                                    const float* output, Tensor* copy) {
  const ImageShape shape = problem.output_shape();
  *copy = ctx.AllocateTemp(DType::kFloat, shape.Plain("NHWC"));
  CopyFromBlocked(ctx, output, copy->data<float>(), shape, problem.block, false);
  return copy->data<float>();
}

}  // namespace sextant
