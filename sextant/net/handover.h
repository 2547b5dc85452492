// Handover: what was done before Give is done for whoever calls Take. gRPC passes calls from thread
// to thread with locks of its own; ThreadSanitizer does not see them, because Debian's library is
// built without it. So they are said once more, in terms of the language.
#pragma once

#include <atomic>
#include <cstdint>

namespace sextant::net {

class Handover {
 public:
  // Adds, so that what several have given is taken together.
  void Give() const { given_.fetch_add(1, std::memory_order_release); }
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  mutable std::atomic<uint32_t> given_ = 0;
};

}  // namespace sextant::net
