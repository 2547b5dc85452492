#include <unistd.h>

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
  Tensor FromHost(const Tensor& value) override { return value.Persistent(); }
  Tensor ToHost(const Tensor& value) override { return value.Persistent(); }
};

}  // namespace

std::vector<std::unique_ptr<Device>> MakeHostDevices(int count) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back(std::make_unique<HostDevice>(
        DeviceName{.job = "localhost", .replica = 0, .task = 0, .type = "CPU", .index = i}));
  }
  return devices;
}

}  // namespace sextant
