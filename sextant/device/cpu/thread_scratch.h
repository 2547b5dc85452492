// Scratch memory of the calling thread.
#pragma once

#include <cstddef>

#include "sextant/tensor/buffer.h"

namespace sextant {

// At least so many bytes, aligned as buffers are; theirs whoever asks next with the same Tag. Grows
// to the largest size asked for and stays, so that no run but the first allocates.
template <typename Tag>
void* ThreadScratch(size_t bytes) {
  thread_local BufferRef memory;
  if (!memory || memory->size() < bytes) {
    memory = BufferRef();
    memory = NewBuffer(bytes);
  }
  return memory->data();
}

}  // namespace sextant
