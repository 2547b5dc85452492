#include "sextant/ops/image/encode_image.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

const char* const kWhyNotBytes = "the bytes of a file are no numbers";

void PngShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRankAtLeast(0, 3);
  if (shape.rank_known()) {
    for (int i = 0; i < 3; ++i) shape.Erase(shape.rank() - 1);
  }
  c.set_output(0, std::move(shape));
}

void JpegShape(ShapeContext& c) {
  c.InputOfRank(0, 3);
  if (c.num_inputs() > 1) c.InputOfRank(1, 0);
  shapes::Scalar(c);
}

}  // namespace

Output EncodePng(Output image, const EncodePngOptions& options) {
  return OpBuilder("EncodePng").Input(image).Attr("compression", options.compression).Build();
}
Output EncodeJpeg(Output image, const EncodeJpegOptions& o) {
  return OpBuilder("EncodeJpeg")
      .Input(image)
      .Attr("format", o.format)
      .Attr("quality", o.quality)
      .Attr("progressive", o.progressive)
      .Attr("optimize_size", o.optimize_size)
      .Attr("chroma_downsampling", o.chroma_downsampling)
      .Attr("density_unit", o.density_unit)
      .Attr("x_density", o.x_density)
      .Attr("y_density", o.y_density)
      .Attr("xmp_metadata", o.xmp_metadata)
      .Build();
}
Output EncodeJpegVariableQuality(Output image, Output quality) {
  return OpBuilder("EncodeJpegVariableQuality").Input(image).Input(quality).Build();
}

void RegisterEncodeImage(OpRegistry& registry) {
  registry.Add(OpDef("EncodePng")
                   .Inputs("image:T")
                   .Outputs("contents:string")
                   .Attrs("compression:int=-1; T:type=uint8 in [uint8,uint16]")
                   .Doc("PNG files of images [..., height, width, channels].")
                   .Shape(PngShape)
                   .NotDifferentiable(kWhyNotBytes));
  registry.Add(
      OpDef("EncodeJpeg")
          .Inputs("image:uint8")
          .Outputs("contents:string")
          .Attrs("format:string='' in ['','grayscale','rgb']; quality:int=95; "
                 "progressive:bool=False; optimize_size:bool=False; chroma_downsampling:bool=True; "
                 "density_unit:string='in' in ['in','cm']; x_density:int=300; y_density:int=300; "
                 "xmp_metadata:string=''")
          .Doc("A JPEG file of the image [height, width, channels].")
          .Shape(JpegShape)
          .NotDifferentiable(kWhyNotBytes));
  registry.Add(OpDef("EncodeJpegVariableQuality")
                   .Inputs("images:uint8, quality:int32")
                   .Outputs("contents:string")
                   .Doc("A JPEG file of the image, of the quality given as a tensor.")
                   .Shape(JpegShape)
                   .NotDifferentiable(kWhyNotBytes));
}

}  // namespace sextant
