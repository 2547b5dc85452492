#include "sextant/ops/array/space_batch.h"

#include <optional>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

int64_t Times(int64_t size, int64_t factor) {
  int64_t product;
  if (size == PartialShape::kUnknown) return PartialShape::kUnknown;
  if (__builtin_mul_overflow(size, factor, &product)) {
    throw InvalidArgument("size {} times {} is too large", size, factor);
  }
  return product;
}

int64_t Over(int64_t size, int64_t divisor) {
  if (size == PartialShape::kUnknown) return PartialShape::kUnknown;
  if (size % divisor != 0) {
    throw InvalidArgument("size {} is not divisible by {}", size, divisor);
  }
  return size / divisor;
}

void DepthShape(ShapeContext& c, bool to_depth) {
  PartialShape shape = c.InputOfRank(0, 4);
  const int64_t block = c.attr<int64_t>("block_size");
  const auto& format = c.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") return c.set_output(0, PartialShape::UnknownOfRank(5));
  const bool channels_last = format == "NHWC";
  const int channel = channels_last ? 3 : 1;
  for (int d : {channels_last ? 1 : 2, channels_last ? 2 : 3}) {
    shape.set_dim(d, to_depth ? Over(shape[d], block) : Times(shape[d], block));
  }
  const int64_t area = Times(block, block);
  shape.set_dim(channel, to_depth ? Times(shape[channel], area) : Over(shape[channel], area));
  c.set_output(0, std::move(shape));
}

// "border" is the paddings or crops, null when they are not known.
void SetBatchShape(ShapeContext& c, const std::vector<int64_t>& block,
                   const std::optional<Tensor>& border, bool to_batch) {
  PartialShape shape = c.InputOfRankAtLeast(0, static_cast<int>(block.size()) + 1);
  if (!shape.rank_known()) return c.set_output(0, shape);
  const auto sizes = border ? border->AsInt64s() : std::vector<int64_t>();
  if (border && sizes.size() != 2 * block.size()) {
    throw InvalidArgument("{} block sizes need as many pairs of paddings or crops, got shape {}",
                          block.size(), border->shape().ToString());
  }
  int64_t batch = shape[0];
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i] < 1) throw InvalidArgument("block_shape[{}] = {} must be positive", i, block[i]);
    batch = to_batch ? Times(batch, block[i]) : Over(batch, block[i]);
    const int d = static_cast<int>(i) + 1;
    if (!border || shape[d] == PartialShape::kUnknown) {
      shape.set_dim(d, PartialShape::kUnknown);
      continue;
    }
    const int64_t before = sizes[2 * i], after = sizes[2 * i + 1];
    if (before < 0 || after < 0) {
      throw InvalidArgument("paddings and crops must be non-negative: {} {}", before, after);
    }
    int64_t size = to_batch ? shape[d] : Times(shape[d], block[i]);
    size += to_batch ? before + after : -before - after;
    if (size < 0) throw InvalidArgument("crops {} and {} take more than there is", before, after);
    shape.set_dim(d, to_batch ? Over(size, block[i]) : size);
  }
  shape.set_dim(0, batch);
  c.set_output(0, std::move(shape));
}

void BatchNdShape(ShapeContext& c, bool to_batch) {
  const PartialShape block_shape = c.InputOfRank(1, 1);
  c.InputOfRank(2, 2);
  const auto block = c.InputInts(1);
  if (block) return SetBatchShape(c, *block, c.InputValue(2), to_batch);
  PartialShape shape = c.input(0);
  if (!shape.rank_known()) return c.set_output(0, shape);
  const int64_t spatial =
      block_shape[0] == PartialShape::kUnknown ? shape.rank() - 1 : block_shape[0];
  for (int d = 0; d <= spatial && d < shape.rank(); ++d) shape.set_dim(d, PartialShape::kUnknown);
  c.set_output(0, std::move(shape));
}

void Batch2DShape(ShapeContext& c, bool to_batch) {
  const int64_t block = c.attr<int64_t>("block_size");
  c.InputOfRank(0, 4);
  SetBatchShape(c, {block, block}, c.InputValue(1), to_batch);
}

