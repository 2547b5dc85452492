// Looks up keys of a sorted string table (table_writer.cc says how it is laid out).
//
// Opening reads the footer, the last 48 bytes, and through it the index block, which stays in
// memory as a sorted vector. A look-up of k takes two searches:
//
//   1. by bisection in the index: the first entry with a key >= k names the only block that can
//      hold k, because every index key is >= all keys of its block and < those of the next;
//   2. in that block: by bisection over the restarts, whose keys are whole, for the last one < k,
//      then entry by entry, each key made of the one before and its own rest.
//
// Example: index {"b": block 0, "f": block 1}, k = "c". "f" is the first >= "c"; block 1 is
// searched and found to begin with "d": the table has no "c".
//
// A file may be damaged anywhere, or be made to mislead. So nothing read from it is used before it
// is checked: a block's checksum before its contents, positions and lengths against the size of the
// file or of the block, the size that compressed data claims before memory is taken, the order of
// keys while they are walked over. What is wrong is a DATA_LOSS with the path and the offset, never
// an access outside a buffer.
#include <snappy.h>

#include <algorithm>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/formats/table.h"

namespace sextant {
namespace {

using namespace table_format;  // NOLINT: five constants
constexpr size_t kCacheBytes = size_t{24} << 20;
constexpr uint64_t kMaxExpansion = 32;  // Snappy's best is 64 bytes from 3

}  // namespace

struct TableReader::Block {
  std::string contents;
  uint64_t offset = 0;  // in the file, for messages
  uint32_t num_restarts = 0;
  size_t entries_end = 0;

  uint32_t restart(uint32_t i) const {
    return DecodeFixed32(contents.data() + entries_end + size_t{4} * i);
  }
};

// Walks over the entries of a block.
class TableReader::Cursor {
 public:
  Cursor(const TableReader& table, const Block& block) : table_(table), block_(block) {}

  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  bool Next() {
    if (next_ >= block_.entries_end) return false;
    std::string_view rest =
        std::string_view(block_.contents).substr(next_, block_.entries_end - next_);
    const size_t available = rest.size();
    uint32_t shared, unshared, value_size;
    if (!GetVarint32(&rest, &shared) || !GetVarint32(&rest, &unshared) ||
        !GetVarint32(&rest, &value_size) || shared > key_.size() ||
        uint64_t{unshared} + value_size > rest.size()) {
      throw table_.Damaged(block_.offset, fmt::format("bad entry {} bytes into the block", next_));
    }
    key_.resize(shared);
    key_.append(rest.substr(0, unshared));
    value_ = rest.substr(unshared, value_size);
    next_ += available - rest.size() + unshared + value_size;
    return true;
  }

