#include "sextant/ops/image/patches.h"

#include <limits>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/image/patch_window.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/segment.h"

namespace sextant {
namespace {

int64_t PatchAttr(const ShapeContext& c, const char* name, int d) {
  const auto& values = c.attr<std::vector<int64_t>>(name);
  if (values.size() != 4 || values[0] != 1 || values[3] != 1) {
    throw InvalidArgument("{} must be [1, rows, columns, 1]", name);
  }
  if (values[d] <= 0 || values[d] > std::numeric_limits<int32_t>::max()) {
    throw InvalidArgument("{}[{}] = {} must be positive", name, d, values[d]);
  }
  return values[d];
}

void PatchesShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRank(0, 4);
  for (int d = 1; d < 3; ++d) {
    const PatchWindow window{PatchAttr(c, "ksizes", d), PatchAttr(c, "strides", d),
                             PatchAttr(c, "rates", d), c.attr<std::string>("padding") == "SAME"};
    if (shape[d] != PartialShape::kUnknown) {
      const int64_t count = window.Count(shape[d]);
      if (count < 0) {
        throw InvalidArgument("patches of {} pixels do not fit in an image of shape {}",
                              window.extent(), shape.ToString());
      }
      shape.set_dim(d, count);
    }
    int64_t depth;
    if (shape[3] == PartialShape::kUnknown) continue;
    if (__builtin_mul_overflow(shape[3], window.size, &depth)) {
      throw InvalidArgument("patches of {} pixels are too large", window.size);
    }
    shape.set_dim(3, depth);
  }
  c.set_output(0, std::move(shape));
}

// Patches of an image that numbers its pixels from 1 tell which pixel each element of the gradient
// belongs to; 0 is the border. Rows of one pixel are then summed up.
void PatchesGradient(GradientContext& c) {
  const Output images = c.input(0), grad = c.grad();
  const std::vector<Output> sizes = Unpack(ShapeOf(images, DType::kInt64), 4, 0);
  const Output batch = sizes[0], height = sizes[1], width = sizes[2], channels = sizes[3];
  const Output one = Const(Tensor(int64_t{1}));
  const Output pixels = height * width;
  const Output numbers = Reshape(Range(one, pixels + one, one), Pack({one, height, width, one}));
  const auto ints = [&](const char* name) { return c.attr<std::vector<int64_t>>(name); };
  const Output ids =
      Reshape(ExtractImagePatches(numbers, {ints("ksizes"), ints("strides"), ints("rates"),
                                            c.attr<std::string>("padding")}),
              {-1});
  const Output rows =
      Transpose(Reshape(grad, Pack({batch, Size(ids, DType::kInt64), channels})), {1, 0, 2});
  const Output sums = UnsortedSegmentSum(rows, ids - one, pixels);
  c.set(0, Reshape(Transpose(sums, {1, 0, 2}), ShapeOf(images, DType::kInt64)));
}

}  // namespace

Output ExtractImagePatches(Output images, const ExtractImagePatchesOptions& o) {
  return OpBuilder("ExtractImagePatches")
      .Input(images)
      .Attr("ksizes", o.ksizes)
      .Attr("strides", o.strides)
      .Attr("rates", o.rates)
      .Attr("padding", o.padding)
      .Build();
}

void RegisterPatches(OpRegistry& registry) {
  registry.Add(
      OpDef("ExtractImagePatches")
          .Inputs("images:T")
          .Outputs("patches:T")
          .Attrs("ksizes:list(int)>=4; strides:list(int)>=4; rates:list(int)>=4; T:type in "
                 "[bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"
                 "complex64,complex128,bool]; padding:string in ['SAME','VALID']")
          .Doc("Patches of images, the pixels of each laid out along the last dimension.")
          .Shape(PatchesShape)
          .Gradient(PatchesGradient));
}

}  // namespace sextant
