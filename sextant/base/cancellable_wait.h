// Waits that end when the work they belong to is cancelled: for a time, or for bytes of a pipe.
//
// Code that reads a file knows nothing of who asked for it. So the thread that works for a caller
// says whose token counts, and waits far below find it:
//
//   const CancellationScope scope(&token);
//   reader->Read(dst);          // of a pipe: throws CANCELLED when the token is cancelled
#pragma once

#include <chrono>

#include "sextant/base/cancellation.h"

namespace sextant {

// The token of what this thread works on, until the scope ends: the innermost counts.
class CancellationScope {
 public:
  // Null: the waits inside cannot be cancelled.
  explicit CancellationScope(CancellationToken* token) : outer_(current_) { current_ = token; }
  ~CancellationScope() { current_ = outer_; }
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

  static CancellationToken* Current() { return current_; }
  static void ThrowIfCancelled() {
    if (current_ != nullptr) current_->ThrowIfCancelled();
  }

 private:
  static thread_local constinit CancellationToken* current_;
  CancellationToken* const outer_;
};

// Returns at that time, or throws the token's error as soon as it is cancelled. No token: only
// waits.
void SleepUntil(std::chrono::steady_clock::time_point time, CancellationToken* token);

// Returns when a read of the descriptor would not block: bytes, its end or an error are there.
// Throws when the token of the current scope is cancelled before.
void WaitReadable(int descriptor);

}  // namespace sextant
