// CancellableLoop: for loops that may read many elements of their input before they give one.
//
//   const CancellableLoop loop;
//   while (count < skipped) {
//     loop.Turn();                         // throws when the iteration was cancelled
//     if (!input->Next(element)) return false;
#pragma once

#include "sextant/base/cancellable_wait.h"

namespace sextant::data {

class CancellableLoop {
 public:
  // One load and a branch: the token of the thread (Iterator and Workers set it) is looked up once.
  void Turn() const {
    if (token_ != nullptr) token_->ThrowIfCancelled();
  }

 private:
  const CancellationToken* const token_ = CancellationScope::Current();
};

}  // namespace sextant::data
