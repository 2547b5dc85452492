#include <unistd.h>

#include "sextant/device/cpu/gemm_local.h"
#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/device/device.h"

namespace sextant {
namespace {

class HostDevice : public Device {
 public:
  using Device::Device;

  Allocator& allocator() override { return HostAllocator(); }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  }
  int64_t channel_block() const override { return onednn::ChannelBlock(); }
  bool SumsProducts(int64_t rows, int64_t cols, int64_t depth) const override {
    return gemm::WorksInPlace<float>(rows, cols, depth, {nullptr, cols, 1});
  }
  Tensor FromHost(const Tensor& value) override { return value.Persistent(); }
  Tensor ToHost(const Tensor& value) override { return value.Persistent(); }
};

}  // namespace

bool Device::SumsProducts(int64_t, int64_t, int64_t) const { return false; }

SEXTANT_API std::vector<std::unique_ptr<Device>> MakeHostDevices(int count, std::string_view task) {
  std::vector<std::unique_ptr<Device>> devices;
  DeviceName name = DeviceName::Parse(task);
  name.type = "CPU";
  for (int i = 0; i < count; ++i) {
    name.index = i;
    devices.push_back(std::make_unique<HostDevice>(name));
  }
  return devices;
}

}  // namespace sextant
