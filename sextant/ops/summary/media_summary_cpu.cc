#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/image/png.h"
#include "sextant/formats/wav.h"
#include "sextant/ops/summary/summary_output.h"
#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

std::string TagOf(const std::string& tag, const char* kind, int64_t max_outputs, int64_t i) {
  return max_outputs == 1 ? fmt::format("{}/{}", tag, kind) : fmt::format("{}/{}/{}", tag, kind, i);
}

// The pixels of an image of "count" pixels of "depth" real numbers as bytes.
template <typename T>
void Normalize(const T* src, int64_t count, int64_t depth, const uint8_t* bad_color, uint8_t* dst) {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  // Arithmetic in half precision rounds after each operation.
  const auto rounded = [](Real x) {
    if constexpr (std::is_same_v<T, Half>) {
      return static_cast<float>(Half(x));
    } else {
      return x;
    }
  };
  const auto is_finite = [&](int64_t pixel) {
    return std::all_of(src + pixel * depth, src + (pixel + 1) * depth,
                       [](T x) { return std::isfinite(static_cast<Real>(x)); });
  };
  Real min = std::numeric_limits<Real>::infinity(), max = -min;
  for (int64_t p = 0; p < count; ++p) {
    if (!is_finite(p)) continue;
    for (int64_t c = p * depth; c < (p + 1) * depth; ++c) {
      min = std::min(min, static_cast<Real>(src[c]));
      max = std::max(max, static_cast<Real>(src[c]));
    }
  }
  constexpr Real kZero = 1e-6f;
  Real scale, offset;
  if (min < 0) {
    const Real largest = std::max(std::abs(min), std::abs(max));
    scale = largest < kZero ? 0 : rounded(127 / largest);
    offset = 128;
  } else {
    scale = max < kZero ? 0 : rounded(255 / max);
    offset = 0;
  }
  for (int64_t p = 0; p < count; ++p) {
    const bool finite = is_finite(p);
    for (int64_t c = 0; c < depth; ++c) {
      const int64_t at = p * depth + c;
      if (finite) {
        const Real x = rounded(rounded(static_cast<Real>(src[at]) * scale) + offset);
        dst[at] = static_cast<uint8_t>(std::clamp<Real>(x, 0, 255));
      } else {
        dst[at] = bad_color[c];
      }
    }
  }
}

template <typename T>
class ImageSummaryKernel : public Kernel {
 public:
  explicit ImageSummaryKernel(KernelInit& init)
      : max_images_(init.attr<int64_t>("max_images")), bad_color_(init.attr<Tensor>("bad_color")) {
    if (bad_color_.dtype() != DType::kUInt8 || bad_color_.rank() != 1) {
      throw InvalidArgument("bad_color must be a vector of uint8, not {}", bad_color_.Describe());
    }
  }

  void Compute(KernelContext& ctx) override {
    const std::string& tag = SummaryTag(ctx);
    const Tensor& images = ctx.input(1);
    const bool right_depth =
        images.rank() == 4 && (images.dim(3) == 1 || images.dim(3) == 3 || images.dim(3) == 4);
    if (!right_depth) {
      throw InvalidArgument("Tensor must be 4-D with last dim 1, 3, or 4, not {}",
                            images.shape().ToString());
    }
    const int64_t height = images.dim(1), width = images.dim(2), depth = images.dim(3);
    constexpr int64_t kMaxSide = std::numeric_limits<int32_t>::max();
    if (height == 0 || width == 0 || height > kMaxSide || width > kMaxSide) {
      throw InvalidArgument("images of {} by {} pixels cannot be written", height, width);
    }
    if (depth > bad_color_.num_elements() && !std::is_same_v<T, uint8_t>) {
      throw InvalidArgument("bad_color has {} channels, the images have {}",
                            bad_color_.num_elements(), depth);
    }
    const ImageSize size{height, width, static_cast<int>(depth)};
    proto::Summary summary;
    for (int64_t i = 0; i < std::min(max_images_, images.dim(0)); ++i) {
      proto::Summary::Value* value = summary.add_value();
      value->set_tag(TagOf(tag, "image", max_images_, i));
      value->mutable_image()->set_height(static_cast<int32_t>(height));
      value->mutable_image()->set_width(static_cast<int32_t>(width));
      value->mutable_image()->set_colorspace(static_cast<int32_t>(depth));
      const T* const src = images.data<T>() + i * height * width * depth;
      value->mutable_image()->set_encoded_image_string(
          WritePng(Pixels(src, height * width, depth), size, {}));
    }
    SetSummaryOutput(ctx, summary);
  }