  // Moves to the first entry with a key >= target and returns whether there is one.
  bool Seek(std::string_view target) {
    uint32_t low = 0, high = block_.num_restarts - 1;  // the last restart with a key < target
    while (low < high) {
      const uint32_t middle = low + (high - low + 1) / 2;
      if (ToRestart(middle) && key_ < target) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    for (bool more = ToRestart(low); more; more = Next()) {
      if (key_ >= target) return true;
    }
    return false;
  }

 private:
  bool ToRestart(uint32_t i) {
    next_ = block_.restart(i);
    key_.clear();
    return Next();
  }

  const TableReader& table_;
  const Block& block_;
  size_t next_ = 0;
  std::string key_;
  std::string_view value_;
};

TableReader::TableReader(std::unique_ptr<FileReader> file, uint64_t size)
    : file_(std::move(file)), size_(size) {
  if (size_ < kFooterSize) {
    throw Damaged(0, fmt::format("{} bytes are too few for a table", size_));
  }
  const uint64_t footer_offset = size_ - kFooterSize;
  char footer[kFooterSize];
  try {
    file_->ReadExactlyAt(footer_offset, footer);
  } catch (const Error& e) {  // the file has become shorter
    if (e.code() != Code::kOutOfRange) throw;
    throw Damaged(footer_offset, "the footer is cut off");
  }
  if (DecodeFixed64(footer + kFooterSize - 8) != kMagic) {
    throw Damaged(size_ - 8, "not a table (bad magic number)");
  }
  std::string_view rest(footer, kFooterSize - 8);
  ParseHandle(&rest, footer_offset);  // of the metaindex, which is empty
  const std::shared_ptr<const Block> index = ReadBlock(ParseHandle(&rest, footer_offset));
  Cursor cursor(*this, *index);
  while (cursor.Next()) {
    if (!index_.empty() && cursor.key() < index_.back().last_key) {
      throw Damaged(index->offset, "keys are not in order");
    }
    std::string_view value = cursor.value();
    index_.push_back({std::string(cursor.key()), ParseHandle(&value, index->offset)});
  }
}

TableReader::~TableReader() = default;

Error TableReader::Damaged(uint64_t offset, std::string_view what) const {
  return DataLoss("{}: damaged at offset {}: {}", file_->path(), offset, what);
}

TableReader::Handle TableReader::ParseHandle(std::string_view* src, uint64_t where) const {
  Handle handle;
  const uint64_t end = size_ - kFooterSize;
  if (!GetVarint64(src, &handle.offset) || !GetVarint64(src, &handle.size) || handle.offset > end ||
      handle.size > end - handle.offset || end - handle.offset - handle.size < kTrailerSize) {
    throw Damaged(where, "the position of a block is not inside the file");
  }
  return handle;
}

std::shared_ptr<const TableReader::Block> TableReader::ReadBlock(const Handle& handle) const {
  auto block = std::make_shared<Block>();
  block->offset = handle.offset;
  std::string& contents = block->contents;
  contents.resize(handle.size + kTrailerSize);
  try {
    file_->ReadExactlyAt(handle.offset, contents);
  } catch (const Error& e) {  // the file has become shorter
    if (e.code() != Code::kOutOfRange) throw;
    throw Damaged(handle.offset, "the file ends inside a block");
  }
  const std::string_view checked = std::string_view(contents).substr(0, handle.size + 1);
  if (MaskedCrc32c(checked) != DecodeFixed32(contents.data() + handle.size + 1)) {
    throw Damaged(handle.offset,
                  fmt::format("a block of {} bytes does not match its checksum", handle.size));
  }
  const char type = contents[handle.size];
  contents.resize(handle.size);
  if (type == kSnappy) {
    size_t length = 0;
    std::string plain;
    if (!snappy::GetUncompressedLength(contents.data(), contents.size(), &length) ||
        length > kMaxExpansion * contents.size() || length > size_ + kCacheBytes ||
        !snappy::Uncompress(contents.data(), contents.size(), &plain)) {
      throw Damaged(handle.offset, "a block is not valid Snappy data");
    }
    contents = std::move(plain);
  } else if (type != kPlain) {
    throw Damaged(handle.offset, fmt::format("unknown compression {} of a block", int{type}));
  }

  if (contents.size() < 4) throw Damaged(handle.offset, "a block is too short");
  block->num_restarts = DecodeFixed32(contents.data() + contents.size() - 4);
  const uint64_t restarts_bytes = uint64_t{4} * block->num_restarts + 4;
  if (block->num_restarts == 0 || restarts_bytes > contents.size()) {
    throw Damaged(handle.offset, "a block has a wrong number of restarts");
  }
  block->entries_end = contents.size() - restarts_bytes;
  return block;
}

std::shared_ptr<const TableReader::Block> TableReader::CachedBlock(const Handle& handle) const {
  {
    std::lock_guard lock(mutex_);
    const auto it = blocks_.find(handle.offset);
    if (it != blocks_.end()) return it->second;
  }
  std::shared_ptr<const Block> block = ReadBlock(handle);
  std::lock_guard lock(mutex_);
  if (cached_bytes_ + block->contents.size() > kCacheBytes) {
    blocks_.clear();
    cached_bytes_ = 0;
  }
  if (block->contents.size() <= kCacheBytes && blocks_.emplace(handle.offset, block).second) {
    cached_bytes_ += block->contents.size();
  }
  return block;
}

std::optional<std::string> TableReader::Find(std::string_view key) const {
  std::optional<std::string> found;
  Scan(key, [&](std::string_view at, std::string_view value) {
    if (at == key) found = value;
    return false;
  });
  return found;
}

void TableReader::Scan(std::string_view from,
                       FunctionRef<bool(std::string_view key, std::string_view value)> fn) const {
  auto entry =
      std::lower_bound(index_.begin(), index_.end(), from,
                       [](const IndexEntry& e, std::string_view key) { return e.last_key < key; });
  std::string last;
  bool first = true;
  for (; entry != index_.end(); ++entry) {
    const std::shared_ptr<const Block> block = CachedBlock(entry->handle);
    Cursor cursor(*this, *block);
    for (bool more = first ? cursor.Seek(from) : cursor.Next(); more; more = cursor.Next()) {
      if (!last.empty() && cursor.key() <= last)
        throw Damaged(block->offset, "keys are not in order");
      if (!fn(cursor.key(), cursor.value())) return;
      last = cursor.key();
    }
    first = false;
  }
}

}  // namespace sextant
