// RecordFiles: the common part of sources that yield one string per record: it reads a list of
// files one after another, saves, restores and seeks positions, and writes rows of batches in
// place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/data/dataset.h"

namespace sextant::data {

// An open file of records. Used by one thread at a time.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  // Points *record at the next record, valid until the next call, or returns false at the end.
  // Throws when the file is damaged; nothing is read from it after that but by Seek.
  virtual bool Next(std::string_view* record) = 0;
  // Where the next record begins in the (uncompressed) file.
  virtual uint64_t offset() const = 0;
  // To an offset() of this or another reader of the same file.
  virtual void Seek(uint64_t offset) = 0;
};

struct RecordFilesParams {
  std::string kind;   // "TFRecordFiles", for Describe
  std::string field;  // of the elements
  std::vector<std::string> patterns;
  std::string options;  // for Describe, e.g. ",skip=1"
  std::function<std::unique_ptr<RecordFile>(const std::string& path)> open;
  bool seekable = false;  // whether Seek costs little
  // Offsets at which records begin, about `bytes` apart, the first being the file's first record.
  // Null: files cannot be cut.
  std::function<std::vector<uint64_t>(const std::string& path, uint64_t bytes)> cut = {};
};
Dataset RecordFiles(RecordFilesParams params);

}  // namespace sextant::data
