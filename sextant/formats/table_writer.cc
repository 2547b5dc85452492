// A sorted string table is written in one pass, in memory of one block and the index.
//
//   data block | … | data block | metaindex block (empty) | index block | footer
//
// Entries are collected in a block; when it has about 256 KB it is written and its position (offset
// and size) goes to the index. A reader looks up a key k by taking the first index entry whose key
// is >= k: so an index key must be >= all keys of its block and < all keys of the next one, but it
// need not occur in the table. The shortest one will do: between "layer_1/weights" and
// "layer_3/bias" that is "layer_2". It can only be chosen when the first key of the *next* block is
// known. That is why a flushed block is held in pending_ until the next Add, or Finish, enters it.
//
//   Add("layer_1/weights"), block full  →  written, pending_ = its position
//   Add("layer_3/bias")                 →  index gets "layer_2" → position, pending_ is empty
//
// Invariant: pending_ is set if and only if data_ is empty and a block was written whose index
// entry is missing.
//
// Inside a block a key is stored as the count of bytes that it shares with the one before, and the
// rest. Every 16th is stored whole, a restart, so that a reader can search by bisection; the
// restarts' offsets end the block. Index keys are all restarts.
//
// The format is that of LevelDB's tables; the design is from Chang et al., "Bigtable: A Distributed
// Storage System for Structured Data", OSDI 2006.
#include <algorithm>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/formats/table.h"

namespace sextant {
namespace {

constexpr size_t kBlockSize = 262144;

size_t CommonPrefix(std::string_view a, std::string_view b) {
  return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
         a.begin();
}

// A short key k with last <= k < next.
std::string Separator(std::string_view last, std::string_view next) {
  const size_t common = CommonPrefix(last, next);
  if (common < last.size() && common < next.size()) {
    const auto byte = static_cast<unsigned char>(last[common]);
    if (byte < 0xFF && byte + 1 < static_cast<unsigned char>(next[common])) {
      std::string key(last.substr(0, common + 1));
      key.back() = static_cast<char>(byte + 1);
      return key;
    }
  }
  return std::string(last);
}

// A short key k >= last.
std::string Successor(std::string_view last) {
  const size_t i = last.find_first_not_of('\xFF');
  if (i == std::string_view::npos) return std::string(last);
  std::string key(last.substr(0, i + 1));
  key.back() = static_cast<char>(static_cast<unsigned char>(key.back()) + 1);
  return key;
}

}  // namespace

void TableBlockBuilder::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ < restart_interval_) {
    shared = CommonPrefix(last_key_, key);
  } else {
    restarts_.push_back(static_cast<uint32_t>(contents_.size()));
    since_restart_ = 0;
  }
  PutVarint32(&contents_, static_cast<uint32_t>(shared));
  PutVarint32(&contents_, static_cast<uint32_t>(key.size() - shared));
  PutVarint32(&contents_, static_cast<uint32_t>(value.size()));
  contents_.append(key.substr(shared));
  contents_.append(value);
  last_key_ = key;
  ++since_restart_;
}

std::string TableBlockBuilder::Finish() {
  std::string block = std::move(contents_);
  for (const uint32_t restart : restarts_) PutFixed32(&block, restart);
  PutFixed32(&block, static_cast<uint32_t>(restarts_.size()));
  contents_.clear();
  last_key_.clear();
  restarts_ = {0};
  since_restart_ = 0;
  return block;
}

void TableWriter::Add(std::string_view key, std::string_view value) {
  if (any_ && key <= last_key_) {
    throw InvalidArgument("keys of a table must increase: '{}' follows '{}'", key, last_key_);
  }
  if (value.size() > UINT32_MAX / 2 || key.size() > UINT32_MAX / 2) {
    throw InvalidArgument("the entry '{}' is too large for a table", key.substr(0, 100));
  }
  // An entry much larger than a block gets one of its own.
  if (any_ && key.size() + value.size() >= 2 * kBlockSize) FlushBlock();
  if (pending_) EnterPending(Separator(last_key_, key));
  data_.Add(key, value);
  last_key_ = key;
  any_ = true;
  if (data_.size() >= kBlockSize) FlushBlock();
}

void TableWriter::Finish() {
  FlushBlock();
  const Handle meta = WriteBlock(TableBlockBuilder(16).Finish());
  if (pending_) EnterPending(Successor(last_key_));
  const Handle index = WriteBlock(index_.Finish());
  std::string footer = Encode(meta) + Encode(index);
  footer.resize(table_format::kFooterSize - 8);
  PutFixed64(&footer, table_format::kMagic);
  file_.Append(footer);
}

std::string TableWriter::Encode(const Handle& handle) {
  std::string text;
  PutVarint64(&text, handle.offset);
  PutVarint64(&text, handle.size);
  return text;
}

TableWriter::Handle TableWriter::WriteBlock(std::string contents) {
  const Handle handle{offset_, contents.size()};
  contents.push_back(table_format::kPlain);
  PutFixed32(&contents, MaskedCrc32c(contents));
  file_.Append(contents);
  offset_ += contents.size();
  return handle;
}

void TableWriter::FlushBlock() {
  if (!data_.empty()) pending_ = WriteBlock(data_.Finish());
}

void TableWriter::EnterPending(std::string_view key) {
  index_.Add(key, Encode(*pending_));
  pending_.reset();
}

}  // namespace sextant
