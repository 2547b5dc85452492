#include <limits>
#include <optional>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

void SetSize(Tensor& out, int i, int64_t size) {
  if (out.dtype() == DType::kInt64) {
    out.data<int64_t>()[i] = size;
    return;
  }
  if (size > std::numeric_limits<int32_t>::max()) {
    throw InvalidArgument("size {} does not fit in int32: use out_type=int64", size);
  }
  out.data<int32_t>()[i] = static_cast<int32_t>(size);
}

void ShapeOf(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Shape& shape = ctx.input(i).shape();
    Tensor& out = ctx.AllocateOutput(i, Shape{shape.rank()});
    for (int d = 0; d < shape.rank(); ++d) SetSize(out, d, shape[d]);
  }
}

void Size(KernelContext& ctx) {
  SetSize(ctx.AllocateOutput(0, Shape()), 0, ctx.input(0).num_elements());
}

void Rank(KernelContext& ctx) {
  ctx.AllocateOutput(0, Shape()).data<int32_t>()[0] = ctx.input(0).rank();
}

int64_t ProductOfNonZero(const Shape& shape) {
  int64_t product = 1;
  for (int64_t size : shape.dims()) product *= size == 0 ? 1 : size;
  return product;
}

// What the -1, counted as 1 in "wanted", stands for. When sizes of 0 are asked for, those that are
// not 0 decide: [3,0] becomes [3,0] by [-1,0].
int64_t InferredSize(const Shape& input, const Shape& wanted) {
  const bool empty = wanted.num_elements() == 0;
  const int64_t elements = empty ? ProductOfNonZero(input) : input.num_elements();
  const int64_t rest = empty ? ProductOfNonZero(wanted) : wanted.num_elements();
  if (!empty && elements % rest != 0) {
    throw InvalidArgument(
        "Input to reshape is a tensor with {} values, but the requested shape requires a multiple "
        "of {}",
        elements, rest);
  }
  return elements / rest;
}

void Reshape(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const Tensor& sizes = ctx.input(1);
  if (sizes.rank() > 1) CheckVector(sizes, "shape");  // a scalar stands for a vector of one
  if (sizes.num_elements() >= kMaxRank) {
    throw InvalidArgument("too many dimensions: must be < {}, but received {}", kMaxRank,
                          sizes.num_elements());
  }
  int inferred = -1;
  Shape shape;
  for (int64_t i = 0; i < sizes.num_elements(); ++i) {
    int64_t size = IndexAt(sizes, i);
    if (size == -1) {
      if (inferred >= 0) {
        throw InvalidArgument("Only one input size may be -1, not both {} and {}", inferred, i);
      }
      inferred = static_cast<int>(i);
      size = 1;
    } else if (size < 0) {
      throw InvalidArgument("Size {} must be non-negative, not {}", i, size);
    }
    shape.Append(size);
  }
  if (inferred >= 0) shape.set_dim(inferred, InferredSize(input.shape(), shape));
  if (shape.num_elements() != input.num_elements()) {
    throw InvalidArgument(
        "Input to reshape is a tensor with {} values, but the requested shape {} has {}",
        input.num_elements(), shape.ToString(), shape.num_elements());
  }
  ctx.ForwardInput(0, 0, shape);
}

// Takes the shape that planning has found out from constant sizes. An input with as many elements
// can have no other; emptiness, where a size of -1 may be any, is left to the general way.
class ReshapeKernel : public Kernel {
 public:
  explicit ReshapeKernel(KernelInit& init) {
    const PartialShape& shape = init.node().output_shape(0);
    if (init.node().input(1).node()->type() == "Const" && shape.fully_known()) {
      planned_ = shape.AsShape();
    }
  }

  void Compute(KernelContext& ctx) override {
    const int64_t count = ctx.input(0).num_elements();
    if (!planned_ || count == 0 || planned_->num_elements() != count) return Reshape(ctx);
    ctx.ForwardInput(0, 0, *planned_);
  }

 private:
  std::optional<Shape> planned_;
};

class SqueezeKernel : public Kernel {
 public:
  explicit SqueezeKernel(KernelInit& init)
      : axes_(init.attr<std::vector<int64_t>>("squeeze_dims")) {}

  void Compute(KernelContext& ctx) override {
    const Shape& input = ctx.input(0).shape();
    Shape shape;
    for (int d = 0; d < input.rank(); ++d) {
      if (!Squeezed(d, input)) shape.Append(input[d]);
    }
    for (int64_t axis : axes_) {
      if (axis < -input.rank() || axis >= input.rank()) {
        throw InvalidArgument("Tried to squeeze dim index {} for tensor with {} dimensions.", axis,
                              input.rank());
      }
    }
    ctx.ForwardInput(0, 0, shape);
  }

 private:
  bool Squeezed(int d, const Shape& input) const {
    if (axes_.empty()) return input[d] == 1;
    for (int64_t axis : axes_) {
      if (axis != d && axis + input.rank() != d) continue;
      if (input[d] != 1) {
        throw InvalidArgument("Can not squeeze dim[{}], expected a dimension of 1, got {}", d,
                              input[d]);
      }
      return true;
    }
    return false;
  }
  const std::vector<int64_t> axes_;
};

void ExpandDims(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const int64_t axis = IndexScalar(ctx.input(1), "dim", ScalarForm::kOneElement);
  const int rank = input.rank();
  if (axis < -rank - 1 || axis > rank) {
    throw InvalidArgument("Tried to expand dim index {} for tensor with {} dimensions.", axis,
                          rank);
  }
  Shape shape = input.shape();
  shape.Insert(static_cast<int>(axis < 0 ? axis + rank + 1 : axis), 1);
  ctx.ForwardInput(0, 0, shape);
}

}  // namespace

void RegisterShapeCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Shape").Function(ShapeOf));
  registry.Add(KernelDef("ShapeN").Function(ShapeOf));
  registry.Add(KernelDef("Size").Function(Size));
  registry.Add(KernelDef("Rank").Function(Rank));
  registry.Add(KernelDef("Reshape").Alias(0, 0).Make<ReshapeKernel>());
  registry.Add(KernelDef("Squeeze").Alias(0, 0).Make<SqueezeKernel>());
  registry.Add(KernelDef("ExpandDims").Alias(0, 0).Function(ExpandDims));
}

}  // namespace sextant
