// HashTableV2, InitializeTableV2, LookupTableFindV2, -Size, -Export, -Insert, -Import, -Remove:
// lookup tables, maps from keys to values that live in the session. A table from HashTableV2 is
// filled once, by InitializeTableV2 or from a text file; tables of mutable_hash_table.h change. All
// share the ops below.
#pragma once

#include <string>
#include <utility>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TableOptions {
  std::string name;         // of the node
  std::string container;    // tables of one name in different containers differ
  std::string shared_name;  // nodes that give the same share one table
};

// The handle of a table that is filled once.
Output HashTable(DType key_dtype, DType value_dtype, const TableOptions& options = {});
// table[keys[i]] = values[i], for good.
Operation InitializeTable(Output table, Output keys, Output values);

struct SEXTANT_API TextFileTableOptions {
  // -2: the whole line, -1: the line's number (int64), 0 and above: a column.
  int64_t key_index = -2;
  int64_t value_index = -1;
  int64_t vocab_size = -1;  // lines to read; -1: all
  std::string delimiter = "\t";
  int64_t offset = 0;  // added to line numbers
};
// Fills a table with an entry for each line of a file.
Operation InitializeTableFromTextFile(Output table, Output filename,
                                      const TextFileTableOptions& options = {});

// table[keys], or default_value (one value, or one for each key) where there is none.
Output LookupTableFind(Output table, Output keys, Output default_value);
// Number of entries, int64.
Output LookupTableSize(Output table);
// table[keys[i]] = values[i].
Operation LookupTableInsert(Output table, Output keys, Output values);
Operation LookupTableRemove(Output table, Output keys);
// (keys, values) of all entries.
std::pair<Output, Output> LookupTableExport(Output table, DType key_dtype, DType value_dtype);
// Replaces all entries.
Operation LookupTableImport(Output table, Output keys, Output values);

}  // namespace sextant

#pragma GCC visibility pop
