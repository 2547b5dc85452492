// InputBlocks: which worker of a cluster reads which block of the training data. The state machine
// alone: no threads, no RPCs, no clock; whose lease has ended is told by Return.
//
//   InputBlocks blocks({.seed = 7});
//   blocks.Next(0, {.source = "a"}).kind;            // kDescribe: nobody has cut the source yet
//   blocks.Describe("a", {"block 0", "block 1"});
//   blocks.Next(0, {.source = "a"}).id.number;       // 1: the order is shuffled
//   blocks.Next(1, {.source = "a"}).id.number;       // 0
//   blocks.Next(0, {.source = "a", .read = {{0, 1}}}).kind;  // kWait: worker 1 may still die
//   blocks.Return(1);
//   blocks.Next(0, {.source = "a"}).id.number;       // 0
//
// Invariants. Each block of an iteration is given to one worker at a time. A block that was read is
// never given out again in its iteration; one whose worker is gone is, and is then read twice by
// the workers together at most as far as that worker had come. Workers are not kept in step: one
// may be iterations ahead. What a worker says it reads or has read is believed where the state,
// restored from an older checkpoint, knows nothing of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/runtime/block_question.h"

namespace sextant::dist {

struct InputBlocksOptions {
  uint64_t seed = 0;  // of the order of blocks
  // At the end of the last iteration a worker waits until the blocks of others are read, because
  // they may come back. Not in synchronous training, where the others may wait for this one.
  bool wait_for_others = true;
};

class InputBlocks {
 public:
  explicit InputBlocks(const InputBlocksOptions& options) : options_(options) {}
  void set_wait_for_others(bool wait) { options_.wait_for_others = wait; }

  // The blocks of a source, which the workers understand. The first description counts.
  void Describe(const std::string& source, std::vector<std::string> blocks);
  BlockAnswer Next(int rank, const BlockQuestion& question);
  // The worker is gone: what it reads goes back.
  void Return(int rank);

  // Of workers, for status.
  int64_t blocks_read(int rank) const;
  // Workers that hold blocks.
  std::set<int> holders() const;

  // For checkpoints. Restore throws DATA_LOSS for other bytes.
  std::string Save() const;
  void Restore(std::string_view bytes);

 private:
  // Blocks order[0, next) have been given out: those neither open nor returned are read.
  struct Iteration {
    std::vector<int64_t> order;
    size_t next = 0;
    std::map<int64_t, int> open;  // by number: the rank that reads it
    std::set<int64_t> returned;

    bool complete() const { return next == order.size() && open.empty() && returned.empty(); }
  };
  struct Source {
    std::vector<std::string> blocks;
    std::map<int64_t, Iteration> iterations;  // begun and not complete
    std::set<int64_t> complete;               // and those below `complete_below`
    int64_t complete_below = 0;

    bool IsComplete(int64_t iteration) const;
    void SetComplete(int64_t iteration);
  };

  Iteration& Begin(const std::string& name, Source& source, int64_t number) const;
  void Believe(int rank, const std::string& name, Source& source, const BlockId& id, bool read);
  static BlockAnswer Give(const Source& source, const BlockId& id);
  bool GiveReturned(int rank, Source& source, int64_t iteration, BlockAnswer* answer) const;
  bool GiveForgotten(int rank, const Source& source, const BlockQuestion& question,
                     BlockAnswer* answer) const;

  InputBlocksOptions options_;
  std::map<std::string, Source> sources_;
  std::map<int, int64_t> read_;  // blocks, by rank
};

}  // namespace sextant::dist
