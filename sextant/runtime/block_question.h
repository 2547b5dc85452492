// What a task of a cluster asks about blocks of the training data, and what it is answered
// (dist/input_blocks.h decides; data/block_leases.h reads).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API BlockId {
  int64_t iteration = 0;
  int64_t number = 0;  // in the source's list
  auto operator<=>(const BlockId&) const = default;
};

struct SEXTANT_API BlockQuestion {
  std::string source;  // its name, which holds its place in the pipeline
  int64_t iteration = 0;
  bool more_follow = false;        // there is another iteration behind this one
  bool report_only = false;        // asks for nothing
  std::vector<BlockId> read = {};  // to their ends, since the last question
  std::vector<BlockId> held = {};  // begun and not ended
};

struct SEXTANT_API BlockAnswer {
  enum class Kind {  // what the task does next
    kBlock,          // read this one
    kWait,           // ask again
    kEnd,            // nothing is left of the iteration
    kDescribe,       // cut the source, describe it, ask again
  };
  Kind kind = Kind::kEnd;
  BlockId id = {};
  std::string block = {};       // as it was described
  bool read_elsewhere = false;  // of kEnd: others had blocks of it
};

// What a checkpoint of a cluster keeps beside variables.
struct SEXTANT_API ClusterRunState {
  std::string input = {};                 // which blocks are read
  std::map<int, std::string> ranks = {};  // the run state of each task that trains, by rank
};

}  // namespace sextant

#pragma GCC visibility pop
