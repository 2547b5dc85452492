// Sources: datasets that read files.
//
// A file may be given by its path or by a pattern (*, ?, [a-c]); files are read in the order given,
// those of a pattern in the order of their names. They are listed when an iterator is made:
// NOT_FOUND names a path or pattern without a file. To read many at once, interleave them:
//
//   Files({"train-*.tfrecords"}).Interleave([](const Element& e) {
//     return TFRecordFiles({e["file"].scalar<std::string>()});
//   });
//
// Errors name the file and the offset or the line. After damage in a file of records reading goes
// on with the next file; after a bad row of a CSV file with the next row. A saved position is the
// file and the offset; restoring seeks there (in compressed files by reading up to it) and throws
// FAILED_PRECONDITION when the list of files has become another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/data/dataset.h"
#include "sextant/formats/compression.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// The paths themselves, in field "file".
Dataset Files(const std::vector<std::string>& patterns);

struct SEXTANT_API TFRecordOptions {
  Compression compression = Compression::kNone;
};
// The records of TFRecord files, in field "record".
Dataset TFRecordFiles(const std::vector<std::string>& files, const TFRecordOptions& options = {});

struct SEXTANT_API TextLineOptions {
  int64_t skip = 0;  // lines at the start of every file
  Compression compression = Compression::kNone;
};
// Lines without their ends ("\n" or "\r\n"), in field "line"; a byte order mark before the first
// one of a file is no part of it.
Dataset TextLines(const std::vector<std::string>& files, const TextLineOptions& options = {});

struct SEXTANT_API FixedLengthOptions {
  int64_t record = 0;  // bytes of each
  int64_t header = 0;  // bytes before the first
  int64_t footer = 0;  // bytes behind the last
  Compression compression = Compression::kNone;
};
// Records of one length, in field "record". DATA_LOSS when a file does not hold a whole number.
Dataset FixedLengthRecords(const std::vector<std::string>& files,
                           const FixedLengthOptions& options);

struct SEXTANT_API CsvColumn {
  std::string name;                          // of the column
  DType dtype = DType::kString;              // or kInt32, kInt64, kFloat, kDouble
  std::optional<Tensor> default_value = {};  // of empty fields; none: they are an error
};
struct SEXTANT_API CsvFileOptions {
  // All columns of the files from left to right; with a header, those wanted, by their names.
  std::vector<CsvColumn> columns;
  std::vector<std::string> select = {};  // the columns wanted; empty: all
  bool header = false;                   // the first line of every file names its columns
  char delimiter = ',';
  bool quotes = true;         // see formats/csv.h
  std::string na_value = {};  // a field like this counts as empty
  Compression compression = Compression::kNone;
};
// One element per row, a field per column. Empty lines are skipped. Before a
// Batch, rows are parsed straight into its buffers.
Dataset Csv(const std::vector<std::string>& files, const CsvFileOptions& options);

// The columns of a CSV text in field "line", a string or a batch of them, as of a file without a
// header.
Dataset ParseCsv(const Dataset& lines, const CsvFileOptions& options);

}  // namespace sextant::data

#pragma GCC visibility pop
