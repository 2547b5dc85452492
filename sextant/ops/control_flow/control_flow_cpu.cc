#include "sextant/device/kernel_registry.h"

namespace sextant {

namespace {

class AbortKernel : public Kernel {
 public:
  explicit AbortKernel(KernelInit& init)
      : message_(init.attr<std::string>("error_msg")),
        quiet_(init.attr<bool>("exit_without_error")) {}
  void Compute(KernelContext&) override {
    if (!quiet_) throw Error(Code::kAborted, message_.empty() ? "aborted by the graph" : message_);
  }

 private:
  const std::string message_;
  const bool quiet_;
};

}  // namespace

void RegisterControlFlowCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("NoOp").Function([](KernelContext&) {}));
  registry.Add(KernelDef("ControlTrigger").Function([](KernelContext&) {}));
  registry.Add(KernelDef("Abort").Make<AbortKernel>());
}

}  // namespace sextant
