// For tests of frames in shared memory: values, and other processes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>

#include "sextant/base/child_process.h"
#include "sextant/tensor/tensor.h"

namespace sextant::dist {

inline Tensor Floats(int64_t count, float first) {
  Tensor tensor(DType::kFloat, {count});
  for (int64_t i = 0; i < count; ++i) tensor.data<float>()[i] = first + static_cast<float>(i % 97);
  return tensor;
}

// This test program, as another process that runs one of the tests below that are disabled.
inline ChildProcess StartOther(const std::string& test, const std::string& argument) {
  return ChildProcess({.arguments = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                     "--gtest_also_run_disabled_tests",
                                     "--gtest_filter=SharedFramesProcess.DISABLED_" + test},
                       .environment = {{"SHARED_FRAMES_TEST", argument}},
                       .input = Stream::kPipe,
                       .output = Stream::kPipe});
}
// The rest of the line that begins with "word".
inline std::string ReadAfter(ChildProcess& process, const std::string& word) {
  while (const auto line = process.ReadLine(std::chrono::seconds(60))) {
    if (line->starts_with(word)) return line->substr(word.size());
  }
  ADD_FAILURE() << "no line " << word;
  return "";
}
inline void WaitForInputToEnd() {
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

}  // namespace sextant::dist
