// GraphAhead: a graph that is too large for the request that it belongs to. It is sent ahead of it,
// in parts, where large frames go too, so that other messages get through between them.
//
//   GraphAhead graph(peer, graph_def);
//   if (!graph.large()) request.set_graph_def(graph_def);
//   for each attempt:
//     request.set_parts(graph.Send(cancellation));
//     peer.FillStamp(graph.sequence(), 0, request.mutable_stamp());
//
// The server takes the parts with the request, so every attempt sends them, under a number of its
// own. What was sent for an earlier one is forgotten there with the next request of the sender, or
// after a while (PartStore::ForgetStalled).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/base/cancellation.h"
#include "sextant/dist/part_store.h"
#include "sextant/dist/peer.h"

namespace sextant::dist {

class GraphAhead {
 public:
  // Both must outlive it.
  GraphAhead(Peer& peer, std::string_view graph_def) : peer_(peer), graph_def_(graph_def) {}
  ~GraphAhead() { End(); }
  GraphAhead(const GraphAhead&) = delete;
  GraphAhead& operator=(const GraphAhead&) = delete;

  bool large() const;
  // How many parts it has sent; 0: the graph goes in the request. Throws as Peer::Ask does.
  uint32_t Send(CancellationToken& cancellation);
  // Of the request that the parts belong to; 0: there are none.
  uint64_t sequence() const { return sequence_; }
  // What the server may need for a large graph, beside the time of other requests.
  std::chrono::seconds ReadingTime() const;

 private:
  void End();

  Peer& peer_;
  const std::string_view graph_def_;
  uint64_t sequence_ = 0;
};

// The server's end: the graph of a request that has parts. Throws as PartStore::TakeBytes.
template <typename Request>
std::string TakeGraph(PartStore& store, const Request& request) {
  store.Forget(ProgressOf(request.stamp()));
  return store.TakeBytes({request.stamp().sender(), request.stamp().sequence()}, request.parts());
}

}  // namespace sextant::dist
