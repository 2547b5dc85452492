#include "sextant/dist/shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::dist {
namespace {

constexpr size_t kHeadBytes = 64;  // the word, and room up to the alignment of frames
constexpr size_t kPageBytes = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

enum State : uint64_t { kFree = 0, kClaimed = 1, kWritten = 2, kTaken = 3 };
constexpr uint64_t kStateBits = 2, kStateMask = 3;

constexpr uint64_t Word(uint64_t frame, State state) { return frame << kStateBits | state; }

std::atomic<int> num_segments = 0;

void* MapShared(int fd, size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

SharedSegment::SharedSegment(void* memory, size_t bytes) : memory_(memory), bytes_(bytes) {
  ++num_segments;
}

SharedSegment::~SharedSegment() {
  munmap(memory_, bytes_);
  --num_segments;
}

SharedSegment::Made SharedSegment::Make(size_t frame_bytes) {
  const size_t bytes = (kHeadBytes + frame_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Descriptor descriptor(memfd_create("sextant-frame", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Memory is taken now: to find later that there is none would end the process.
  if (!descriptor.valid() || fallocate(descriptor.get(), 0, 0, static_cast<off_t>(bytes)) != 0 ||
      fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0)
    return {};
  void* memory = MapShared(descriptor.get(), bytes);
  if (memory == nullptr) return {};
  return {std::shared_ptr<SharedSegment>(new SharedSegment(memory, bytes)), std::move(descriptor)};
}

std::shared_ptr<SharedSegment> SharedSegment::Map(const Descriptor& descriptor) {
  struct stat info = {};
  const int seals = fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(descriptor.get(), &info) != 0 ||
      info.st_size < static_cast<off_t>(kPageBytes) ||
      info.st_size > static_cast<off_t>(kMostBytes + kPageBytes))
    return nullptr;
  const auto bytes = static_cast<size_t>(info.st_size);
  void* memory = MapShared(descriptor.get(), bytes);
  if (memory == nullptr) return nullptr;
  return std::shared_ptr<SharedSegment>(new SharedSegment(memory, bytes));
}

char* SharedSegment::data() const { return static_cast<char*>(memory_) + kHeadBytes; }
size_t SharedSegment::capacity() const { return bytes_ - kHeadBytes; }
int SharedSegment::num_mapped() { return num_segments; }

std::atomic_ref<uint64_t> SharedSegment::word() const {
  static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);
  return std::atomic_ref<uint64_t>(*static_cast<uint64_t*>(memory_));
}

bool SharedSegment::Claim() {
  uint64_t seen = word().load(std::memory_order_acquire);
  return (seen & kStateMask) == kFree &&
         word().compare_exchange_strong(seen, Word((seen >> kStateBits) + 1, kClaimed),
                                        std::memory_order_acquire);
}

uint64_t SharedSegment::Publish() {
  const uint64_t frame = word().load(std::memory_order_relaxed) >> kStateBits;
  word().store(Word(frame, kWritten), std::memory_order_release);
  return frame;
}

void SharedSegment::Withdraw(uint64_t frame) {
  uint64_t written = Word(frame, kWritten);
  word().compare_exchange_strong(written, Word(frame, kFree), std::memory_order_acq_rel);
}

bool SharedSegment::free() const {
  return (word().load(std::memory_order_acquire) & kStateMask) == kFree;
}

bool SharedSegment::Take(uint64_t frame) {
  uint64_t written = Word(frame, kWritten);
  return word().compare_exchange_strong(written, Word(frame, kTaken), std::memory_order_acq_rel);
}

void SharedSegment::Release(uint64_t frame) {
  uint64_t taken = Word(frame, kTaken);
  word().compare_exchange_strong(taken, Word(frame, kFree), std::memory_order_acq_rel);
}

}  // namespace sextant::dist
