#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <memory>
#include <string>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/proto/example.pb.h"

namespace sextant {
namespace {

namespace pb = google::protobuf::util;

class DecodeJsonExampleKernel : public Kernel {
 public:
  explicit DecodeJsonExampleKernel(KernelInit&)
      : resolver_(pb::NewTypeResolverForDescriptorPool(
            "type.googleapis.com", proto::Example::descriptor()->file()->pool())) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const std::string* const json = in.data<std::string>();
    std::string* const out = ctx.AllocateOutput(0, in.shape()).data<std::string>();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out[i].clear();
      const auto status = pb::JsonToBinaryString(
          resolver_.get(), "type.googleapis.com/sextant.proto.Example", json[i], &out[i]);
      if (!status.ok()) {
        throw InvalidArgument("json_examples{} is not an Example in JSON: {}",
                              CoordinatesText(in.shape(), i), std::string(status.message()));
      }
    }
  }

 private:
  const std::unique_ptr<pb::TypeResolver> resolver_;
};

}  // namespace

void RegisterJsonExampleCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("DecodeJSONExample").Make<DecodeJsonExampleKernel>());
}

}  // namespace sextant
