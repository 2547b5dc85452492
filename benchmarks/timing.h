// How long work takes.
#pragma once

#include <chrono>

namespace sextant::bench {

template <typename F>
double Seconds(F&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sextant::bench
