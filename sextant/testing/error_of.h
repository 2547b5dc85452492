// The error that a call throws.
#pragma once

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {

// Fails the test when nothing is thrown.
template <typename F>
Error ErrorOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Code::kOk, "");
}

}  // namespace sextant
