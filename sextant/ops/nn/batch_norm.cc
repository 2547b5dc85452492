#include "sextant/ops/nn/batch_norm.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/window_geometry.h"

namespace sextant {
namespace {

const std::string kEpsilon = "epsilon:float=9.999999747378752e-05; ";
const std::string kFactor = "exponential_avg_factor:float=1.0; ";
const std::string kImageFormat = "data_format:string='NHWC' in ['NHWC','NCHW']; ";
const std::string kFormatV3 = "data_format:string='NHWC' in ['NHWC','NCHW','NDHWC','NCDHW']; ";
const std::string kTraining = "is_training:bool=True";

int RankOf(const std::string& data_format) { return static_cast<int>(data_format.size()); }

// x with the number of channels that it and the vectors at inputs [first, last) agree on.
PartialShape MergeChannels(ShapeContext& c, const PartialShape& x, int first, int last) {
  const int channel = DataFormat::Parse(c.attr<std::string>("data_format")).channel(x.rank());
  PartialShape channels{x[channel]}, result = x;
  for (int i = first; i < last; ++i) channels = channels.MergeWith(c.InputOfRank(i, 1));
  result.set_dim(channel, channels[0]);
  return result;
}
PartialShape ChannelsOf(ShapeContext& c, const PartialShape& x) {
  const auto format = DataFormat::Parse(c.attr<std::string>("data_format"));
  return PartialShape{x[format.channel(x.rank())]};
}

void ForwardShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(0, RankOf(c.attr<std::string>("data_format")));
  // In training mean and variance may be empty.
  const PartialShape y = MergeChannels(c, x, 1, c.attr<bool>("is_training") ? 3 : 5);
  c.set_output(0, y);
  for (int i = 1; i < 5; ++i) c.set_output(i, ChannelsOf(c, y));
  if (c.num_outputs() > 5) c.set_output(5, Shape());
}

void BackwardShape(ShapeContext& c) {
  const int rank = RankOf(c.attr<std::string>("data_format"));
  const PartialShape both = c.InputOfRank(0, rank).MergeWith(c.InputOfRank(1, rank));
  const PartialShape x = MergeChannels(c, both, 2, 5);
  c.set_output(0, x);
  c.set_output(1, ChannelsOf(c, x));
  c.set_output(2, ChannelsOf(c, x));
  c.set_output(3, PartialShape{0});
  c.set_output(4, PartialShape{0});
}

// The gradients of x, scale and offset from those of y.
GradientFunction ForwardGradient(const char* op) {
  return [op](GradientContext& c) {
    const bool training = c.attr<bool>("is_training");
    OpBuilder builder(op);
    builder.Input(c.grad(0)).Input(c.input(0)).Input(c.input(1));
    builder.Input(training ? c.output(3) : c.input(3)).Input(training ? c.output(4) : c.input(4));
    if (c.num_outputs() > 5) builder.Input(c.output(5));
    for (const char* attr : {"epsilon", "data_format", "is_training"}) {
      builder.Attr(attr, c.attr<Attr>(attr));
    }
    const std::vector<Output> gradients = builder.BuildAll();
    for (int i = 0; i < 3; ++i) c.set(i, gradients[i]);
  };
}

// The formula of the Grad ops, by ops that can be differentiated.
class ComposedGrad {
 public:
  explicit ComposedGrad(GradientContext& c)
      : epsilon_(c.attr<float>("epsilon")), type_(c.input(1).dtype()) {
    const std::string& format = c.attr<std::string>("data_format");
    const int rank = RankOf(format), channel = DataFormat::Parse(format).channel(rank);
    for (int i = 0; i < rank; ++i) {
      per_channel_.push_back(i == channel ? -1 : 1);
      if (i != channel) axes_.push_back(i);
    }
    // Identities: what the gradient depends on by other ways does not count here.
    for (int i = 0; i < 3; ++i) inputs_.push_back(Identity(c.input(i)));
    const Output grad_y = Cast(inputs_[0], DType::kFloat), x = Cast(inputs_[1], DType::kFloat);
    const Output scale = Reshape(inputs_[2], per_channel_);
    if (c.attr<bool>("is_training")) {
      Training(grad_y, x, scale);
    } else {
      Inference(grad_y, x, scale, Reshape(c.input(3), per_channel_),
                Reshape(c.input(4), per_channel_));
    }
  }

  // Those of grad_y, x and scale, when these are the gradients of what the Grad op gives.
  std::vector<Gradient> Differentiate(GradientContext& c) const {
    std::vector<Output> ys, grad_ys;
    for (int i = 0; i < 3; ++i) {
      if (!c.has_gradient(i)) continue;
      ys.push_back(outputs_[i]);
      grad_ys.push_back(c.grad(i));
    }
    return Gradients(ys, inputs_, {.grad_ys = grad_ys});
  }

 private:
  Output AverageOf(Output x) const { return Mean(x, axes_, {.keep_dims = true}); }

