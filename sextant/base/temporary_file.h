// Names of temporary files beside the files that they become, and what is done about those that a
// killed writer left.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

class FileSystem;

// "<path>.tmp-<process space>-<process>-<number>", never the same twice. Processes that can see
// each other by their numbers have the same space: a machine, from one start to the next, or a
// container.
std::string TemporaryName(std::string_view path);

// Deletes temporary files and directories in the directory whose names begin with `base` and whose
// writers are dead: processes of this space that are no more, and those of other spaces that wrote
// nothing for a day. A file that cannot be deleted is left.
void DeleteStaleTemporaries(FileSystem& files, const std::string& directory, std::string_view base);

}  // namespace sextant
