// threaded-training MODEL_DIR STEPS: the small training on a thread of a program that has other
// work and handles signals by itself: SIGINT, SIGTERM and SIGHUP end the training, not the program.
#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "sextant/base/error.h"
#include "tests/faults/small_training.h"

namespace {

volatile sig_atomic_t signalled = 0;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: threaded-training MODEL_DIR STEPS\n");
    return 2;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    signal(number, [](int) { signalled = 1; });
  }
  const auto token = std::make_shared<sextant::CancellationToken>();
  sextant::Status status;
  std::atomic<bool> ended = false;
  std::thread training([&] {
    try {
      sextant::TrainSmallModel(argv[1], std::atoll(argv[2]), token);
    } catch (...) {
      status = sextant::CurrentStatus();
    }
    ended = true;
  });
  int64_t work = 0;
  while (!ended) {
    ++work;
    if (signalled) token->Cancel({sextant::Code::kCancelled, "stopped by its program"});
    std::this_thread::yield();
  }
  training.join();
  // The program is alive, whatever came.
  fmt::print("{}; went on\n", status.ok() ? "trained" : status.message());
  return work > 0 && (status.ok() || status.code() == sextant::Code::kCancelled) ? 0 : 1;
}
