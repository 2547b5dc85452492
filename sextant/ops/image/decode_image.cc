#include "sextant/ops/image/decode_image.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

const char* const kWhyNotPixels = "the pixels of a file are no function of a number";
const char* const kJpegAttrs =
    "channels:int=0; ratio:int=1; fancy_upscaling:bool=True; try_recover_truncated:bool=False; "
    "acceptable_fraction:float=1.0; dct_method:string=''";

int64_t Channels(const ShapeContext& c) {
  const auto channels = c.attr<int64_t>("channels");
  if (channels < 0) throw InvalidArgument("channels must be non-negative, got {}", channels);
  return channels == 0 ? PartialShape::kUnknown : channels;
}

void OneImage(ShapeContext& c) {
  c.InputOfRank(0, 0);
  c.set_output(0, PartialShape{PartialShape::kUnknown, PartialShape::kUnknown, Channels(c)});
}

void DecodedCropShape(ShapeContext& c) {
  c.InputOfRank(0, 0);
  PartialShape shape{PartialShape::kUnknown, PartialShape::kUnknown, Channels(c)};
  const PartialShape window = c.InputOfRank(1, 1);
  if (window[0] != PartialShape::kUnknown && window[0] != 4) {
    throw InvalidArgument("crop_window must have four elements, got {}", window.ToString());
  }
  if (const auto values = c.InputInts(1)) {
    for (int i = 0; i < 2; ++i) {
      if ((*values)[2 + i] > 0) shape.set_dim(i, (*values)[2 + i]);
    }
  }
  c.set_output(0, std::move(shape));
}

void AnyImage(ShapeContext& c) {
  c.InputOfRank(0, 0);
  const int64_t channels = Channels(c);
  c.set_output(0, c.attr<bool>("expand_animations")
                      ? PartialShape()
                      : PartialShape{PartialShape::kUnknown, PartialShape::kUnknown, channels});
}

Output BuildJpeg(OpBuilder builder, const DecodeJpegOptions& o) {
  return builder.Attr("channels", o.channels)
      .Attr("ratio", o.ratio)
      .Attr("fancy_upscaling", o.fancy_upscaling)
      .Attr("try_recover_truncated", o.try_recover_truncated)
      .Attr("acceptable_fraction", o.acceptable_fraction)
      .Attr("dct_method", o.dct_method)
      .Build();
}

}  // namespace

Output DecodeImage(Output contents, const DecodeImageOptions& o) {
  return OpBuilder("DecodeImage")
      .Input(contents)
      .Attr("channels", o.channels)
      .Attr("dtype", o.dtype)
      .Attr("expand_animations", o.expand_animations)
      .Build();
}
Output DecodePng(Output contents, const DecodePngOptions& o) {
  return OpBuilder("DecodePng")
      .Input(contents)
      .Attr("channels", o.channels)
      .Attr("dtype", o.dtype)
      .Build();
}
Output DecodeJpeg(Output contents, const DecodeJpegOptions& options) {
  return BuildJpeg(OpBuilder("DecodeJpeg").Input(contents), options);
}
Output DecodeAndCropJpeg(Output contents, Output crop_window, const DecodeJpegOptions& options) {
  return BuildJpeg(OpBuilder("DecodeAndCropJpeg").Input(contents).Input(crop_window), options);
}
Output ExtractJpegShape(Output contents, DType output_type) {
  return OpBuilder("ExtractJpegShape").Input(contents).Attr("output_type", output_type).Build();
}
Output DecodeGif(Output contents) { return OpBuilder("DecodeGif").Input(contents).Build(); }
Output DecodeBmp(Output contents, int64_t channels) {
  return OpBuilder("DecodeBmp").Input(contents).Attr("channels", channels).Build();
}

void RegisterDecodeImage(OpRegistry& registry) {
  registry.Add(OpDef("DecodeImage")
                   .Inputs("contents:string")
                   .Outputs("image:dtype")
                   .Attrs("channels:int=0; dtype:type=uint8 in [uint8,uint16,float]; "
                          "expand_animations:bool=True")
                   .Doc("The pixels of a JPEG, PNG, GIF or BMP file, told apart by its first "
                        "bytes.")
                   .Shape(AnyImage)
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("DecodePng")
                   .Inputs("contents:string")
                   .Outputs("image:dtype")
                   .Attrs("channels:int=0; dtype:type=uint8 in [uint8,uint16]")
                   .Doc("The pixels of a PNG file.")
                   .Shape(OneImage)
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("DecodeJpeg")
                   .Inputs("contents:string")
                   .Outputs("image:uint8")
                   .Attrs(kJpegAttrs)
                   .Doc("The pixels of a JPEG file, both sides divided by ratio.")
                   .Shape(OneImage)
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("DecodeAndCropJpeg")
                   .Inputs("contents:string, crop_window:int32")
                   .Outputs("image:uint8")
                   .Attrs(kJpegAttrs)
                   .Doc("The part [y, x, height, width] of the pixels of a JPEG file.")
                   .Shape(DecodedCropShape)
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("DecodeGif")
                   .Inputs("contents:string")
                   .Outputs("image:uint8")
                   .Doc("All frames of a GIF file, each a whole picture.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(0, 0);
                     c.set_output(0, PartialShape{PartialShape::kUnknown, PartialShape::kUnknown,
                                                  PartialShape::kUnknown, 3});
                   })
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("DecodeBmp")
                   .Inputs("contents:string")
                   .Outputs("image:uint8")
                   .Attrs("channels:int=0")
                   .Doc("The pixels of an uncompressed BMP file.")
                   .Shape(OneImage)
                   .NotDifferentiable(kWhyNotPixels));
  registry.Add(OpDef("ExtractJpegShape")
                   .Inputs("contents:string")
                   .Outputs("image_shape:output_type")
                   .Attrs("output_type:type=int32 in [int32,int64]")
                   .Doc("Height, width and channels of a JPEG file, from its header alone.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(0, 0);
                     c.set_output(0, PartialShape{3});
                   })
                   .NotDifferentiable("the result is a shape"));
}

}  // namespace sextant
