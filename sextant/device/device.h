// Device: a place that holds tensors and runs kernels. All host devices share the memory and the
// thread team of the process.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/device_name.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class Device {
 public:
  explicit Device(DeviceName name) : name_(std::move(name)), full_name_(name_.ToString()) {}
  virtual ~Device() = default;

  // "/job:localhost/replica:0/task:0/device:CPU:0"
  const std::string& name() const { return full_name_; }
  const DeviceName& parsed_name() const { return name_; }
  // "CPU", "GPU": selects kernels.
  const std::string& type() const { return name_.type; }
  virtual Allocator& allocator() = 0;
  virtual int64_t memory_bytes() const = 0;
  // A tensor in host memory brought here, and the way back, for devices with memory of their own:
  // between host devices, the only ones there are, nothing needs them. Host devices share instead
  // of copying when the buffer outlives the step.
  virtual Tensor FromHost(const Tensor& value) = 0;
  virtual Tensor ToHost(const Tensor& value) = 0;
  // What the passes over a Plan's graph must know of the kernels (runtime/passes): channels to a
  // block of the layout in which convolutions work, 0 when there is none; and whether a float
  // product [rows, depth] x [depth, cols] of the second matrix as it lies can be added to another.
  virtual int64_t channel_block() const { return 0; }
  virtual bool SumsProducts(int64_t rows, int64_t cols, int64_t depth) const;
  // Waits until all that was queued has been done. Host devices have no queue.
  virtual void Synchronize() {}

 private:
  DeviceName name_;
  std::string full_name_;
};

// The task of a process that is in no cluster.
inline constexpr char kLocalTask[] = "/job:localhost/replica:0/task:0";

// "count" host devices /cpu:0 … /cpu:count-1 of a task.
std::vector<std::unique_ptr<Device>> MakeHostDevices(int count, std::string_view task = kLocalTask);

}  // namespace sextant
