// Sorted string tables, the files in which checkpoints keep their index: keys with values in blocks
// of about 256 KB, each with a CRC, found through a block of the blocks' last keys. Keys are
// ordered by their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/function_ref.h"

namespace sextant {

namespace table_format {
inline constexpr uint64_t kMagic = 0xdb4775248b80fb57;  // the last 8 bytes
inline constexpr uint64_t kFooterSize = 48;
inline constexpr uint64_t kTrailerSize = 5;  // after each block: compression and masked CRC32C
inline constexpr char kPlain = 0;
inline constexpr char kSnappy = 1;

// Where a block lies, its trailer not counted.
struct Handle {
  uint64_t offset = 0;
  uint64_t size = 0;
};
}  // namespace table_format

// The entries of one block, the last of a run of them sharing the front of their keys.
class TableBlockBuilder {
 public:
  // Every `restart_interval`-th key is stored whole.
  explicit TableBlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}

  // REQUIRES: key > the last one.
  void Add(std::string_view key, std::string_view value);
  bool empty() const { return contents_.empty(); }
  // Bytes that Finish would return.
  size_t size() const { return contents_.size() + 4 * restarts_.size() + 4; }
  // The contents; the builder is empty afterwards.
  std::string Finish();

 private:
  const int restart_interval_;
  std::string contents_;
  std::string last_key_;
  std::vector<uint32_t> restarts_ = {0};
  int since_restart_ = 0;
};

// Writes a table to a file, uncompressed, byte for byte as TensorFlow does. Used by one thread.
class TableWriter {
 public:
  // `file` must outlive the writer.
  explicit TableWriter(FileWriter& file) : file_(file) {}

  // Throws INVALID_ARGUMENT unless key > the last one.
  void Add(std::string_view key, std::string_view value);
  // Writes what is left. Neither syncs nor closes the file.
  void Finish();

 private:
  using Handle = table_format::Handle;
  static std::string Encode(const Handle& handle);
  Handle WriteBlock(std::string contents);
  void FlushBlock();
  // Enters the last block flushed into the index under `key`.
  void EnterPending(std::string_view key);

  FileWriter& file_;
  uint64_t offset_ = 0;
  TableBlockBuilder data_{16};
  TableBlockBuilder index_{1};
  std::string last_key_;
  bool any_ = false;
  std::optional<Handle> pending_;
};

// Reads a table. Every block is checked when it is read. Throws DATA_LOSS with path and offset when
// the file is damaged or is no table. Thread-safe.
class TableReader {
 public:
  // Reads the index. `size` is that of the file.
  TableReader(std::unique_ptr<FileReader> file, uint64_t size);
  ~TableReader();

  // The value of a key.
  std::optional<std::string> Find(std::string_view key) const;
  // Calls fn for the entries from the first key >= `from` on, in order, until it returns false. The
  // views are valid during the call only.
  void Scan(std::string_view from,
            FunctionRef<bool(std::string_view key, std::string_view value)> fn) const;

  const std::string& path() const { return file_->path(); }

 private:
  class Cursor;
  struct Block;
  using Handle = table_format::Handle;
  struct IndexEntry {
    std::string last_key;  // or one between it and the first of the next block
    Handle handle;
  };

  Handle ParseHandle(std::string_view* src, uint64_t where) const;
  std::shared_ptr<const Block> ReadBlock(const Handle& handle) const;
  std::shared_ptr<const Block> CachedBlock(const Handle& handle) const;
  Error Damaged(uint64_t offset, std::string_view what) const;

  const std::unique_ptr<FileReader> file_;
  const uint64_t size_;
  std::vector<IndexEntry> index_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<uint64_t, std::shared_ptr<const Block>> blocks_;  // by offset
  mutable size_t cached_bytes_ = 0;
};

}  // namespace sextant