Output DepthOp(const char* op, Output x, const SpaceToDepthOptions& options) {
  return OpBuilder(op)
      .Input(x)
      .Attr("block_size", options.block_size)
      .Attr("data_format", options.data_format)
      .Build();
}

OpDef DepthDef(const char* name, const char* inverse, bool to_depth, const char* doc) {
  return OpDef(name)
      .Inputs("input:T")
      .Outputs("output:T")
      .Attrs(
          "T:type; block_size:int>=2; "
          "data_format:string='NHWC' in ['NHWC','NCHW','NCHW_VECT_C']")
      .Doc(doc)
      .Shape([to_depth](ShapeContext& c) { DepthShape(c, to_depth); })
      .Gradient([inverse](GradientContext& c) {
        c.set(0, DepthOp(inverse, c.grad(),
                         {c.attr<int64_t>("block_size"), c.attr<std::string>("data_format")}));
      });
}

OpDef BatchNdDef(const char* name, const char* inverse, bool to_batch, const char* doc) {
  const std::string border = to_batch ? "paddings" : "crops";
  return OpDef(name)
      .Inputs("input:T, block_shape:Tblock_shape, " + border + ":T" + border)
      .Outputs("output:T")
      .Attrs("T:type; Tblock_shape:type=int32 in [int32,int64]; T" + border +
             ":type=int32 in [int32,int64]")
      .Doc(doc)
      .Shape([to_batch](ShapeContext& c) { BatchNdShape(c, to_batch); })
      .Gradient([inverse](GradientContext& c) {
        c.set(0, OpBuilder(inverse).Input(c.grad()).Input(c.input(1)).Input(c.input(2)).Build());
      });
}

OpDef Batch2DDef(const char* name, const char* inverse, bool to_batch, const char* doc) {
  return OpDef(name)
      .Outputs("output:T")
      .Doc(doc)
      .Shape([to_batch](ShapeContext& c) { Batch2DShape(c, to_batch); })
      .Gradient([inverse](GradientContext& c) {
        c.set(0, OpBuilder(inverse)
                     .Input(c.grad())
                     .Input(c.input(1))
                     .Attr("block_size", c.attr<int64_t>("block_size"))
                     .Build());
      });
}

}  // namespace

Output SpaceToDepth(Output x, const SpaceToDepthOptions& options) {
  return DepthOp("SpaceToDepth", x, options);
}
Output DepthToSpace(Output x, const SpaceToDepthOptions& options) {
  return DepthOp("DepthToSpace", x, options);
}
Output SpaceToBatchND(Output x, Output block_shape, Output paddings) {
  return OpBuilder("SpaceToBatchND").Input(x).Input(block_shape).Input(paddings).Build();
}
Output BatchToSpaceND(Output x, Output block_shape, Output crops) {
  return OpBuilder("BatchToSpaceND").Input(x).Input(block_shape).Input(crops).Build();
}

void RegisterSpaceBatch(OpRegistry& registry) {
  registry.Add(DepthDef("SpaceToDepth", "DepthToSpace", true,
                        "Each block of block_size x block_size pixels made one pixel with all "
                        "their channels."));
  registry.Add(DepthDef("DepthToSpace", "SpaceToDepth", false,
                        "Each pixel's channels spread over a block of block_size x block_size "
                        "pixels."));
  registry.Add(BatchNdDef("SpaceToBatchND", "BatchToSpaceND", true,
                          "Pads with zeros, then deals the positions within each block out to "
                          "separate images of the batch."));
  registry.Add(BatchNdDef("BatchToSpaceND", "SpaceToBatchND", false,
                          "Puts the images of the batch together as the positions within blocks, "
                          "then crops."));
  registry.Add(Batch2DDef("SpaceToBatch", "BatchToSpace", true,
                          "SpaceToBatchND of images with square blocks.")
                   .Inputs("input:T, paddings:Tpaddings")
                   .Attrs("T:type; Tpaddings:type=int32 in [int32,int64]; block_size:int>=2"));
  registry.Add(Batch2DDef("BatchToSpace", "SpaceToBatch", false,
                          "BatchToSpaceND of images with square blocks.")
                   .Inputs("input:T, crops:Tidx")
                   .Attrs("T:type; block_size:int>=2; Tidx:type=int32 in [int32,int64]"));
}

}  // namespace sextant
