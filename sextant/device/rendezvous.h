// Rendezvous: how a tensor gets from a step on one device to a step on another, local or remote.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "sextant/base/cancellation.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Makes the value available under the key. Throws ALREADY_EXISTS when the key was sent before in
  // this step.
  virtual void Send(int64_t step_id, std::string_view key, Tensor value) = 0;
  // Takes the value, waiting for it until the token is cancelled (its deadline cancels it too):
  // then the error names the key that never came.
  virtual Tensor Receive(int64_t step_id, std::string_view key,
                         CancellationToken& cancellation) = 0;
  // Forgets what the step sent and nobody received.
  virtual void Clear(int64_t step_id) = 0;
};

// Between the devices of one process.
class LocalRendezvous : public Rendezvous {
 public:
  void Send(int64_t step_id, std::string_view key, Tensor value) override;
  Tensor Receive(int64_t step_id, std::string_view key, CancellationToken& cancellation) override;
  void Clear(int64_t step_id) override;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int64_t, std::string>, Tensor> values_;
};

// "src_device;dst_device;tensor_name"
std::string RendezvousKey(std::string_view source, std::string_view destination,
                          std::string_view tensor);

}  // namespace sextant
