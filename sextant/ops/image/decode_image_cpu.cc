#include <string_view>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/image/bmp.h"
#include "sextant/formats/image/gif.h"
#include "sextant/formats/image/image_format.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

ImageFormat FormatOf(std::string_view bytes) {
  if (bytes.empty()) throw InvalidArgument("Input is empty.");
  const ImageFormat format = ImageFormatOf(bytes);
  if (format != ImageFormat::kUnknown) return format;
  throw InvalidArgument("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
}

const char* NameOf(ImageFormat format) {
  static constexpr const char* kNames[] = {"unknown", "JPEG", "PNG", "GIF", "BMP"};
  return kNames[static_cast<int>(format)];
}

const std::string& Contents(const Tensor& contents) {
  if (contents.rank() != 0) {
    throw InvalidArgument("`contents` must be scalar but got shape{}", contents.shape().ToString());
  }
  return contents.scalar<std::string>();
}

JpegReadOptions ReadJpegAttrs(const KernelInit& init) {
  JpegReadOptions options;
  const auto ratio = init.attr<int64_t>("ratio");
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    throw InvalidArgument("ratio must be 1, 2, 4, or 8, got {}", ratio);
  }
  const auto& method = init.attr<std::string>("dct_method");
  if (method != "" && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE") {
    throw InvalidArgument(
        "dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got '{}'", method);
  }
  options.ratio = static_cast<int>(ratio);
  options.accurate = method == "INTEGER_ACCURATE";
  options.fancy_upscaling = init.attr<bool>("fancy_upscaling");
  options.try_recover_truncated = init.attr<bool>("try_recover_truncated");
  return options;
}

// All decoding ops: they differ in what they accept and in the rank of what they give.
class DecodeKernel : public Kernel {
 public:
  explicit DecodeKernel(KernelInit& init)
      : op_(init.node().type()), dtype_(init.output_type(0)), gif_op_(op_ == "DecodeGif") {
    channels_ = gif_op_ ? 3 : init.attr<int64_t>("channels");
    if (channels_ != 0 && channels_ != 1 && channels_ != 3 && channels_ != 4) {
      throw InvalidArgument("`channels` must be 0, 1, 3 or 4 but got {}", channels_);
    }
    if (op_ == "DecodeJpeg" || op_ == "DecodeAndCropJpeg") jpeg_ = ReadJpegAttrs(init);
    if (op_ == "DecodeImage") expand_ = init.attr<bool>("expand_animations");
  }

  void Compute(KernelContext& ctx) override {
    const std::string& bytes = Contents(ctx.input(0));
    const ImageFormat format = FormatOf(bytes);
    CheckAccepted(format);
    switch (format) {
      case ImageFormat::kJpeg:
        return Jpeg(ctx, bytes);
      case ImageFormat::kPng:
        return Png(ctx, bytes);
      case ImageFormat::kGif:
        return Gif(ctx, bytes);
      case ImageFormat::kBmp:
        return Bmp(ctx, bytes);
      case ImageFormat::kUnknown:
        return;
    }
  }

 private:
  void CheckAccepted(ImageFormat format) const {
    if (op_ == "DecodeAndCropJpeg" && format != ImageFormat::kJpeg) {
      throw InvalidArgument("DecodeAndCropJpeg operation can run on JPEG only, but detected {}.",
                            NameOf(format));
    }
    const bool takes_bmp = op_ == "DecodeBmp" || op_ == "DecodeImage";
    if ((format == ImageFormat::kBmp) != takes_bmp && op_ != "DecodeImage") {
      throw InvalidArgument("Trying to decode {} format using a wrong op. Op used: {}",
                            NameOf(format), op_);
    }
  }

  // Where a decoder of bytes writes to: the output, or scratch memory that is converted afterwards.
  void* Room(KernelContext& ctx, const Shape& shape) {
    out_ = &ctx.AllocateOutput(0, shape);
    if (dtype_ == DType::kUInt8) return out_->data<uint8_t>();
    scratch_ = ctx.AllocateTemp(DType::kUInt8, shape);
    return scratch_.data<uint8_t>();
  }
  void Convert() {
    if (dtype_ == DType::kUInt8) return;
    const auto bytes = scratch_.flat<uint8_t>();
    if (dtype_ == DType::kUInt16) {
      auto* to = out_->data<uint16_t>();
      for (const uint8_t value : bytes) *to++ = static_cast<uint16_t>(value << 8);
    } else {
      auto* to = out_->data<float>();
      for (const uint8_t value : bytes) *to++ = static_cast<float>(value) * (1.0F / 255.0F);
    }
    scratch_ = Tensor();
  }
  Shape ShapeFor(const ImageSize& size) const {
    Shape shape{size.height, size.width, size.channels};
    if (gif_op_) shape.Insert(0, 1);
    return shape;
  }

