#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/run_wait.h"
#include "sextant/ops/queue/tensor_queue.h"

namespace sextant {
namespace {

TensorQueue& QueueOf(KernelContext& ctx) {
  // The handle tensor keeps the queue alive.
  return *ResourceOf<TensorQueue>(ctx.input(0).scalar<ResourceHandle>());
}

QueueSpec SpecOf(const KernelInit& init) {
  const Node& node = init.node();
  QueueSpec spec;
  spec.kind = node.type().substr(0, node.type().find("V2"));
  const auto& shared_name = node.attr<std::string>("shared_name");
  spec.name = shared_name.empty() ? node.name() : shared_name;
  spec.types = node.attr<std::vector<DType>>("component_types");
  spec.shapes = node.attr<std::vector<PartialShape>>("shapes");
  if (spec.kind == "PriorityQueue") {
    spec.types.insert(spec.types.begin(), DType::kInt64);
    spec.shapes.insert(spec.shapes.begin(), Shape());
  }
  spec.capacity = std::max<int64_t>(node.attr<int64_t>("capacity"), 0);
  if (spec.kind == "RandomShuffleQueue") {
    spec.min_after_dequeue = node.attr<int64_t>("min_after_dequeue");
    spec.seed = node.attr<int64_t>("seed");
    spec.seed2 = node.attr<int64_t>("seed2");
  }
  return spec;
}

class QueueKernel : public Kernel {
 public:
  explicit QueueKernel(KernelInit& init)
      : spec_(SpecOf(init)),
        container_(init.attr<std::string>("container")),
        shared_(!init.attr<std::string>("shared_name").empty()) {
    if (container_.empty()) container_ = "localhost";
  }

  void Compute(KernelContext& ctx) override {
    if (!handle_.valid()) handle_ = MakeHandle(ctx.resources());
    ctx.SetOutput(0, handle_);
  }

 private:
  Tensor MakeHandle(ResourceManager& resources) const {
    const std::string name = shared_ ? spec_.name : "_private_" + spec_.name;
    ResourceManager& keeper = shared_ ? resources.shared() : resources;
    const auto queue = keeper.LookupOrCreate<TensorQueue>(
        container_, name, [&] { return std::make_shared<TensorQueue>(spec_); });
    queue->CheckLike(spec_);
    return Tensor::Scalar(ResourceHandle{.device = "",
                                         .container = container_,
                                         .name = name,
                                         .type_name = TensorQueue::kTypeName,
                                         .resource = queue});
  }

  const QueueSpec spec_;
  std::string container_;
  const bool shared_;
  Tensor handle_;
};

// Ops that wait for the other side.
class WaitingKernel : public Kernel {
 public:
  explicit WaitingKernel(KernelInit& init) {
    if (init.attr<int64_t>("timeout_ms") != -1) {
      throw InvalidArgument(
          "timeout_ms of a queue op is not supported; give the Run a deadline instead");
    }
  }
};

class EnqueueKernel : public WaitingKernel {
 public:
  explicit EnqueueKernel(KernelInit& init)
      : WaitingKernel(init), many_(init.node().type() == "QueueEnqueueManyV2") {}

  void Compute(KernelContext& ctx) override {
    Tuple tuple;
    for (int i = 1; i < ctx.num_inputs(); ++i) tuple.push_back(ctx.input(i));
    if (many_) {
      QueueOf(ctx).EnqueueMany(tuple, ctx.wait());
    } else {
      QueueOf(ctx).Enqueue(std::move(tuple), ctx.wait());
    }
  }

 private:
  const bool many_;
};

void SetOutputs(KernelContext& ctx, Tuple tuple) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, std::move(tuple[i]));
}

// Before anything is taken.
void CheckOutputs(KernelContext& ctx, const TensorQueue& queue) {
  const std::vector<DType>& types = queue.spec().types;
  bool same = static_cast<int>(types.size()) == ctx.num_outputs();
  for (int i = 0; same && i < ctx.num_outputs(); ++i) same = types[i] == ctx.output_type(i);
  if (!same) {
    throw InvalidArgument("component_types are not those of {} '{}'", queue.spec().kind,
                          queue.spec().name);
  }
}

class DequeueKernel : public WaitingKernel {
 public:
  using WaitingKernel::WaitingKernel;
  void Compute(KernelContext& ctx) override {
    TensorQueue& queue = QueueOf(ctx);
    CheckOutputs(ctx, queue);
    SetOutputs(ctx, queue.Dequeue(ctx.wait()));
  }
};

class DequeueManyKernel : public WaitingKernel {
 public:
  explicit DequeueManyKernel(KernelInit& init)
      : WaitingKernel(init), or_fewer_(init.node().type() == "QueueDequeueUpToV2") {}

  void Compute(KernelContext& ctx) override {
    TensorQueue& queue = QueueOf(ctx);
    CheckOutputs(ctx, queue);
    SetOutputs(ctx, queue.DequeueMany(ctx.input(1).AsInt64(), or_fewer_, ctx.wait()));
  }

 private:
  const bool or_fewer_;
};

class CloseKernel : public Kernel {
 public:
  explicit CloseKernel(KernelInit& init)
      : cancel_pending_(init.attr<bool>("cancel_pending_enqueues")) {}
  void Compute(KernelContext& ctx) override { QueueOf(ctx).Close(cancel_pending_, ctx.wait()); }

 private:
  const bool cancel_pending_;
};

void SizeKernel(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int32_t>() = static_cast<int32_t>(QueueOf(ctx).size());
}

void IsClosedKernel(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<bool>() = QueueOf(ctx).closed();
}

}  // namespace

void RegisterQueueCpu(KernelRegistry& registry) {
  for (const char* op :
       {"FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "PriorityQueueV2"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<QueueKernel>());
  }
  registry.Add(KernelDef("QueueEnqueueV2").MayBlock().Make<EnqueueKernel>());
  registry.Add(KernelDef("QueueEnqueueManyV2").MayBlock().Make<EnqueueKernel>());
  registry.Add(KernelDef("QueueDequeueV2").OwnOutputs().MayBlock().Make<DequeueKernel>());
  registry.Add(KernelDef("QueueDequeueManyV2").OwnOutputs().MayBlock().Make<DequeueManyKernel>());
  registry.Add(KernelDef("QueueDequeueUpToV2").OwnOutputs().MayBlock().Make<DequeueManyKernel>());
  registry.Add(KernelDef("QueueCloseV2").MayBlock().Make<CloseKernel>());
  registry.Add(KernelDef("QueueSizeV2").Function(SizeKernel));
  registry.Add(KernelDef("QueueIsClosedV2").Function(IsClosedKernel));
}

}  // namespace sextant
