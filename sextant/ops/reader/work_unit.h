// WorkUnit: the records of one file, or of whatever else a reader takes a name for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sextant/formats/compression.h"

namespace sextant {

// Used by one thread at a time.
class WorkUnit {
 public:
  virtual ~WorkUnit() = default;
  // The next record, or false at the end. Throws what the file system throws, and DATA_LOSS.
  virtual bool Next(std::string* key, std::string* value) = 0;
  // Whether it is known, without another Next, that there is no more.
  virtual bool done() const { return false; }
};

using OpenWorkUnit = std::function<std::unique_ptr<WorkUnit>(const std::string& name)>;

struct FixedLengthFormat {
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;  // 0: record_bytes
  Compression compression = Compression::kNone;
};
// Throws INVALID_ARGUMENT when a size is out of range.
OpenWorkUnit FixedLengthRecords(const FixedLengthFormat& format);
OpenWorkUnit TextLines(int64_t skip_header_lines);
OpenWorkUnit TFRecords(Compression compression);
OpenWorkUnit WholeFiles();
OpenWorkUnit Names();

}  // namespace sextant