  void Jpeg(KernelContext& ctx, const std::string& bytes) {
    if (channels_ == 4) throw InvalidArgument("JPEG does not support 4 channels");
    jpeg_.channels = static_cast<int>(channels_);
    if (op_ == "DecodeAndCropJpeg") {
      const Tensor& window = ctx.input(1);
      CheckVector(window, "crop_window", 4);
      const auto* w = window.data<int32_t>();
      jpeg_.crop = CropWindow{w[0], w[1], w[2], w[3]};
    }
    ReadJpeg(bytes, jpeg_, [&](const ImageSize& size) { return Room(ctx, ShapeFor(size)); });
    Convert();
  }

  void Png(KernelContext& ctx, const std::string& bytes) {
    const PngReadOptions options{static_cast<int>(channels_), dtype_ != DType::kUInt8};
    ReadPng(bytes, options, [&](const ImageSize& size) {
      out_ = &ctx.AllocateOutput(0, ShapeFor(size));
      if (dtype_ != DType::kFloat) return out_->raw_data();
      scratch_ = ctx.AllocateTemp(DType::kUInt16, out_->shape());
      return scratch_.raw_data();
    });
    if (dtype_ != DType::kFloat) return;
    auto* to = out_->data<float>();
    for (const uint16_t value : scratch_.flat<uint16_t>()) {
      *to++ = static_cast<float>(value) * (1.0F / 65535.0F);
    }
    scratch_ = Tensor();
  }

  void Gif(KernelContext& ctx, const std::string& bytes) {
    if (channels_ != 0 && channels_ != 3) {
      throw InvalidArgument("channels must be 0 or 3 for GIF, got {}", channels_);
    }
    ReadGif(bytes, {.first_frame_only = !expand_}, [&](int64_t frames, const ImageSize& size) {
      Shape shape{size.height, size.width, size.channels};
      if (gif_op_ || (op_ == "DecodeImage" && expand_)) {
        shape.Insert(0, frames);
      } else if (frames != 1) {
        throw InvalidArgument(
            "Got {} frames, but animated gifs can only be decoded by DecodeGif or DecodeImage",
            frames);
      }
      return Room(ctx, shape);
    });
    Convert();
  }

  void Bmp(KernelContext& ctx, const std::string& bytes) {
    if (channels_ == 1) {
      throw InvalidArgument("`channels` must be 0, 3 or 4 for BMP, but got {}", channels_);
    }
    ReadBmp(bytes, static_cast<int>(channels_),
            [&](const ImageSize& size) { return Room(ctx, ShapeFor(size)); });
    Convert();
  }

  const std::string op_;
  const DType dtype_;
  const bool gif_op_;
  int64_t channels_;
  bool expand_ = true;
  JpegReadOptions jpeg_;
  Tensor* out_ = nullptr;
  Tensor scratch_;
};

void ExtractJpegShape(KernelContext& ctx) {
  const ImageSize size = ReadJpegSize(Contents(ctx.input(0)));
  Tensor& out = ctx.AllocateOutput(0, Shape{3});
  const int64_t dims[] = {size.height, size.width, size.channels};
  for (int i = 0; i < 3; ++i) {
    if (out.dtype() == DType::kInt64) {
      out.data<int64_t>()[i] = dims[i];
    } else {
      out.data<int32_t>()[i] = static_cast<int32_t>(dims[i]);
    }
  }
}

}  // namespace

void RegisterDecodeImageCpu(KernelRegistry& registry) {
  for (const char* op :
       {"DecodeImage", "DecodePng", "DecodeJpeg", "DecodeAndCropJpeg", "DecodeGif", "DecodeBmp"}) {
    registry.Add(KernelDef(op).Make<DecodeKernel>());
  }
  registry.Add(KernelDef("ExtractJpegShape").Function(ExtractJpegShape));
}

}  // namespace sextant