 private:
  const uint8_t* Pixels(const T* src, int64_t count, int64_t depth) {
    if constexpr (std::is_same_v<T, uint8_t>) {
      return src;
    } else {
      pixels_.resize(static_cast<size_t>(count * depth));
      Normalize(src, count, depth, bad_color_.data<uint8_t>(), pixels_.data());
      return pixels_.data();
    }
  }

  const int64_t max_images_;
  const Tensor bad_color_;
  std::vector<uint8_t> pixels_;
};

class AudioSummaryKernel : public Kernel {
 public:
  explicit AudioSummaryKernel(KernelInit& init)
      : max_outputs_(init.attr<int64_t>("max_outputs")),
        has_rate_input_(init.num_inputs() == 3),
        sample_rate_(has_rate_input_ ? 0 : init.attr<float>("sample_rate")) {}

  void Compute(KernelContext& ctx) override {
    const std::string& tag = SummaryTag(ctx);
    const Tensor& sounds = ctx.input(1);
    if (sounds.rank() != 2 && sounds.rank() != 3) {
      throw InvalidArgument("Tensor must be 3-D or 2-D, got: {}", sounds.shape().ToString());
    }
    if (has_rate_input_) {
      if (ctx.input(2).rank() != 0) throw InvalidArgument("sample_rate must be a scalar");
      sample_rate_ = ctx.input(2).scalar<float>();
    }
    if (!(sample_rate_ > 0 && sample_rate_ < 0x1p32f)) {
      throw InvalidArgument("sample_rate must be > 0, got {}", sample_rate_);
    }
    const int64_t frames = sounds.dim(1), channels = sounds.rank() == 3 ? sounds.dim(2) : 1;
    const auto count = static_cast<size_t>(frames * channels);
    proto::Summary summary;
    for (int64_t i = 0; i < std::min(max_outputs_, sounds.dim(0)); ++i) {
      proto::Summary::Value* value = summary.add_value();
      value->set_tag(TagOf(tag, "audio", max_outputs_, i));
      proto::Summary::Audio* audio = value->mutable_audio();
      audio->set_sample_rate(sample_rate_);
      audio->set_num_channels(channels);
      audio->set_length_frames(frames);
      audio->set_content_type("audio/wav");
      audio->set_encoded_audio_string(
          WriteWav(sounds.flat<float>().subspan(static_cast<size_t>(i) * count, count), channels,
                   static_cast<uint32_t>(std::lrint(static_cast<double>(sample_rate_)))));
    }
    SetSummaryOutput(ctx, summary);
  }

 private:
  const int64_t max_outputs_;
  const bool has_rate_input_;
  float sample_rate_;
};

}  // namespace

void RegisterMediaSummaryCpu(KernelRegistry& registry) {
  ForTypes<uint8_t, float, Half, double>([&]<typename T>() {
    registry.Add(KernelDef("ImageSummary").Type<T>("T").template Make<ImageSummaryKernel<T>>());
  });
  registry.Add(KernelDef("AudioSummary").Make<AudioSummaryKernel>());
  registry.Add(KernelDef("AudioSummaryV2").Make<AudioSummaryKernel>());
}

}  // namespace sextant
