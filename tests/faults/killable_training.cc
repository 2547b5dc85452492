// killable-training MODEL_DIR STEPS: the small training, as a program that signals stop. Run again
// after a kill, it goes on.
#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "tests/faults/small_training.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: killable-training MODEL_DIR STEPS\n");
    return 2;
  }
  const sextant::InterruptScope signals;
  try {
    sextant::TrainSmallModel(argv[1], std::atoll(argv[2]), signals.token());
    return 0;
  } catch (const sextant::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return sextant::Interrupted() ? sextant::ExitCodeOfSignal(sextant::InterruptSignal()) : 1;
  }
}
