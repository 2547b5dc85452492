// TextLineReader, TFRecordReader, FixedLengthRecordReader, WholeFileReader, IdentityReader,
// ReaderRead: the readers of TensorFlow 1, which read records from files whose names are in a queue
// (ops/queue/queue.h).
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ReaderOptions {
  std::string name;  // of the node
  std::string container;
  std::string shared_name;  // nodes that give the same share one reader
};

struct SEXTANT_API FixedLengthRecordReaderOptions {
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;  // passed over at the start of each file
  int64_t footer_bytes = 0;  // not read at the end
  int64_t hop_bytes = 0;     // from one record's start to the next; 0: record_bytes
  std::string encoding;      // of the files: "", "ZLIB", "GZIP"
  ReaderOptions reader;
};
// Handles. What a record's key is stands behind each.
Output FixedLengthRecordReader(const FixedLengthRecordReaderOptions& options);  // "file:index"
Output TextLineReader(int64_t skip_header_lines = 0,
                      const ReaderOptions& options = {});  // "file:line", from 1
Output TFRecordReaderOp(const std::string& compression = "",
                        const ReaderOptions& options = {});  // "file:offset"
Output WholeFileReader(const ReaderOptions& options = {});   // "file"
Output IdentityReader(const ReaderOptions& options = {});    // the value: the queue's element

struct SEXTANT_API ReadRecord {
  Output key, value;  // strings
};
// The next record. Takes the next file's name from the queue when a file is at its end, waiting for
// one; OUT_OF_RANGE when the queue is closed and empty.
ReadRecord ReaderRead(Output reader, Output queue);
// At most num_records (int64) records, at least one, of one file.
ReadRecord ReaderReadUpTo(Output reader, Output queue, Output num_records);
// Records, and files, that were read to the end; int64.
Output ReaderNumRecordsProduced(Output reader);
Output ReaderNumWorkUnitsCompleted(Output reader);
// The reader as it was at first: the next read takes a new file.
Operation ReaderReset(Output reader);
// Where the reader stands, as a string, and back. Only readers of whole files can tell.
Output ReaderSerializeState(Output reader);
Operation ReaderRestoreState(Output reader, Output state);

}  // namespace sextant

#pragma GCC visibility pop
