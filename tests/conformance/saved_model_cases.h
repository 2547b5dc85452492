// SavedModels of a golden folder with the answers TensorFlow gave.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// Runs every case of every NAME.answers.json below the folder, whose model is NAME, and of every
// answers.json, whose model is the folder it is in; compares the description of the model with
// NAME.show.txt, the names of ops as a set. Prints one line per failure.
Counts RunSavedModelCases(const std::string& directory, const std::string& filter);

}  // namespace sextant::conformance
