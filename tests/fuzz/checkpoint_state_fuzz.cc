// libFuzzer target: bytes are read as the text of a `checkpoint` file. A finding is a memory error,
// an error other than INVALID_ARGUMENT, or a state that is another one after writing and reading.
#include <string>

#include "sextant/base/error.h"
#include "sextant/formats/checkpoint_state.h"
#include "tests/fuzz/finding.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sextant::fuzz::Report;
  try {
    sextant::CheckpointState state =
        sextant::ParseCheckpointState({reinterpret_cast<const char*>(data), size});
    state.timestamps.clear();  // there may be fewer than checkpoints
    const sextant::CheckpointState again =
        sextant::ParseCheckpointState(sextant::CheckpointStateText(state));
    if (again.latest != state.latest || again.all != state.all) Report("another state");
  } catch (const sextant::Error& e) {
    if (e.code() != sextant::Code::kInvalidArgument) Report(e.what());
  }
  return 0;
}
