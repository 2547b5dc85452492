// The status that a call ends with.
#pragma once

#include "sextant/base/error.h"

namespace sextant {

// OK when nothing is thrown.
template <typename F>
Status StatusOf(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.status();
  }
  return Status();
}

}  // namespace sextant
