// TableHandleKernel: gives the handle of a table of the session, created at its first use.
#pragma once

#include <memory>
#include <string>

#include "sextant/device/kernel.h"
#include "sextant/ops/lookup/lookup_table.h"

namespace sextant {

class TableHandleKernel : public Kernel {
 public:
  explicit TableHandleKernel(KernelInit& init);
  void Compute(KernelContext& ctx) override;

 protected:
  virtual std::shared_ptr<LookupTable> MakeTable(KernelContext& ctx) const = 0;
  DType key_dtype() const { return key_dtype_; }
  DType value_dtype() const { return value_dtype_; }

 private:
  // The table has its shared name, which other sessions of the task know it by; failing that it is
  // of this session and this node. One of an anonymous op belongs to its handle.
  const bool anonymous_;
  bool shared_ = false;
  const DType key_dtype_, value_dtype_;
  std::string container_, name_;
};

// The table whose handle is input 0; lives as long as the handle.
LookupTable& TableOf(KernelContext& ctx);

}  // namespace sextant
