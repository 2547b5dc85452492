// KernelRegistry: which kernels run an op, by device type and element types, fast ones first.
//
//   registry.Add(KernelDef("MatMul").Type<float>("T").Make<MatMulKernel<float>>());
#pragma once

#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/device/kernel.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API KernelDef {
 public:
  using Factory = std::function<std::unique_ptr<Kernel>(KernelInit&)>;  // makes one

  explicit KernelDef(std::string op) : op_(std::move(op)) {}

  KernelDef& On(std::string device_type) {  // "CPU" if not said
    device_type_ = std::move(device_type);
    return *this;
  }
  // The type attribute must be this (one of these). Without, any type is accepted.
  template <typename T>
  KernelDef& Type(const std::string& attr) {
    return Types(attr, {DTypeOf<T>});
  }
  KernelDef& Types(std::string attr, std::vector<DType> types) {
    types_.emplace_back(std::move(attr), std::move(types));
    return *this;
  }
  // Output may be written over the input: same number of bytes, and the kernel reads each element
  // before it writes that element.
  KernelDef& InPlace(int output, int input) {
    in_place_.emplace_back(output, input);
    return *this;
  }
  // The output shares the input's buffer (ForwardInput).
  KernelDef& Alias(int output, int input) {
    alias_.emplace_back(output, input);
    return *this;
  }
  // The kernel provides its outputs itself (SetOutput): the Plan prepares no memory for them.
  KernelDef& OwnOutputs() {
    own_outputs_ = true;
    return *this;
  }
  // Compute may wait (KernelContext::wait) for what another step of the same Run does, as a dequeue
  // waits for an enqueue: steps that do not depend on it run meanwhile.
  KernelDef& MayBlock() {
    may_block_ = true;
    return *this;
  }

  template <typename K>  // K is constructed from a KernelInit
  KernelDef& Make() {
    factory_ = [](KernelInit& init) { return std::make_unique<K>(init); };
    return *this;
  }
  KernelDef& Make(Factory factory) {  // how a kernel is made
    factory_ = std::move(factory);
    return *this;
  }
  // A kernel without state.
  KernelDef& Function(void (*function)(KernelContext&));

  const std::string& op() const { return op_; }
  const std::string& device_type() const { return device_type_; }
  const std::vector<std::pair<std::string, std::vector<DType>>>& types() const { return types_; }
  const std::vector<std::pair<int, int>>& in_place() const { return in_place_; }
  const std::vector<std::pair<int, int>>& alias() const { return alias_; }
  bool own_outputs() const { return own_outputs_; }
  bool may_block() const { return may_block_; }
  // Whether the node's type attributes fit.
  bool Accepts(const Node& node) const;
  std::unique_ptr<Kernel> Create(const Node& node) const;

 private:
  std::string op_, device_type_ = "CPU";
  std::vector<std::pair<std::string, std::vector<DType>>> types_;
  std::vector<std::pair<int, int>> in_place_, alias_;
  bool own_outputs_ = false, may_block_ = false;
  Factory factory_;
};

class SEXTANT_API KernelRegistry {
 public:
  // The registry sessions use; its first use registers the kernels of the library
  // (RegisterAllKernels).
  static KernelRegistry& Global();

  void Add(KernelDef def);  // of several that accept a node the first is taken
  // The first registered kernel that accepts the node on devices of this type, or null.
  const KernelDef* Find(const Node& node, std::string_view device_type) const;
  // All kernels of an op, in the order of registration.
  std::vector<const KernelDef*> All(std::string_view op) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::vector<std::unique_ptr<KernelDef>>> kernels_;
};

// Registers the kernels of every family; generated from the families that the build names.
void RegisterAllKernels(KernelRegistry& registry);

// Calls f.template operator()<T>() for each T:
//   ForTypes<float, double>([&]<typename T>() { registry.Add(KernelDef("Neg").Type<T>("T")...); });
template <typename... Ts, typename F>
void ForTypes(F&& f) {
  (f.template operator()<Ts>(), ...);
}

}  // namespace sextant

#pragma GCC visibility pop
