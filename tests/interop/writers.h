// What interop-writer can write: one function per test. Each fills an existing, empty folder.
#pragma once

#include <string>

namespace sextant::interop {

void WriteCheckpoints(const std::string& folder);
void WriteEstimators(const std::string& folder);
void WriteEvents(const std::string& folder);
void WriteRecords(const std::string& folder);
void WriteSavedModels(const std::string& folder);
void WriteTrainings(const std::string& folder);

}  // namespace sextant::interop
