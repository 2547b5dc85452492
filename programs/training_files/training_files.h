// Which files of a directory a training wrote, so that nothing else is deleted with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace programs {

// Patterns of whole names: # stands for digits, * for any characters, in a name and below it.
using FilePatterns = std::vector<std::string_view>;

// Checkpoints, their state file and event files.
const FilePatterns& CheckpointsAndEvents();

// The first file below the directory, as "eval/notes.txt", that matches no pattern and is not what
// a killed writer left of one; a directory without entries is "empty/". "": there is none.
std::string FirstForeignFile(const std::string& directory, const FilePatterns& patterns);

}  // namespace programs
