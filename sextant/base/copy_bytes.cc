#include "sextant/base/copy_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sextant/base/thread_team.h"

namespace sextant {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kPagesPerThread = 64;  // takes longer than to wake a thread

// Of the pieces joined, the bytes from "begin" to "end".
void CopyRange(char* to, std::span<const std::string_view> pieces, size_t begin, size_t end) {
  size_t place = 0;  // of the piece
  for (const std::string_view piece : pieces) {
    if (place >= end) return;
    const size_t first = std::max(begin, place), last = std::min(end, place + piece.size());
    if (first < last) std::memcpy(to + first, piece.data() + (first - place), last - first);
    place += piece.size();
  }
}

}  // namespace

void CopyPieces(void* to, std::span<const std::string_view> pieces) {
  size_t total = 0;
  for (const std::string_view piece : pieces) total += piece.size();
  auto* const out = static_cast<char*>(to);
  const int64_t pages = (static_cast<int64_t>(total) + kPageBytes - 1) / kPageBytes;
  if (pages < 2 * kPagesPerThread) return CopyRange(out, pieces, 0, total);
  ThreadTeam::Process().ParallelFor(pages, kPagesPerThread, [&](int64_t begin, int64_t end) {
    CopyRange(out, pieces, static_cast<size_t>(begin * kPageBytes),
              std::min(total, static_cast<size_t>(end * kPageBytes)));
  });
}

void CopyBytes(void* to, const void* from, size_t bytes) {
  const std::string_view piece(static_cast<const char*>(from), bytes);
  CopyPieces(to, {&piece, 1});
}

}  // namespace sextant
