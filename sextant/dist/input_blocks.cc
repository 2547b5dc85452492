#include "sextant/dist/input_blocks.h"

#include <algorithm>
#include <numeric>

#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/base/fingerprint.h"
#include "sextant/base/philox.h"

namespace sextant::dist {
namespace {

constexpr std::string_view kBlocksMagic = "SXBLOCK1";

void PutNumber(std::string* bytes, int64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes->push_back(static_cast<char>(static_cast<uint64_t>(value) >> shift));
  }
}
void PutText(std::string* bytes, std::string_view text) {
  PutNumber(bytes, static_cast<int64_t>(text.size()));
  *bytes += text;
}

uint64_t SeedOfName(uint64_t seed, std::string_view name) {
  for (const char c : name) seed = FingerprintCat64(seed, static_cast<unsigned char>(c));
  return seed;
}

// Takes values off the front of bytes that PutText and PutNumber wrote.
class BlocksReader {
 public:
  explicit BlocksReader(std::string_view bytes) : bytes_(bytes) {}
  int64_t Number() {
    if (bytes_.size() < 8) Throw();
    const uint64_t value = DecodeFixed64(bytes_.data());
    bytes_.remove_prefix(8);
    return static_cast<int64_t>(value);
  }
  // Of values that take at least eight bytes each.
  int64_t Count() {
    const int64_t count = Number();
    if (count < 0 || static_cast<uint64_t>(count) > bytes_.size() / 8) Throw();
    return count;
  }
  std::string Text() {
    const auto size = static_cast<uint64_t>(Number());
    if (size > bytes_.size()) Throw();
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  bool AtEnd() const { return bytes_.empty(); }
  [[noreturn]] static void Throw() {
    throw DataLoss("the checkpoint's state of the input blocks is damaged");
  }

 private:
  std::string_view bytes_;
};

}  // namespace

bool InputBlocks::Source::IsComplete(int64_t iteration) const {
  return (iteration >= 0 && iteration < complete_below) || complete.contains(iteration);
}

void InputBlocks::Source::SetComplete(int64_t iteration) {
  iterations.erase(iteration);
  complete.insert(iteration);
  while (complete.erase(complete_below) > 0) ++complete_below;
}

void InputBlocks::Describe(const std::string& source, std::vector<std::string> blocks) {
  const auto [it, added] = sources_.try_emplace(source);
  if (added) it->second.blocks = std::move(blocks);
}

InputBlocks::Iteration& InputBlocks::Begin(const std::string& name, Source& source,
                                           int64_t number) const {
  const auto [it, added] = source.iterations.try_emplace(number);
  Iteration& iteration = it->second;
  if (!added) return iteration;
  iteration.order.resize(source.blocks.size());
  std::iota(iteration.order.begin(), iteration.order.end(), 0);
  const uint64_t seed =
      FingerprintCat64(SeedOfName(options_.seed, name), static_cast<uint64_t>(number));
  for (size_t i = iteration.order.size(); i > 1; --i) {
    const Philox::Block random = Philox::At(seed, {i, 0});
    const uint64_t bits = uint64_t{random[0]} << 32 | random[1];
    std::swap(iteration.order[i - 1], iteration.order[bits % i]);
  }
  return iteration;
}

// The worker reads this block, or has read it. Another one that has it now keeps it.
void InputBlocks::Believe(int rank, const std::string& name, Source& source, const BlockId& id,
                          bool read) {
  if (id.number < 0 || static_cast<size_t>(id.number) >= source.blocks.size()) return;
  if (source.IsComplete(id.iteration)) return;
  Iteration& iteration = Begin(name, source, id.iteration);
  const auto rest = iteration.order.begin() + static_cast<int64_t>(iteration.next);
  if (const auto at = std::find(rest, iteration.order.end(), id.number);
      at != iteration.order.end()) {
    std::swap(*at, *rest);  // given out by a coordinator that this one knows nothing of
    ++iteration.next;
    iteration.open[id.number] = rank;
  } else if (iteration.returned.erase(id.number) > 0) {
    iteration.open[id.number] = rank;
  }
  if (!read) return;
  const auto open = iteration.open.find(id.number);
  if (open == iteration.open.end() || open->second != rank) return;
  iteration.open.erase(open);
  ++read_[rank];
  if (iteration.complete()) source.SetComplete(id.iteration);
}

BlockAnswer InputBlocks::Give(const Source& source, const BlockId& id) {
  return {BlockAnswer::Kind::kBlock, id, source.blocks[static_cast<size_t>(id.number)]};
}

// What the worker holds here and no longer knows of, because the answer was lost or it was started
// anew.
bool InputBlocks::GiveForgotten(int rank, const Source& source, const BlockQuestion& question,
                                BlockAnswer* answer) const {
  for (const auto& [number, iteration] : source.iterations) {
    for (const auto& [block, holder] : iteration.open) {
      const BlockId id{number, block};
      if (holder != rank || std::ranges::find(question.held, id) != question.held.end()) continue;
      *answer = Give(source, id);
      return true;
    }
  }
  return false;
}

bool InputBlocks::GiveReturned(int rank, Source& source, int64_t number,
                               BlockAnswer* answer) const {
  const auto it = source.iterations.find(number);
  if (it == source.iterations.end() || it->second.returned.empty()) return false;
  Iteration& iteration = it->second;
  const int64_t block = *iteration.returned.begin();
  iteration.returned.erase(iteration.returned.begin());
  iteration.open[block] = rank;
  *answer = Give(source, {number, block});
  return true;
}

BlockAnswer InputBlocks::Next(int rank, const BlockQuestion& question) {
  const auto found = sources_.find(question.source);
  if (found == sources_.end()) return {.kind = BlockAnswer::Kind::kDescribe};
  Source& source = found->second;
  for (const BlockId& id : question.read) Believe(rank, found->first, source, id, /*read=*/true);
  for (const BlockId& id : question.held) Believe(rank, found->first, source, id, /*read=*/false);
  BlockAnswer answer;
  if (question.report_only) return answer;
  if (GiveForgotten(rank, source, question, &answer)) return answer;
  if (question.more_follow) {
    // Of earlier iterations too, which nobody asks for any more.
    for (const auto& [number, iteration] : source.iterations) {
      if (GiveReturned(rank, source, number, &answer)) return answer;
    }
  }
  answer.read_elsewhere = !source.blocks.empty();
  if (source.IsComplete(question.iteration) || source.blocks.empty()) return answer;
  if (GiveReturned(rank, source, question.iteration, &answer)) return answer;
  Iteration& iteration = Begin(found->first, source, question.iteration);
  if (iteration.next < iteration.order.size()) {
    const int64_t block = iteration.order[iteration.next++];
    iteration.open[block] = rank;
    return Give(source, {question.iteration, block});
  }
  const bool others_read =
      std::ranges::any_of(iteration.open, [&](const auto& open) { return open.second != rank; });
  if (others_read && !question.more_follow && options_.wait_for_others) {
    answer.kind = BlockAnswer::Kind::kWait;
  }
  return answer;
}

void InputBlocks::Return(int rank) {
  for (auto& [name, source] : sources_) {
    for (auto& [number, iteration] : source.iterations) {
      for (auto it = iteration.open.begin(); it != iteration.open.end();) {
        if (it->second != rank) {
          ++it;
          continue;
        }
        iteration.returned.insert(it->first);
        it = iteration.open.erase(it);
      }
    }
  }
}

int64_t InputBlocks::blocks_read(int rank) const {
  const auto it = read_.find(rank);
  return it == read_.end() ? 0 : it->second;
}

std::set<int> InputBlocks::holders() const {
  std::set<int> ranks;
  for (const auto& [name, source] : sources_) {
    for (const auto& [number, iteration] : source.iterations) {
      for (const auto& [block, rank] : iteration.open) ranks.insert(rank);
    }
  }
  return ranks;
}

std::string InputBlocks::Save() const {
  std::string bytes(kBlocksMagic);
  PutNumber(&bytes, static_cast<int64_t>(sources_.size()));
  for (const auto& [name, source] : sources_) {
    PutText(&bytes, name);
    PutNumber(&bytes, static_cast<int64_t>(source.blocks.size()));
    for (const std::string& block : source.blocks) PutText(&bytes, block);
    PutNumber(&bytes, source.complete_below);
    PutNumber(&bytes, static_cast<int64_t>(source.complete.size()));
    for (const int64_t number : source.complete) PutNumber(&bytes, number);
    PutNumber(&bytes, static_cast<int64_t>(source.iterations.size()));
    for (const auto& [number, iteration] : source.iterations) {
      PutNumber(&bytes, number);
      PutNumber(&bytes, static_cast<int64_t>(iteration.next));
      for (const int64_t block : iteration.order) PutNumber(&bytes, block);
      PutNumber(&bytes, static_cast<int64_t>(iteration.open.size()));
      for (const auto& [block, rank] : iteration.open) {
        PutNumber(&bytes, block);
        PutNumber(&bytes, rank);
      }
      PutNumber(&bytes, static_cast<int64_t>(iteration.returned.size()));
      for (const int64_t block : iteration.returned) PutNumber(&bytes, block);
    }
  }
  return bytes;
}

void InputBlocks::Restore(std::string_view bytes) {
  if (!bytes.starts_with(kBlocksMagic)) BlocksReader::Throw();
  BlocksReader reader(bytes.substr(kBlocksMagic.size()));
  std::map<std::string, Source> sources;
  for (int64_t s = reader.Count(); s > 0; --s) {
    Source& source = sources[reader.Text()];
    for (int64_t i = reader.Count(); i > 0; --i) source.blocks.push_back(reader.Text());
    const auto blocks = static_cast<int64_t>(source.blocks.size());
    const auto block = [&] {
      const int64_t number = reader.Number();
      if (number < 0 || number >= blocks) BlocksReader::Throw();
      return number;
    };
    source.complete_below = reader.Number();
    for (int64_t i = reader.Count(); i > 0; --i) source.complete.insert(reader.Number());
    for (int64_t n = reader.Count(); n > 0; --n) {
      Iteration& iteration = source.iterations[reader.Number()];
      const int64_t next = reader.Number();
      if (next < 0 || next > blocks) BlocksReader::Throw();
      iteration.next = static_cast<size_t>(next);
      for (int64_t i = 0; i < blocks; ++i) iteration.order.push_back(block());
      for (int64_t i = reader.Count(); i > 0; --i) {
        const int64_t number = block();
        iteration.open[number] = static_cast<int>(reader.Number());
      }
      for (int64_t i = reader.Count(); i > 0; --i) iteration.returned.insert(block());
    }
  }
  if (!reader.AtEnd()) BlocksReader::Throw();
  sources_ = std::move(sources);
}

}  // namespace sextant::dist
