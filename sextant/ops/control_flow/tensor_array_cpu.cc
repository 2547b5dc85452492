#include <algorithm>

#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/control_flow/tensor_array_value.h"
#include "sextant/ops/control_flow/tensor_list_value.h"

namespace sextant {

namespace {

TensorArray& ArrayOf(const Tensor& handle) {
  // The handle tensor keeps the array alive.
  return *ResourceOf<TensorArray>(handle.scalar<ResourceHandle>());
}

Tensor HandleTensor(std::shared_ptr<TensorArray> array) {
  ResourceHandle handle{"", "", array->name(), TensorArray::kTypeName, nullptr};
  handle.resource = std::move(array);
  return Tensor::Scalar(std::move(handle));
}

void SetFlow(KernelContext& ctx, int i) { *ctx.AllocateOutput(i, Shape()).data<float>() = 0; }

void CheckType(const TensorArray& array, DType wanted) {
  if (array.dtype() == wanted) return;
  throw InvalidArgument("TensorArray dtype is {} but Op requested dtype {}",
                        DTypeName(array.dtype()), DTypeName(wanted));
}

std::vector<int64_t> VectorInput(const Tensor& tensor, const char* what) {
  if (tensor.rank() != 1) {
    throw InvalidArgument("Expected {} to be a vector, but received shape: {}", what,
                          tensor.shape().ToString());
  }
  return tensor.AsInt64s();
}

class MakeKernel : public Kernel {
 public:
  explicit MakeKernel(KernelInit& init)
      : name_(init.attr<std::string>("tensor_array_name").empty()
                  ? init.node().name()
                  : init.attr<std::string>("tensor_array_name")),
        traits_{init.attr<DType>("dtype"),
                init.attr<PartialShape>("element_shape"),
                init.attr<bool>("dynamic_size"),
                init.attr<bool>("clear_after_read"),
                init.attr<bool>("identical_element_shapes"),
                false} {}

  void Compute(KernelContext& ctx) override {
    if (ctx.input(0).rank() != 0) {
      throw InvalidArgument("TensorArray size must be scalar, but had shape: {}",
                            ctx.input(0).shape().ToString());
    }
    ctx.SetOutput(
        0, HandleTensor(std::make_shared<TensorArray>(name_, traits_, ctx.input(0).AsInt64())));
    SetFlow(ctx, 1);
  }

 private:
  const std::string name_;
  const TensorArrayTraits traits_;
};

class GradKernel : public Kernel {
 public:
  explicit GradKernel(KernelInit& init) : source_(init.attr<std::string>("source")) {}
  void Compute(KernelContext& ctx) override {
    Shape prepend;
    if (ctx.num_inputs() == 3) prepend = Shape(VectorInput(ctx.input(2), "shape_to_prepend"));
    ctx.SetOutput(0, HandleTensor(ArrayOf(ctx.input(0)).Gradient(source_, prepend)));
    SetFlow(ctx, 1);
  }

 private:
  const std::string source_;
};

void CloseArray(KernelContext& ctx) { ArrayOf(ctx.input(0)).Close(); }

void Size(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int32_t>() =
      static_cast<int32_t>(ArrayOf(ctx.input(0)).Size());
}

void Write(KernelContext& ctx) {
  if (ctx.input(1).rank() != 0) {
    throw InvalidArgument("TensorArray index must be scalar, but had shape: {}",
                          ctx.input(1).shape().ToString());
  }
  ArrayOf(ctx.input(0)).Write(ctx.input(1).AsInt64(), ctx.input(2));
  SetFlow(ctx, 0);
}

void Read(KernelContext& ctx) {
  TensorArray& array = ArrayOf(ctx.input(0));
  CheckType(array, ctx.output_type(0));
  ctx.SetOutput(0, array.Read(ctx.input(1).AsInt64()));
}

void Scatter(KernelContext& ctx) {
  TensorArray& array = ArrayOf(ctx.input(0));
  const std::vector<int64_t> indices = VectorInput(ctx.input(1), "indices");
  const Tensor value = ctx.input(2).Persistent();
  if (value.rank() == 0)
    throw InvalidArgument(
        "Input value for scatter must be at least a vector but received shape: []");
  if (static_cast<int64_t>(indices.size()) != value.dim(0)) {
    throw InvalidArgument("Expected len(indices) == values.shape[0], but saw: {} vs. {}",
                          indices.size(), value.dim(0));
  }
  if (!indices.empty()) array.EnsureSize(*std::ranges::max_element(indices) + 1);
  Shape row = value.shape();
  row.Erase(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    array.Write(indices[i], value.Rows(i, i + 1).Reshaped(row));
  }
  SetFlow(ctx, 0);
}

void Split(KernelContext& ctx) {
  TensorArray& array = ArrayOf(ctx.input(0));
  const Tensor value = ctx.input(1).Persistent();
  const std::vector<int64_t> lengths = VectorInput(ctx.input(2), "lengths");
  if (value.rank() == 0) {
    throw InvalidArgument("Expected value to be at least a vector, but received shape: []");
  }
  int64_t total = 0;
  for (int64_t length : lengths) {
    if (length < 0 || length > value.dim(0)) {
      throw InvalidArgument("Length {} is not in [0, {}]", length, value.dim(0));
    }
    total += length;
  }
  if (total != value.dim(0)) {
    throw InvalidArgument(
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and "
        "value's "
        "shape is: {}",
        total, value.shape().ToString());
  }
  const auto count = static_cast<int64_t>(lengths.size());
  array.EnsureSize(count);
  if (array.Size() != count) {
    throw InvalidArgument(
        "TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray "
        "is not "
        "marked as dynamically resizeable",
        array.Size(), count);
  }
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    array.Write(i, value.Rows(begin, begin + lengths[i]));
    begin += lengths[i];
  }
  SetFlow(ctx, 0);
}

class GatherKernel : public Kernel {
 public:
  explicit GatherKernel(KernelInit& init)
      : element_shape_(init.attr<PartialShape>("element_shape")) {}
  void Compute(KernelContext& ctx) override {
    TensorArray& array = ArrayOf(ctx.input(0));
    CheckType(array, ctx.output_type(0));
    const std::vector<int64_t> indices = VectorInput(ctx.input(1), "indices");
    const PartialShape element = array.ElementShape().MergeWith(element_shape_);
    if (indices.empty()) {
      if (!element.fully_known()) {
        throw Unimplemented(
            "TensorArray has size zero, but element shape {} is not fully defined. "
            "Currently only static shapes are supported when packing zero-size "
            "TensorArrays.",
            element.ToString());
      }
      Shape shape = element.AsShape();
      shape.Insert(0, 0);
      ctx.AllocateOutput(0, shape);
      return;
    }
    std::vector<Tensor> values;
    for (int64_t i : indices) values.push_back(array.Read(i));
    const Shape& row = values[0].shape();
    Shape shape = row;
    shape.Insert(0, static_cast<int64_t>(values.size()));
    Tensor& out = ctx.AllocateOutput(0, shape);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!(values[i].shape() == row) || !element.CompatibleWith(row)) {
        throw InvalidArgument(
            "TensorArray has inconsistent shapes. Index 0 has shape: {} but index {} has shape: {}",
            row.ToString(), i, values[i].shape().ToString());
      }
      CopyElements(values[i], out, static_cast<int64_t>(i) * row.num_elements());
    }
  }

 private:
  const PartialShape element_shape_;
};

