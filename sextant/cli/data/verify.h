// `sextant data verify`: reads record files from end to end and checks every checksum.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace sextant::cli {

// One line per file: "<file>: 40000 records, 123480000 bytes, GZIP", or what is wrong, at which
// offset of the (uncompressed) records, and how many whole ones are before. True when all are
// whole. A file that cannot be read counts as damaged; the others are read all the same.
bool VerifyRecordFiles(const std::vector<std::string>& paths, std::ostream& out);

}  // namespace sextant::cli
