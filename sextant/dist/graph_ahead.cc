#include "sextant/dist/graph_ahead.h"

#include "sextant/net/channel.h"

namespace sextant::dist {
namespace {

constexpr size_t kReadBytesPerSecond = size_t{16} << 20;

}  // namespace

bool GraphAhead::large() const { return graph_def_.size() > net::kPartBytes; }

uint32_t GraphAhead::Send(CancellationToken& cancellation) {
  End();
  if (!large()) return 0;
  sequence_ = peer_.BeginCall();
  return peer_.SendBytes(sequence_, graph_def_, cancellation);
}

std::chrono::seconds GraphAhead::ReadingTime() const {
  return std::chrono::seconds(graph_def_.size() / kReadBytesPerSecond);
}

void GraphAhead::End() {
  if (sequence_ != 0) peer_.EndCall(sequence_);
  sequence_ = 0;
}

}  // namespace sextant::dist
