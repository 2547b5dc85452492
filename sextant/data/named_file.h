// Files of named datasets, as `sextant data` writes them.
#pragma once

#include <string>

namespace sextant::data {

// folder/file; a folder "" stands for $SEXTANT_DATA/name or, without that, data/name. NOT_FOUND,
// with the command that makes it, when there is no such file.
std::string NamedFile(const std::string& name, const std::string& folder, const std::string& file);

}  // namespace sextant::data
