#include "sextant/device/kernel_registry.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace sextant {
namespace {

class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(void (*function)(KernelContext&)) : function_(function) {}
  void Compute(KernelContext& ctx) override { function_(ctx); }

 private:
  void (*const function_)(KernelContext&);
};

}  // namespace

KernelDef& KernelDef::Function(void (*function)(KernelContext&)) {
  factory_ = [function](KernelInit&) { return std::make_unique<FunctionKernel>(function); };
  return *this;
}

bool KernelDef::Accepts(const Node& node) const {
  return std::ranges::all_of(types_, [&](const auto& constraint) {
    const auto allowed = [&](DType t) {
      return std::ranges::find(constraint.second, RemoveRef(t)) != constraint.second.end();
    };
    const Attr* attr = node.FindAttr(constraint.first);
    if (attr == nullptr) return false;
    if (attr->Is<DType>()) return allowed(attr->Get<DType>());
    return attr->Is<std::vector<DType>>() &&
           std::ranges::all_of(attr->Get<std::vector<DType>>(), allowed);
  });
}

std::unique_ptr<Kernel> KernelDef::Create(const Node& node) const {
  try {
    KernelInit init(node);
    return factory_(init);
  } catch (const Error& e) {
    throw e.WithPrefix(fmt::format("[{} {}] ", node.type(), node.name()));
  } catch (const std::length_error&) {  // of a container larger than there can be
    throw ResourceExhausted("[{} {}] out of memory", node.type(), node.name());
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted("[{} {}] out of memory", node.type(), node.name());
  } catch (const std::exception& e) {
    throw Internal("[{} {}] {}", node.type(), node.name(), e.what());
  }
}

KernelRegistry& KernelRegistry::Global() {
  // Never destroyed: sessions in static variables may outlive it.
  static KernelRegistry* const registry = [] {
    auto* made = new KernelRegistry;
    RegisterAllKernels(*made);
    return made;
  }();
  return *registry;
}

void KernelRegistry::Add(KernelDef def) {
  std::unique_lock lock(mutex_);
  auto& list = kernels_[def.op()];
  list.push_back(std::make_unique<KernelDef>(std::move(def)));
}

const KernelDef* KernelRegistry::Find(const Node& node, std::string_view device_type) const {
  std::shared_lock lock(mutex_);
  const auto found = kernels_.find(node.type());
  if (found == kernels_.end()) return nullptr;
  for (const auto& def : found->second) {
    if (def->device_type() == device_type && def->Accepts(node)) return def.get();
  }
  return nullptr;
}

std::vector<const KernelDef*> KernelRegistry::All(std::string_view op) const {
  std::shared_lock lock(mutex_);
  std::vector<const KernelDef*> all;
  const auto found = kernels_.find(std::string(op));
  if (found == kernels_.end()) return all;
  for (const auto& def : found->second) all.push_back(def.get());
  return all;
}

}  // namespace sextant
