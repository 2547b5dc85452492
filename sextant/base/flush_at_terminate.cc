#include "sextant/base/flush_at_terminate.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>

namespace sextant {
namespace {

struct Flushes {
  std::mutex mutex;
  std::map<const FlushAtTerminate*, std::function<void()>> functions;
  std::terminate_handler before = nullptr;
};

Flushes& TheFlushes() {
  static Flushes& flushes = *new Flushes;  // needed until the very end
  return flushes;
}

void OnTerminate() {
  Flushes& flushes = TheFlushes();
  std::fflush(stdout);
  try {
    std::cout.flush();
    const std::unique_lock lock(flushes.mutex, std::try_to_lock);
    if (lock) {
      for (const auto& [owner, flush] : flushes.functions) flush();
    }
  } catch (...) {  // the program ends by another error
  }
  if (flushes.before != nullptr) flushes.before();
  std::abort();
}

}  // namespace

FlushAtTerminate::FlushAtTerminate(std::function<void()> flush) {
  InstallFlushAtTerminate();
  const std::lock_guard lock(TheFlushes().mutex);
  TheFlushes().functions.emplace(this, std::move(flush));
}

FlushAtTerminate::~FlushAtTerminate() {
  const std::lock_guard lock(TheFlushes().mutex);
  TheFlushes().functions.erase(this);
}

void InstallFlushAtTerminate() {
  static std::once_flag once;
  std::call_once(once, [] { TheFlushes().before = std::set_terminate(OnTerminate); });
}

}  // namespace sextant
