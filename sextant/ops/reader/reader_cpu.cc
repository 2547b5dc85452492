#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/run_wait.h"
#include "sextant/ops/queue/tensor_queue.h"
#include "sextant/ops/reader/record_reader.h"

namespace sextant {
namespace {

RecordReader& ReaderOf(KernelContext& ctx) {
  // The handle tensor keeps the reader alive.
  return *ResourceOf<RecordReader>(ctx.input(0).scalar<ResourceHandle>());
}

// As TensorFlow has it, other names than these mean no compression.
Compression EncodingOf(const std::string& name) {
  return name == "ZLIB" || name == "GZIP" ? ParseCompression(name) : Compression::kNone;
}

OpenWorkUnit OpenerOf(const Node& node) {
  const std::string& type = node.type();
  if (type == "FixedLengthRecordReaderV2") {
    return FixedLengthRecords({.record_bytes = node.attr<int64_t>("record_bytes"),
                               .header_bytes = node.attr<int64_t>("header_bytes"),
                               .footer_bytes = node.attr<int64_t>("footer_bytes"),
                               .hop_bytes = node.attr<int64_t>("hop_bytes"),
                               .compression = EncodingOf(node.attr<std::string>("encoding"))});
  }
  if (type == "TextLineReaderV2") return TextLines(node.attr<int64_t>("skip_header_lines"));
  if (type == "TFRecordReaderV2") {
    return TFRecords(ParseCompression(node.attr<std::string>("compression_type")));
  }
  return type == "WholeFileReaderV2" ? WholeFiles() : Names();
}

class ReaderKernel : public Kernel {
 public:
  explicit ReaderKernel(KernelInit& init)
      : kind_(init.node().type().substr(0, init.node().type().size() - 2)),
        open_(OpenerOf(init.node())),
        container_(init.attr<std::string>("container")),
        name_(init.attr<std::string>("shared_name")),
        shared_(!name_.empty()) {
    if (container_.empty()) container_ = "localhost";
    if (!shared_) name_ = "_private_" + init.node().name();
  }

  void Compute(KernelContext& ctx) override {
    if (!handle_.valid()) handle_ = MakeHandle(ctx.resources());
    ctx.SetOutput(0, handle_);
  }

 private:
  Tensor MakeHandle(ResourceManager& resources) const {
    const bool saves = kind_ == "WholeFileReader" || kind_ == "IdentityReader";
    ResourceManager& keeper = shared_ ? resources.shared() : resources;
    const auto reader = keeper.LookupOrCreate<RecordReader>(
        container_, name_, [&] { return std::make_shared<RecordReader>(kind_, open_, saves); });
    if (reader->DebugString() != kind_) {
      throw InvalidArgument("shared reader '{}' is a {}, not a {}", name_, reader->DebugString(),
                            kind_);
    }
    return Tensor::Scalar(ResourceHandle{.device = "",
                                         .container = container_,
                                         .name = name_,
                                         .type_name = RecordReader::kTypeName,
                                         .resource = reader});
  }

  const std::string kind_;
  const OpenWorkUnit open_;
  std::string container_, name_;
  const bool shared_;
  Tensor handle_;
};

class ReadKernel : public Kernel {
 public:
  explicit ReadKernel(KernelInit& init) : up_to_(init.node().type() == "ReaderReadUpToV2") {}

  void Compute(KernelContext& ctx) override {
    const auto queue = ResourceOf<TensorQueue>(ctx.input(1).scalar<ResourceHandle>());
    keys_.clear();
    values_.clear();
    const int64_t count = up_to_ ? ctx.input(2).scalar<int64_t>() : 1;
    ReaderOf(ctx).Read(count, *queue, ctx.wait(), &keys_, &values_);
    const Shape shape = up_to_ ? Shape{static_cast<int64_t>(keys_.size())} : Shape();
    std::ranges::move(keys_, ctx.AllocateOutput(0, shape).data<std::string>());
    std::ranges::move(values_, ctx.AllocateOutput(1, shape).data<std::string>());
  }

 private:
  const bool up_to_;
  std::vector<std::string> keys_, values_;
};

void RecordsProduced(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int64_t>() = ReaderOf(ctx).records_produced();
}
void UnitsCompleted(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int64_t>() = ReaderOf(ctx).units_completed();
}
void ResetKernel(KernelContext& ctx) { ReaderOf(ctx).Reset(ctx.wait()); }
void SerializeKernel(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<std::string>() = ReaderOf(ctx).SerializeState(ctx.wait());
}
void RestoreKernel(KernelContext& ctx) {
  ReaderOf(ctx).RestoreState(ctx.input(1).scalar<std::string>(), ctx.wait());
}

}  // namespace

void RegisterReaderCpu(KernelRegistry& registry) {
  for (const char* op : {"FixedLengthRecordReaderV2", "TextLineReaderV2", "TFRecordReaderV2",
                         "WholeFileReaderV2", "IdentityReaderV2"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<ReaderKernel>());
  }
  registry.Add(KernelDef("ReaderReadV2").MayBlock().Make<ReadKernel>());
  registry.Add(KernelDef("ReaderReadUpToV2").MayBlock().Make<ReadKernel>());
  registry.Add(KernelDef("ReaderNumRecordsProducedV2").Function(RecordsProduced));
  registry.Add(KernelDef("ReaderNumWorkUnitsCompletedV2").Function(UnitsCompleted));
  registry.Add(KernelDef("ReaderResetV2").MayBlock().Function(ResetKernel));
  registry.Add(KernelDef("ReaderSerializeStateV2").MayBlock().Function(SerializeKernel));
  registry.Add(KernelDef("ReaderRestoreStateV2").MayBlock().Function(RestoreKernel));
}

}  // namespace sextant
