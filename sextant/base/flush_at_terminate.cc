#include "sextant/base/flush_at_terminate.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>

#include "sextant/base/exit_code.h"

namespace sextant {
namespace {

// A task of a cluster ends with a code that says why; others abort.
void ExitByCode() {
  if (!std::current_exception()) return;
  const Status status = CurrentStatus();
  const int code = ExitCodeOf(status, 0);
  if (code == 0) return;
  fmt::print(stderr, "terminate called: {}\n", status.message());
  std::fflush(stderr);
  ::_exit(code);
}

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
  ExitByCode();
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
