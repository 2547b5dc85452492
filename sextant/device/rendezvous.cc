#include "sextant/device/rendezvous.h"

#include "sextant/base/error.h"

namespace sextant {

void LocalRendezvous::Send(int64_t step_id, std::string_view key, Tensor value) {
  {
    std::lock_guard lock(mutex_);
    const bool is_new = values_.try_emplace({step_id, std::string(key)}, value.Persistent()).second;
    if (!is_new) throw AlreadyExists("tensor '{}' was sent twice in step {}", key, step_id);
  }
  arrived_.notify_all();
}

Tensor LocalRendezvous::Receive(int64_t step_id, std::string_view key,
                                CancellationToken& cancellation) {
  const std::pair<int64_t, std::string> wanted(step_id, key);
  // Taking the lock before notifying makes sure that no waiter is between its test and its sleep.
  const auto registration = cancellation.OnCancel([this] {
    { std::lock_guard lock(mutex_); }
    arrived_.notify_all();
  });
  std::unique_lock lock(mutex_);
  auto found = values_.end();
  arrived_.wait(lock, [&] {
    found = values_.find(wanted);
    return found != values_.end() || cancellation.cancelled();
  });
  if (found == values_.end()) {
    const Status status = cancellation.status();
    throw Error(status.code(), fmt::format("tensor '{}' of step {} did not arrive: {}", key,
                                           step_id, status.message()));
  }
  Tensor value = std::move(found->second);
  values_.erase(found);
  return value;
}

void LocalRendezvous::Clear(int64_t step_id) {
  std::lock_guard lock(mutex_);
  auto it = values_.lower_bound({step_id, std::string()});
  while (it != values_.end() && it->first.first == step_id) it = values_.erase(it);
}

std::string RendezvousKey(std::string_view source, std::string_view destination,
                          std::string_view tensor) {
  return fmt::format("{};{};{}", source, destination, tensor);
}

}  // namespace sextant
