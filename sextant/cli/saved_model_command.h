// `sextant saved-model show|run|scan`: what a SavedModel holds, and running one, as TensorFlow's
// saved_model_cli does.
#pragma once

#include <iosfwd>
#include <string>

#include "sextant/cli/command.h"
#include "sextant/cli/saved_model_inputs.h"

namespace sextant::cli {

void AddSavedModelCommand(Command& program);

struct SavedModelRunOptions {
  std::string directory, tags, signature;
  InputTexts inputs;
  std::string output_directory;  // writes KEY.npy there when it is not empty
  bool overwrite = false;
};
// Prints every output, sorted by key. Throws INVALID_ARGUMENT on inputs that do not fit, naming the
// valid keys, ALREADY_EXISTS on an output file that is there.
void RunSavedModel(const SavedModelRunOptions& options, std::ostream& out);

}  // namespace sextant::cli
