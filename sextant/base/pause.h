// Pause: a breath between two looks at a value that another thread will change soon.
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
