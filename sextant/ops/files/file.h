// ReadFile, WriteFile, MatchingFiles, ShardedFilename, ShardedFilespec: whole files as strings,
// names of files.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The content of a file.
Output ReadFile(Output filename);
// Writes a file and creates the directories it is in.
Operation WriteFile(Output filename, Output contents);
// The sorted names of the files that match a pattern or one of a vector of patterns: * and ? and
// [a-c], between slashes.
Output MatchingFiles(Output pattern);
// "basename-00003-of-00010"
Output ShardedFilename(Output basename, Output shard, Output num_shards);
// "basename-?????-of-00010", the pattern of all shards
Output ShardedFilespec(Output basename, Output num_shards);

}  // namespace sextant

#pragma GCC visibility pop
