// SharedSegment: memory that two processes of a host see. One makes it and hands its descriptor to
// the other; it is freed when both have let go of it, however they end.
//
// A segment holds one frame at a time. A word in front of it says who may touch it, and the number
// of the frame, so that a late reader or writer finds another number:
//
//   free ── writer: Claim ──> claimed ── writer: Publish ──> written ── reader: Take ──> taken
//   free <── writer: Withdraw, of a frame that is written and not taken
//   free <── reader: Release, of a frame that it has taken
//
// Thread-safe as far as that order is kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sextant::dist {

// A file descriptor, closed with its object; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class SharedSegment {
 public:
  static constexpr size_t kMostBytes = size_t{9} << 27;  // room for a frame of 1 GiB, and an eighth

  struct Made {
    std::shared_ptr<SharedSegment> segment;  // null when the system has no memory for it
    Descriptor descriptor;                   // for the other process
  };
  // Memory for a frame of that size. Its size can no longer be changed by either end.
  static Made Make(size_t bytes);
  // One that another process has made; null for a descriptor that is no such memory, since what
  // could shrink would end this process when it is read, and for one that is too large.
  static std::shared_ptr<SharedSegment> Map(const Descriptor& descriptor);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  // Of the frame, aligned to 64 bytes.
  char* data() const;
  size_t capacity() const;

  // ---- the process that made it
  bool Claim();
  // Of the frame that has been written: its number.
  uint64_t Publish();
  void Withdraw(uint64_t frame);
  bool free() const;

  // ---- the other
  bool Take(uint64_t frame);
  void Release(uint64_t frame);

  // Of this process, mapped now; for tests.
  static int num_mapped();

 private:
  SharedSegment(void* memory, size_t bytes);
  std::atomic_ref<uint64_t> word() const;

  void* const memory_;
  const size_t bytes_;
};

}  // namespace sextant::dist
