// Arguments from files: `--flagfile FILE` holds flags, one a line; `--config FILE` is a JSON object
// of them. What stands on the command line goes before both.
#pragma once

#include <string>
#include <vector>

namespace sextant::cli {

// Puts the arguments of such files in front of the others, those of --config first. A flag file has
// lines "--name=value", "--name value" or "--switch"; empty lines and those that begin with # are
// passed over, and it may name further ones. In JSON a list gives its numbers with commas between,
// or its texts one by one. Throws NOT_FOUND for a file that is not there, INVALID_ARGUMENT, with
// the file and the line, for one that is not such a file.
void ExpandArgumentFiles(std::vector<std::string>& arguments);

}  // namespace sextant::cli
