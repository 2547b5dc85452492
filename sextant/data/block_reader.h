// BlockReader: the leased blocks of one iteration over a source, one after another, and the cuts
// that make blocks of files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/data/block_leases.h"
#include "sextant/data/node_iterator.h"

namespace sextant::data {

class BlockReader {
 public:
  using CutFn = std::function<std::vector<InputBlock>(uint64_t block_bytes)>;
  enum class Held {
    kOne,       // a block is read when the next one is asked for
    kAllToEnd,  // blocks count as read at the end of the iteration (they are only names of files)
  };
  // `bytes` are those of the whole source. REQUIRES: context.leases.
  BlockReader(const IterationContext& context, const std::string& source, uint64_t bytes, CutFn cut,
              Held held = Held::kOne);

  // Goes to the next block, from where there is none or one that is read to its end. False at the
  // end.
  bool Next();
  // REQUIRES: the last Next was true.
  const InputBlock& block() const { return last_->block; }

  void Save(StateWriter& writer) const;
  void Restore(StateReader& reader);

 private:
  const std::shared_ptr<BlockLeases> leases_;
  const std::shared_ptr<CancellationToken> cancellation_;
  const BlockSource source_;
  const uint64_t bytes_;
  const CutFn cut_;
  const Held keep_;
  std::optional<BlockLease> last_;  // got in this iteration
  std::vector<BlockLease> held_;
  bool ended_ = false;
};

// The blocks of files that each begin at one of the offsets `starts` gives for them: those of
// records, in ascending order, the first where reading begins. None: the file is one block.
std::vector<InputBlock> BlocksOf(
    const std::vector<std::string>& files,
    const std::function<std::vector<std::pair<uint64_t, int64_t>>(const std::string& path)>&
        starts);

// The bytes of all files.
uint64_t BytesOf(const std::vector<std::string>& files);

// The file of a block in this process's list. Throws FAILED_PRECONDITION when another process has
// other files.
void CheckBlockFile(const InputBlock& block, const std::vector<std::string>& files);

}  // namespace sextant::data
