#include <algorithm>
#include <string>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"

namespace sextant {
namespace {

void CheckQuality(int64_t quality) {
  if (quality < 0 || quality > 100) {
    throw InvalidArgument("quality must be in [0,100], got {}", quality);
  }
}

// A negative number of channels cannot be, a large one need not fit an int.
ImageSize SizeOf(const Shape& shape, int first) {
  return {shape[first], shape[first + 1],
          static_cast<int>(std::min<int64_t>(shape[first + 2], 1 << 20))};
}

class EncodePngKernel : public Kernel {
 public:
  explicit EncodePngKernel(KernelInit& init) {
    const auto compression = init.attr<int64_t>("compression");
    if (compression < -1 || compression > 9) {
      throw InvalidArgument("compression should be in [-1,9], got {}", compression);
    }
    options_.compression = static_cast<int>(compression);
    options_.deep = init.input_type(0) == DType::kUInt16;
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    const int batch_rank = images.rank() - 3;
    if (batch_rank < 0) {
      throw InvalidArgument("images must be at least rank 3, got {}", images.shape().ToString());
    }
    const ImageSize size = SizeOf(images.shape(), batch_rank);
    Tensor& out = ctx.AllocateOutput(0, Shape(images.shape().dims().first(batch_rank)));
    const auto files = out.flat<std::string>();
    if (files.empty()) return;
    const size_t stride = images.bytes() / files.size();
    const auto* pixels = static_cast<const uint8_t*>(images.raw_data());
    for (size_t i = 0; i < files.size(); ++i) {
      files[i] = WritePng(pixels + i * stride, size, options_);
    }
  }

 private:
  PngWriteOptions options_;
};

class EncodeJpegKernel : public Kernel {
 public:
  explicit EncodeJpegKernel(KernelInit& init) {
    if (init.num_inputs() > 1) return;
    const auto quality = init.attr<int64_t>("quality");
    CheckQuality(quality);
    options_.quality = static_cast<int>(quality);
    options_.progressive = init.attr<bool>("progressive");
    options_.optimize_size = init.attr<bool>("optimize_size");
    options_.chroma_downsampling = init.attr<bool>("chroma_downsampling");
    options_.density_in_cm = init.attr<std::string>("density_unit") == "cm";
    options_.x_density = static_cast<int>(init.attr<int64_t>("x_density"));
    options_.y_density = static_cast<int>(init.attr<int64_t>("y_density"));
    options_.xmp_metadata = init.attr<std::string>("xmp_metadata");
    const auto& format = init.attr<std::string>("format");
    channels_ = format == "grayscale" ? 1 : format == "rgb" ? 3 : 0;
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& image = ctx.input(0);
    if (image.rank() != 3) {
      throw InvalidArgument("image must be 3-dimensional, got {}", image.shape().ToString());
    }
    if (channels_ != 0 && image.dim(2) != channels_) {
      throw InvalidArgument("format {} expects {} channels, got {}",
                            channels_ == 1 ? "grayscale" : "rgb", channels_,
                            image.shape().ToString());
    }
    if (ctx.num_inputs() > 1) {
      if (ctx.input(1).rank() != 0) {
        throw InvalidArgument("quality must be scalar: {}", ctx.input(1).shape().ToString());
      }
      CheckQuality(ctx.input(1).scalar<int32_t>());
      options_.quality = ctx.input(1).scalar<int32_t>();
    }
    *ctx.AllocateOutput(0, Shape()).data<std::string>() =
        WriteJpeg(image.data<uint8_t>(), SizeOf(image.shape(), 0), options_);
  }

 private:
  JpegWriteOptions options_;
  int64_t channels_ = 0;  // 0: 1 or 3
};

}  // namespace

void RegisterEncodeImageCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("EncodePng").Make<EncodePngKernel>());
  registry.Add(KernelDef("EncodeJpeg").Make<EncodeJpegKernel>());
  registry.Add(KernelDef("EncodeJpegVariableQuality").Make<EncodeJpegKernel>());
}

}  // namespace sextant
