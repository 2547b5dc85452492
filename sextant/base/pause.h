// Pause: the spin-wait hint (x86 PAUSE), for loops that poll a value another thread will change
// soon.
#pragma once

#include <thread>

namespace sextant {

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace sextant
