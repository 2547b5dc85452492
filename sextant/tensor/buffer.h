// Buffer: a reference-counted block of memory aligned to 64 bytes, and Allocator, where blocks come
// from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

inline constexpr size_t kBufferAlignment = 64;

// Source of raw memory. Thread-safe.
class SEXTANT_API Allocator {
 public:
  virtual ~Allocator() = default;
  // Memory aligned to kBufferAlignment. Throws RESOURCE_EXHAUSTED when there is none or a limit is
  // met.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory, size_t bytes) = 0;
};

// Host memory without a limit.
Allocator& HostAllocator();

// A block and the count of those who hold it. Made by NewBuffer or by deriving from it.
class SEXTANT_API Buffer {
 public:
  Buffer(void* data, size_t size) : data_(data), size_(size) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }
  // A transient buffer is overwritten after the step that filled it (a Plan's arena): what outlives
  // the step must be copied, see Tensor::Persistent.
  bool transient() const { return transient_; }
  void set_transient(bool transient) { transient_ = transient; }

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {  // the last one frees it
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~Buffer() = default;

 private:
  void* const data_;
  const size_t size_;
  bool transient_ = false;
  std::atomic<int32_t> references_{1};
};

// Owning pointer to a Buffer.
class SEXTANT_API BufferRef {
 public:
  BufferRef() = default;
  // Takes over the reference of its creation.
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {}
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_) buffer_->Ref();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(const BufferRef& other) {  // NOLINT: Ref before Unref, so also of itself
    if (other.buffer_) other.buffer_->Ref();
    if (buffer_) buffer_->Unref();
    buffer_ = other.buffer_;
    return *this;
  }
  BufferRef& operator=(BufferRef&& other) noexcept {
    if (this != &other) {
      if (buffer_) buffer_->Unref();
      buffer_ = std::exchange(other.buffer_, nullptr);
    }
    return *this;
  }
  ~BufferRef() {
    if (buffer_) buffer_->Unref();
  }

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

// A buffer of raw bytes from "allocator", which must outlive it.
BufferRef NewBuffer(size_t bytes, Allocator& allocator = HostAllocator());

}  // namespace sextant

#pragma GCC visibility pop
