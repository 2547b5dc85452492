// BlockLeases: input that several processes read together, in blocks of which each belongs to one
// of them at a time. Sources that can be cut ask for their next block instead of reading all their
// files; the module that knows the other processes implements this (dist/input_blocks.h decides who
// gets what), and ShareInput puts it in front of a pipeline.
//
//   Dataset mine = ShareInput(TFRecordFiles({"train-*"}).Shuffle(1000).Repeat().Batch(32),
//                             {.leases = leases, .rank = 2});
//
// A block is a part of a file: the records that begin in it. Compressed files are one block each.
// Transformations that count elements or need them side by side (Take, Skip, Zip, Enumerate, Cache,
// a Shard of the pipeline's own) and sources in memory are left alone: every process reads all of
// what is in front of them, and one line in the log says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/data/dataset.h"

namespace sextant {
class CancellationToken;
}

namespace sextant::data {

struct InputBlock {
  static constexpr uint64_t kFileStart = UINT64_MAX;  // where reading begins when a file is opened
  static constexpr uint64_t kFileEnd = UINT64_MAX;

  uint32_t file = 0;  // in the list of the source
  std::string path;   // of it
  uint64_t begin = kFileStart, end = kFileEnd;
  int64_t line = 0;  // of `begin`, where the source counts lines

  bool operator==(const InputBlock&) const = default;
};
// As bytes, for who keeps or sends them. DecodeBlock throws DATA_LOSS for others.
std::string EncodeBlock(const InputBlock& block);
InputBlock DecodeBlock(std::string_view bytes);

// An iteration over a source, as all processes know it.
struct BlockSource {
  std::string name;       // of the source and its place in the pipeline
  int64_t iteration = 0;  // IterationContext::iteration
  // Iterations of the same source follow this one, so that nobody need wait for its end.
  bool more_follow = false;
};

struct BlockLease {
  int64_t iteration = 0;  // may be an earlier one, of a process that died
  int64_t number = 0;     // in the source's list of blocks
  InputBlock block = {};
};

// Thread-safe.
class BlockLeases {
 public:
  virtual ~BlockLeases() = default;

  // How many bytes a block should have, for sources of this many.
  virtual uint64_t BlockBytes(uint64_t all) const = 0;
  // The next block for this process, none when nothing is left of the iteration. `read` are those
  // it has read to their ends since it asked last, `held` those it has begun to read and not ended.
  // `last` is the one it got before in this iteration. `cut` lists the blocks of the source, if
  // that must be known. May wait for a block of another process that may die; a wait ends when the
  // token is cancelled.
  virtual std::optional<BlockLease> Next(const BlockSource& source,
                                         std::span<const BlockLease> read,
                                         std::span<const BlockLease> held, const BlockLease* last,
                                         FunctionRef<std::vector<InputBlock>()> cut,
                                         CancellationToken* cancellation) = 0;

  // These are read, and nothing else is asked for.
  virtual void Report(const BlockSource& source, std::span<const BlockLease> read) = 0;

  // Whether other processes had blocks of an iteration that has ended here: that one without an
  // element here says nothing about the next.
  bool read_elsewhere() const { return read_elsewhere_.load(); }
  // Says once in the log what every process reads all of, and why.
  void LeaveAlone(const std::string& what);

 protected:
  void set_read_elsewhere() { read_elsewhere_.store(true); }

 private:
  std::atomic<bool> read_elsewhere_ = false;
  std::mutex mutex_;
  std::set<std::string> left_alone_;
};

// Blocks assigned by number, without communication: those at the places rank,
// rank + count, … of an order that all compute from the seed and the iteration. What a process that
// dies has not read is not read by others.
std::shared_ptr<BlockLeases> FixedBlocks(int rank, int count, uint64_t seed);

struct SharedInputOptions {
  std::shared_ptr<BlockLeases> leases = {};  // none: every process reads all
  int rank = 0;  // mixed into the seeds of Shuffle and Map; 0 is as without
};
// The part of a pipeline that this process reads. It has the fingerprint of the whole one.
Dataset ShareInput(const Dataset& dataset, const SharedInputOptions& options);

}  // namespace sextant::data