  void Training(Output grad_y, Output x, Output scale) {
    const Output centred = x - AverageOf(x);
    const Output variance = AverageOf(Square(centred)) + epsilon_;
    const Output product = grad_y * centred;
    const Output grad_x = scale * Rsqrt(variance) *
                          (grad_y - AverageOf(grad_y) - AverageOf(product) / variance * centred);
    SetOutputs(grad_x, product * Rsqrt(variance), grad_y);
  }
  void Inference(Output grad_y, Output x, Output scale, Output mean, Output variance) {
    const Output inverse = Rsqrt(variance + epsilon_);
    SetOutputs(grad_y * scale * inverse, grad_y * (x - mean) * inverse, grad_y);
  }
  void SetOutputs(Output grad_x, Output grad_scale, Output grad_offset) {
    outputs_ = {Cast(grad_x, type_), Sum(grad_scale, axes_), Sum(grad_offset, axes_)};
  }

  const double epsilon_;
  const DType type_;
  std::vector<int64_t> axes_, per_channel_;
  std::vector<Output> inputs_, outputs_;
};

void BackwardGradient(GradientContext& c) {
  const std::vector<Gradient> gradients = ComposedGrad(c).Differentiate(c);
  for (int i = 0; i < 3; ++i) c.set(i, gradients[i]);
}

OpDef Forward(const char* name, const char* type, const std::string& attrs, const char* doc) {
  const std::string u = type, reserve = ", reserve_space_";
  const std::string third = std::string_view(name).ends_with("V3") ? reserve + "3:" + u : "";
  return OpDef(name)
      .Inputs("x:T, scale:" + u + ", offset:" + u + ", mean:" + u + ", variance:" + u)
      .Outputs("y:T, batch_mean:" + u + ", batch_variance:" + u + reserve + "1:" + u + reserve +
               "2:" + u + third)
      .Attrs(attrs + kTraining)
      .Doc(doc)
      .Shape(ForwardShape);
}

OpDef Backward(const char* name, const char* scale, const char* type, const std::string& attrs,
               const char* doc) {
  const bool v3 = std::string_view(name).ends_with("V3");
  const std::string u = type, reserve = ", reserve_space_";
  return OpDef(name)
      .Inputs(std::string("y_backprop:T, x:T, scale:") + scale + reserve + "1:" + u + reserve +
              "2:" + u + (v3 ? reserve + "3:" + u : ""))
      .Outputs("x_backprop:T, scale_backprop:" + u + ", offset_backprop:" + u + reserve +
               (v3 ? "4:" : "3:") + u + reserve + (v3 ? "5:" : "4:") + u)
      .Attrs(attrs + kTraining)
      .Doc(doc)
      .Shape(BackwardShape)
      .Gradient(BackwardGradient);
}

}  // namespace

FusedBatchNormResult FusedBatchNorm(Output x, Output scale, Output offset, Output mean,
                                    Output variance, const FusedBatchNormOptions& options) {
  const std::vector<Output> outputs =
      OpBuilder("FusedBatchNormV3")
          .Input(x)
          .Input(scale)
          .Input(offset)
          .Input(mean)
          .Input(variance)
          .Attr("epsilon", options.epsilon)
          .Attr("exponential_avg_factor", options.exponential_avg_factor)
          .Attr("data_format", options.data_format)
          .Attr("is_training", options.is_training)
          .BuildAll();
  return {outputs[0], outputs[1], outputs[2], outputs[3], outputs[4], outputs[5]};
}

void RegisterBatchNorm(OpRegistry& registry) {
  const std::string floats = "T:type in [half,bfloat16,float]; U:type in [float]; " + kEpsilon;
  const std::string v3 = "T:type in [half,bfloat16,float]; U:type in [bfloat16,float]; " + kEpsilon;
  registry.Add(Forward("FusedBatchNorm", "T",
                       "T:type in [float]; " + kEpsilon + kFactor + kImageFormat,
                       "Normalizes each channel by its mean and variance over the batch, or by "
                       "those given, and scales and shifts it.")
                   .Gradient(ForwardGradient("FusedBatchNormGrad")));
  registry.Add(Forward("FusedBatchNormV2", "U", floats + kFactor + kImageFormat,
                       "FusedBatchNorm with statistics of a type of their own.")
                   .Gradient(ForwardGradient("FusedBatchNormGradV2")));
  registry.Add(Forward("FusedBatchNormV3", "U", v3 + kFactor + kFormatV3,
                       "FusedBatchNormV2 for images and volumes, with one more output that only "
                       "its gradient reads.")
                   .Gradient(ForwardGradient("FusedBatchNormGradV3")));
  registry.Add(Backward("FusedBatchNormGrad", "T", "T",
                        "T:type in [float]; " + kEpsilon + kImageFormat,
                        "The gradients of FusedBatchNorm with respect to x, scale and offset."));
  registry.Add(Backward("FusedBatchNormGradV2", "float", "U", floats + kImageFormat,
                        "The gradients of FusedBatchNormV2 with respect to x, scale and offset."));
  registry.Add(Backward("FusedBatchNormGradV3", "float", "U", floats + kFormatV3,
                        "The gradients of FusedBatchNormV3 with respect to x, scale and offset."));
}

}  // namespace sextant
