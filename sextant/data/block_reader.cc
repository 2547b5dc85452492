#include "sextant/data/block_reader.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

void SaveLease(const BlockLease& lease, StateWriter& writer) {
  writer.PutInt("iteration", lease.iteration);
  writer.PutInt("number", lease.number);
  writer.PutBytes("block", EncodeBlock(lease.block));
}

BlockLease RestoreLease(StateReader& reader) {
  BlockLease lease;
  lease.iteration = reader.GetInt("iteration");
  lease.number = reader.GetInt("number");
  lease.block = DecodeBlock(reader.GetBytes("block"));
  return lease;
}

}  // namespace

BlockReader::BlockReader(const IterationContext& context, const std::string& source, uint64_t bytes,
                         CutFn cut, Held held)
    : leases_(context.leases),
      cancellation_(context.cancellation),
      source_{fmt::format("{}#{:x}", source, context.branch), context.iteration,
              context.more_follow || held == Held::kAllToEnd},
      bytes_(bytes),
      cut_(std::move(cut)),
      keep_(held) {}

bool BlockReader::Next() {
  if (ended_) return false;
  std::vector<BlockLease> read;
  if (keep_ == Held::kOne) read.swap(held_);
  const auto cut = [&] { return cut_(leases_->BlockBytes(bytes_)); };
  auto next =
      leases_->Next(source_, read, held_, last_ ? &*last_ : nullptr, cut, cancellation_.get());
  if (!next) {
    ended_ = true;
    if (!held_.empty()) leases_->Report(source_, held_);
    held_.clear();
    return false;
  }
  last_ = std::move(next);
  held_.push_back(*last_);
  return true;
}

void BlockReader::Save(StateWriter& writer) const {
  writer.PutInt("blocks_ended", ended_);
  writer.PutInt("blocks_held", static_cast<int64_t>(held_.size()));
  for (const BlockLease& lease : held_) SaveLease(lease, writer);
  writer.PutInt("has_last", last_.has_value());
  if (last_) SaveLease(*last_, writer);
}

void BlockReader::Restore(StateReader& reader) {
  ended_ = reader.GetInt("blocks_ended") != 0;
  held_.clear();
  for (int64_t i = reader.GetInt("blocks_held"); i > 0; --i) held_.push_back(RestoreLease(reader));
  last_.reset();
  if (reader.GetInt("has_last") != 0) last_ = RestoreLease(reader);
}

std::vector<InputBlock> BlocksOf(
    const std::vector<std::string>& files,
    const std::function<std::vector<std::pair<uint64_t, int64_t>>(const std::string& path)>&
        starts) {
  std::vector<InputBlock> blocks;
  for (size_t file = 0; file < files.size(); ++file) {
    const auto at = starts ? starts(files[file]) : std::vector<std::pair<uint64_t, int64_t>>();
    const auto number = static_cast<uint32_t>(file);
    if (at.empty()) blocks.push_back({.file = number, .path = files[file]});
    for (size_t i = 0; i < at.size(); ++i) {
      blocks.push_back({.file = number,
                        .path = files[file],
                        .begin = i == 0 ? InputBlock::kFileStart : at[i].first,
                        .end = i + 1 < at.size() ? at[i + 1].first : InputBlock::kFileEnd,
                        .line = at[i].second});
    }
  }
  return blocks;
}

uint64_t BytesOf(const std::vector<std::string>& files) {
  uint64_t bytes = 0;
  for (const std::string& path : files) bytes += FileSystem::ForPath(path).Stat(path).size;
  return bytes;
}

void CheckBlockFile(const InputBlock& block, const std::vector<std::string>& files) {
  if (block.file < files.size() && BaseName(files[block.file]) == BaseName(block.path)) return;
  throw FailedPrecondition(
      "the workers do not read the same files: file {} of the input is {} in another process and "
      "{} in this one",
      block.file, block.path, block.file < files.size() ? files[block.file] : "not there");
}

}  // namespace sextant::data