class ArrayConcatKernel : public Kernel {
 public:
  explicit ArrayConcatKernel(KernelInit& init)
      : except0_(init.attr<PartialShape>("element_shape_except0")) {}
  void Compute(KernelContext& ctx) override {
    TensorArray& array = ArrayOf(ctx.input(0));
    CheckType(array, ctx.output_type(0));
    const int64_t count = array.Size();
    Tensor& lengths = ctx.AllocateOutput(1, Shape{count});
    if (count == 0) {
      if (!except0_.fully_known()) {
        throw Unimplemented(
            "TensorArray has size zero, but element_shape_except0 {} is not fully defined. "
            "Currently only static shapes are supported when concatenating zero-size "
            "TensorArrays.",
            except0_.ToString());
      }
      Shape shape = except0_.AsShape();
      shape.Insert(0, 0);
      ctx.AllocateOutput(0, shape);
      return;
    }
    std::vector<Tensor> values;
    Shape rest;
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(array.Read(i));
      Shape shape = values[i].shape();
      if (shape.rank() == 0) {
        throw InvalidArgument(
            "Concat saw a scalar shape at index {} but requires at least vectors.", i);
      }
      lengths.data<int64_t>()[i] = shape[0];
      total += shape[0];
      shape.Erase(0);
      if (i == 0) rest = shape;
      if (!(shape == rest) || !except0_.CompatibleWith(shape)) {
        throw InvalidArgument(
            "TensorArray has inconsistent shapes. Index 0 has (excepting dimension 0) shape: {} "
            "but index "
            "{} has (excepting dimension 0) shape: {}",
            rest.ToString(), i, shape.ToString());
      }
    }
    Shape shape = rest;
    shape.Insert(0, total);
    Tensor& out = ctx.AllocateOutput(0, shape);
    int64_t offset = 0;
    for (const Tensor& value : values) {
      CopyElements(value, out, offset);
      offset += value.num_elements();
    }
  }

 private:
  const PartialShape except0_;
};

}  // namespace

void RegisterTensorArrayCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("TensorArrayV3").OwnOutputs().Make<MakeKernel>());
  registry.Add(KernelDef("TensorArrayGradV3").OwnOutputs().Make<GradKernel>());
  registry.Add(KernelDef("TensorArrayGradWithShape").OwnOutputs().Make<GradKernel>());
  registry.Add(KernelDef("TensorArrayCloseV3").Function(CloseArray));
  registry.Add(KernelDef("TensorArraySizeV3").Function(Size));
  registry.Add(KernelDef("TensorArrayWriteV3").Function(Write));
  registry.Add(KernelDef("TensorArrayReadV3").OwnOutputs().Function(Read));
  registry.Add(KernelDef("TensorArrayScatterV3").Function(Scatter));
  registry.Add(KernelDef("TensorArraySplitV3").Function(Split));
  registry.Add(KernelDef("TensorArrayGatherV3").Make<GatherKernel>());
  registry.Add(KernelDef("TensorArrayConcatV3").Make<ArrayConcatKernel>());
}

}  // namespace sextant
