// How log lines begin.
#pragma once

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

enum class LogFormat {
  kTime,        // "2026-01-31 10:20:30.123 I loss = 1.5, step = 0"
  kTensorFlow,  // "INFO:tensorflow:loss = 1.5, step = 0", as TensorFlow 1 writes them
};
// Of the whole process. Thread-safe.
void SetLogFormat(LogFormat format);

}  // namespace sextant

#pragma GCC visibility pop
