#include <limits>
#include <string>

#include "sextant/device/kernel_registry.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

// Plain elements are always written as tensor_content, single ones too.
void SerializeTensorTo(KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  proto::TensorProto proto;
  if (IsPlain(tensor.dtype())) {
    proto.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
    ShapeToProto(tensor.shape(), proto.mutable_tensor_shape());
    proto.set_tensor_content(tensor.raw_data(), tensor.bytes());
  } else {
    TensorToProto(tensor, &proto);
  }
  std::string& out = *ctx.AllocateOutput(0, Shape()).data<std::string>();
  if (!proto.SerializeToString(&out)) {
    throw InvalidArgument("{} is too large to be serialized", tensor.Describe());
  }
}

class ParseTensorKernel : public Kernel {
 public:
  explicit ParseTensorKernel(KernelInit& init) : dtype_(init.attr<DType>("out_type")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    if (in.rank() != 0) {
      throw InvalidArgument("serialized must be a scalar, got shape {}", in.shape().ToString());
    }
    const std::string& bytes = *in.data<std::string>();
    proto::TensorProto proto;
    if (bytes.size() > std::numeric_limits<int>::max() || !proto.ParseFromString(bytes)) {
      throw InvalidArgument("{} bytes that are not a TensorProto", bytes.size());
    }
    // A few bytes can stand for any number of equal elements.
    Tensor tensor = TensorFromProto(proto, bytes.size() + Attr::kMaxExpansion);
    if (tensor.dtype() != dtype_) {
      throw InvalidArgument("the serialized tensor is {}, expected type {}", tensor.Describe(),
                            DTypeName(dtype_));
    }
    ctx.SetOutput(0, std::move(tensor));
  }

 private:
  const DType dtype_;
};

}  // namespace

void RegisterSerializeTensorCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SerializeTensor").Function(SerializeTensorTo));
  registry.Add(KernelDef("ParseTensor").OwnOutputs().Make<ParseTensorKernel>());
}

}  // namespace sextant
