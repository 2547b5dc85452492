// The most bytes that are taken into memory at once, whatever a file holds: beyond them readers
// throw RESOURCE_EXHAUSTED, naming the file, instead of filling the memory. A memory limit, such as
// a session's, moves them; code that reads finds them as it finds its CancellationScope:
//
//   const InputLimitsScope scope(options.memory_limit);
//   if (line.size() > InputLimits::Current().line) throw ResourceExhausted(…);
#pragma once

#include <cstdint>

namespace sextant {

struct InputLimits {
  uint64_t file = uint64_t{2} << 30;  // read whole (FileSystem::ReadFile); as protobuf's messages
  uint64_t stream = uint64_t{256} << 20;  // the same of a pipe or device, whose length is not known
  uint64_t line = uint64_t{64} << 20;     // of text, a row of CSV
  uint64_t record = uint64_t{2} << 30;    // of a TFRecord file, or of fixed length
  uint64_t batch = uint64_t{2} << 30;     // the tensors of a batch
  uint64_t shuffle = uint64_t{4} << 30;   // the elements in the buffer of a Shuffle

  // Nothing is longer than the memory limit; files, records, batches and shuffle
  // buffers may be as long, streams an
  // eighth and lines a 32nd of it, where that is more than above. 0 or less: those above.
  static InputLimits Of(int64_t memory_limit);
  // Of the innermost scope of this thread; those above where there is none.
  static const InputLimits& Current();
};

// The limits of what this thread reads until the scope ends. Threads that work for it open a scope
// with its limits.
class InputLimitsScope {
 public:
  explicit InputLimitsScope(const InputLimits& limits);
  // 0 or less: the limits of the scope outside stay.
  explicit InputLimitsScope(int64_t memory_limit);
  ~InputLimitsScope();
  InputLimitsScope(const InputLimitsScope&) = delete;
  InputLimitsScope& operator=(const InputLimitsScope&) = delete;

 private:
  const InputLimits outer_;
};

}  // namespace sextant
