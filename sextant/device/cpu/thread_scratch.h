// Scratch memory of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sextant/tensor/buffer.h"

namespace sextant {

// At least n elements, aligned as buffers are and not initialised. Valid until the thread
// asks again with the same Tag and type. Grows to the largest size asked for and stays, so that no
// run but the first allocates.
template <typename Tag, typename T>
T* ThreadScratch(int64_t elements) {
  thread_local BufferRef memory;
  const size_t bytes = static_cast<size_t>(elements) * sizeof(T);
  if (!memory || memory->size() < bytes) {
    memory = BufferRef();
    memory = NewBuffer(bytes);
  }
  return static_cast<T*>(memory->data());
}

}  // namespace sextant
