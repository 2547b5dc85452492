#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/control_flow/optional_value.h"
#include "sextant/ops/dataset/dataset_resource.h"
#include "sextant/ops/dataset/iterator_resource.h"

namespace sextant {
namespace {

constexpr const char* kGraphDatasets =
    "data sets made by ops of a graph are not run; feed the outputs of IteratorGetNext, or use a "
    "data::Dataset";

// None where the node was imported.
data::Dataset DatasetOf(const Node& node) {
  const Attr* attr = node.FindAttr(DatasetResource::kAttr);
  if (attr == nullptr) return {};
  const auto& handle = attr->Get<Tensor>().scalar<ResourceHandle>();
  const auto* resource = dynamic_cast<const DatasetResource*>(handle.resource.get());
  return resource != nullptr ? resource->dataset() : data::Dataset();
}

Tensor HandleTo(std::string name, std::shared_ptr<Resource> iterator) {
  return Tensor::Scalar(ResourceHandle{.device = "",
                                       .container = IteratorResource::kContainer,
                                       .name = std::move(name),
                                       .type_name = IteratorResource::kTypeName,
                                       .resource = std::move(iterator)});
}

std::shared_ptr<IteratorResource> FindOrMake(ResourceManager& resources, const std::string& name,
                                             bool shared) {
  // Whoever restores the position of an iterator that is not there yet cannot tell that it will be
  // shared: it is found among those of the session.
  auto restored = resources.Lookup<IteratorResource>(IteratorResource::kContainer, name);
  return (shared ? resources.shared() : resources)
      .LookupOrCreate<IteratorResource>(IteratorResource::kContainer, name, [&] {
        return shared && restored ? restored : std::make_shared<IteratorResource>();
      });
}

class HandleKernel : public Kernel {
 public:
  explicit HandleKernel(KernelInit& init)
      : shared_(!init.attr<std::string>("shared_name").empty()),
        name_(shared_ ? init.attr<std::string>("shared_name") : init.node().name()),
        dataset_(DatasetOf(init.node())) {}

  void Compute(KernelContext& ctx) override {
    if (!handle_.valid()) {
      auto iterator = FindOrMake(ctx.resources(), name_, shared_);
      if (dataset_.valid()) iterator->SetDefault(dataset_);
      handle_ = HandleTo(name_, std::move(iterator));
    }
    ctx.SetOutput(0, handle_);
  }

 private:
  const bool shared_;
  const std::string name_;
  const data::Dataset dataset_;
  Tensor handle_;
};

class MakeKernel : public Kernel {
 public:
  explicit MakeKernel(KernelInit& init) : dataset_(DatasetOf(init.node())) {}

  void Compute(KernelContext& ctx) override {
    if (!dataset_.valid()) throw Unimplemented("{}", kGraphDatasets);
    ResourceOf<IteratorResource>(ctx.input(1).scalar<ResourceHandle>())->Begin(dataset_);
  }

 private:
  const data::Dataset dataset_;
};

class GetNextKernel : public Kernel {
 public:
  explicit GetNextKernel(KernelInit& init)
      : types_(init.attr<std::vector<DType>>("output_types")),
        shapes_(init.attr<std::vector<PartialShape>>("output_shapes")) {
    if (types_.size() != shapes_.size()) {
      throw InvalidArgument("there are {} output_types and {} output_shapes", types_.size(),
                            shapes_.size());
    }
    components_.resize(types_.size());
  }

 protected:
  bool Next(KernelContext& ctx) {
    // The handle tensor keeps the iterator alive.
    auto* iterator =
        dynamic_cast<IteratorResource*>(ctx.input(0).scalar<ResourceHandle>().resource.get());
    if (iterator == nullptr) throw InvalidArgument("the handle does not name an iterator");
    return iterator->Next(components_, types_, shapes_, ctx.cancellation());
  }

  const std::vector<DType> types_;
  const std::vector<PartialShape> shapes_;
  std::vector<Tensor> components_;
};

class ComponentsKernel : public GetNextKernel {
 public:
  using GetNextKernel::GetNextKernel;
  void Compute(KernelContext& ctx) override {
    if (!Next(ctx)) throw OutOfRange("End of sequence");
    for (size_t i = 0; i < components_.size(); ++i) {
      ctx.SetOutput(static_cast<int>(i), std::move(components_[i]));
    }
  }
};

class OptionalKernel : public GetNextKernel {
 public:
  using GetNextKernel::GetNextKernel;
  void Compute(KernelContext& ctx) override {
    OptionalValue value;
    if (Next(ctx)) {
      for (Tensor& component : components_) value.components.push_back(std::move(component));
    }
    ctx.SetOutput(0, Tensor::Scalar(Variant::Of(std::move(value))));
  }
};

void GraphDatasetOnly(KernelContext&) { throw Unimplemented("{}", kGraphDatasets); }

void ToStringKernel(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<std::string>() = ctx.input(0).scalar<ResourceHandle>().name;
}

void FromStringKernel(KernelContext& ctx) {
  const auto& name = ctx.input(0).scalar<std::string>();
  auto iterator = ctx.resources().Lookup<IteratorResource>(IteratorResource::kContainer, name);
  if (!iterator) throw NotFound("there is no iterator '{}'", name);
  ctx.SetOutput(0, HandleTo(name, std::move(iterator)));
}

}  // namespace

void RegisterIteratorCpu(KernelRegistry& registry) {
  for (const char* op : {"Iterator", "IteratorV2"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<HandleKernel>());
  }
  for (const char* op : {"IteratorGetNext", "IteratorGetNextSync"}) {
    registry.Add(KernelDef(op).OwnOutputs().Make<ComponentsKernel>());
  }
  for (const char* op : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    registry.Add(KernelDef(op).OwnOutputs().Function(FromStringKernel));
  }
  registry.Add(KernelDef("OneShotIterator").OwnOutputs().Function(GraphDatasetOnly));
  registry.Add(KernelDef("MakeIterator").Make<MakeKernel>());
  registry.Add(KernelDef("IteratorGetNextAsOptional").OwnOutputs().Make<OptionalKernel>());
  registry.Add(KernelDef("IteratorToStringHandle").Function(ToStringKernel));
}

}  // namespace sextant
